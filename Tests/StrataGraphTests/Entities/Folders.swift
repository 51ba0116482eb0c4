import StrataGraph
import StrataModel

/// Entities without classes with every kind of relationship and delete rule, and a plain way to write their state down.
enum Folders {
    static func model() throws -> ManagedObjectModel {
        func many(_ name: String, _ to: String, _ inverse: String, _ rule: DeleteRule = .nullify) -> PropertyDescription
        {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: to, inverseName: inverse, isToMany: true, deleteRule: rule))
        }
        func one(_ name: String, _ to: String, _ inverse: String?, _ rule: DeleteRule = .nullify) -> PropertyDescription
        {
            .relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: to, inverseName: inverse, hasNoInverse: inverse == nil,
                    deleteRule: rule))
        }
        let name = PropertyDescription.attribute(AttributeDescription(name: "name", type: .string))
        let crate = RelationshipDescription(
            name: "folders", destinationEntityName: "Folder", inverseName: "crate", isToMany: true, isOptional: false,
            minCount: 1)
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Folder",
                properties: [
                    name, one("parent", "Folder", "children"), many("children", "Folder", "parent", .cascade),
                    one("next", "Folder", "previous"), one("previous", "Folder", "next"),
                    one("origin", "Folder", nil), many("tags", "Tag", "folders"),
                    many("keys", "Key", "folders", .cascade), many("locks", "Lock", "folder", .deny),
                    one("cover", "Cover", "folder", .cascade), one("crate", "Crate", "folders"),
                ]),
            EntityDescription(name: "Tag", properties: [name, many("folders", "Folder", "tags")]),
            EntityDescription(name: "Key", properties: [name, many("folders", "Folder", "keys")]),
            EntityDescription(name: "Lock", properties: [name, one("folder", "Folder", "locks")]),
            EntityDescription(name: "Cover", properties: [name, one("folder", "Folder", "cover")]),
            EntityDescription(name: "Crate", properties: [name, .relationship(crate)]),
        ])
    }

    static let entityNames = ["Folder", "Tag", "Key", "Lock", "Cover", "Crate"]

    static func container() throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Folders", model: try model(), at: .inMemory, options: .init(durability: .disposable))
        try container.loadPersistentStores()
        MadeStores.current?.add(container)
        return container
    }

    static func all(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest<ManagedObject>(entityName: entity, sortedBy: [SortDescription("name")]))
    }

    /// Every object that the context sees with its links, by name.
    static func state(_ context: ManagedObjectContext) throws -> [String] {
        try entityNames.flatMap { name in
            try all(name, context).map { object in
                let links = object.entity.properties.filter { $0.name != "name" }.map(\.name).sorted()
                let values = try links.map { "\($0): \(try linked(object, $0).joined(separator: " "))" }
                return "\(try self.name(object)) \(values)"
            }
        }
    }

    static func name(_ object: ManagedObject) throws -> String { try object.value(forKey: "name") as? String ?? "-" }

    private static func linked(_ object: ManagedObject, _ key: String) throws -> [String] {
        switch try object.value(forKey: key) {
        case let one as ManagedObject: [try name(one)]
        case let many as [ManagedObject]: try many.map(name).sorted()
        default: []
        }
    }
}
