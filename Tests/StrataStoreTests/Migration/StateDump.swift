import Foundation
import StrataModel
import StrataStore
import Testing

/// Everything a store shows at one sequence through one model, by name.
struct StateDump: Equatable {
    enum Held: Equatable {
        case value(AttributeValue)
        case members([ObjectID])
    }

    var objects: [ObjectID: [String: Held]] = [:]

    init() {}

    init(_ store: Store, at eventNumber: EventNumber, through schema: Schema? = nil) throws {
        let objects = try store.read(at: eventNumber, through: schema) { snapshot in
            var objects: [ObjectID: [String: Held]] = [:]
            for entity in snapshot.schema.entities where !entity.isAbstract {
                var count = 0
                try snapshot.scan(entity.id) { id, row in
                    count += 1
                    objects[id] = try Self.held(id, row, entity, snapshot)
                    return true
                }
                try #expect(snapshot.count(of: entity.id) == count)
                for index in entity.indexes where index.partialPredicate == nil && index.entityID == entity.id {
                    var entries = 0
                    try snapshot.scan(index, lower: [], upper: nil) { id, _ in
                        if id.entityID == entity.id { entries += 1 }
                        return true
                    }
                    #expect(entries == count, "\(index.name) has \(entries) entries for \(count) objects")
                }
            }
            return objects
        }
        self.objects = objects
    }

    private static func held(
        _ id: ObjectID, _ row: SnapshotRow, _ entity: EntitySchema, _ snapshot: Snapshot
    ) throws -> [String: Held] {
        var held: [String: Held] = [:]
        let image = try row.converted(to: entity)
        try image.withReader(entity.layout) { reader throws(CorruptRecord) in
            for property in entity.properties where property.storage != nil {
                if case .position = property.kind { continue }
                held[property.name] = .value(try reader.value(property.slot))
            }
        }
        for property in entity.properties where property.relationship?.isToMany ?? false {
            let members = try snapshot.members(of: property.id, owner: id)
            try #expect(snapshot.memberCount(of: property.id, owner: id) == members.count)
            held[property.name] = .members(members)
        }
        return held
    }

    subscript(_ id: ObjectID, _ name: String) -> Held? { objects[id]?[name] }
}

/// A store on disk that is opened with one model after another.
struct MigratedStore {
    let location: StoreLocation
    let url: URL

    init(
        _ url: URL = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID().uuidString)")
    ) {
        self.url = url
        location = .directory(url)
    }

    func remove() { try? FileManager.default.removeItem(at: url) }

    /// Opens, runs `body`, verifies and closes.
    @discardableResult
    func open<R>(
        _ model: ManagedObjectModel?, _ options: StoreOptions = MigratedStore.options(),
        _ body: (StoreFixture) throws -> R
    ) throws -> R {
        let fixture = try StoreFixture(location, model: model, options: options)
        defer { fixture.store.close() }
        let result = try body(fixture)
        let report = try fixture.store.verify()
        #expect(report.isSound, "\(report.problems.map(\.description))")
        return result
    }

    /// Opens with whatever model the store has.
    @discardableResult
    func open<R>(_ body: (Store) throws -> R) throws -> R {
        let store = try Store.open(location, model: nil)
        defer { store.close() }
        return try body(store)
    }

    /// Options under which a store also goes back to models that it has left behind.
    static func options(
        values: [MigrationRule] = [], oneCommit: Int = 200_000, step: Int = 20_000
    ) -> StoreOptions {
        var options = StoreOptions()
        options.migration.allowsDowngrade = true
        options.migration.values = values
        options.migration.limits.objectsInOneCommit = oneCommit
        options.migration.limits.objectsInStep = step
        return options
    }
}

/// Short ways to describe models.
enum Describe {
    static func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities)
    }

    static func attribute(
        _ name: String, _ type: AttributeType = .string, optional: Bool = false, default value: AttributeValue? = nil,
        rules: [ValidationRule] = [], from: String? = nil
    ) -> PropertyDescription {
        .attribute(
            AttributeDescription(
                name: name, type: type, isOptional: optional, defaultValue: value, validationRules: rules,
                renamingIdentifier: from))
    }

    static func toOne(
        _ name: String, _ destination: String, inverse: String? = nil, optional: Bool = true
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: destination, inverseName: inverse, hasNoInverse: inverse == nil,
                isOptional: optional))
    }

    static func toMany(
        _ name: String, _ destination: String, inverse: String? = nil, ordered: Bool = false
    ) -> PropertyDescription {
        .relationship(
            RelationshipDescription(
                name: name, destinationEntityName: destination, inverseName: inverse, hasNoInverse: inverse == nil,
                isToMany: true, isOrdered: ordered))
    }
}
