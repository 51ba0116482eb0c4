import Foundation
import StrataGraph
import StrataModel

/// Short ways to models without classes.
enum Porting {
    static func container(
        _ entities: [EntityDescription], at location: PersistentStoreLocation = .inMemory
    ) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Porting", model: try ManagedObjectModel(entities: entities), at: location,
            options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container
    }

    static func attribute(
        _ name: String, _ type: AttributeType, isOptional: Bool = true, default initial: AttributeValue? = nil,
        _ rules: ValidationRule...
    ) -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: type, isOptional: isOptional, defaultValue: initial, validationRules: rules))
    }

    static func many(
        _ name: String, _ destination: String, _ inverse: String?, isOrdered: Bool = false,
        _ rule: DeleteRule = .nullify
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: destination, inverseName: inverse, hasNoInverse: inverse == nil,
                isToMany: true, isOrdered: isOrdered, deleteRule: rule))
    }

    static func one(
        _ name: String, _ destination: String, _ inverse: String?, _ rule: DeleteRule = .nullify
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: destination, inverseName: inverse, hasNoInverse: inverse == nil,
                deleteRule: rule))
    }

    static func index(_ name: String, _ paths: String...) -> FetchIndexDescription {
        FetchIndexDescription(name: name, elements: paths.map { FetchIndexElement($0) })
    }
}

extension ManagedObjectContext {
    func find(
        _ entity: String, _ format: String? = nil, _ arguments: [(any FetchArgument)?] = [],
        sortedBy order: [SortDescription] = [], limit: Int = 0, offset: Int = 0
    ) throws -> [ManagedObject] {
        let predicate = try format.map { format in try FetchPredicate(format: format, argumentArray: arguments) }
        return try fetch(
            FetchRequest<ManagedObject>(
                entityName: entity, where: predicate, sortedBy: order, limit: limit, offset: offset))
    }
}

extension ManagedObject {
    func text(_ key: String = "name") throws -> String? { try value(forKey: key) as? String }

    func texts(_ relationship: String, _ key: String = "name") throws -> [String] {
        try (value(forKey: relationship) as? [ManagedObject] ?? []).map { try $0.text(key) ?? "-" }
    }
}
