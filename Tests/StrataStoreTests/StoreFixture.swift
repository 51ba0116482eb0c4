import Foundation
import StrataModel
import StrataStore

/// Movies and their owners: an indexed string, a rating, a to-one with a to-many inverse, tags many-to-many.
enum MovieModel {
    static func make(extraAttributes: [PropertyDescription] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Movie",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string)),
                    .attribute(AttributeDescription(name: "year", type: .integer32, isOptional: true)),
                    .attribute(
                        AttributeDescription(name: "rating", type: .double, defaultValue: .double(0))),
                    .relationship(
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Owner", inverseName: "movies")),
                    .relationship(
                        RelationshipDescription(
                            name: "tags", destinationEntityName: "Tag", inverseName: "movies", isToMany: true)),
                ] + extraAttributes,
                indexes: [
                    FetchIndexDescription(name: "byTitle", elements: [FetchIndexElement("title")]),
                    FetchIndexDescription(name: "byRating", elements: [FetchIndexElement("rating")]),
                ]),
            EntityDescription(
                name: "Owner",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "movies", destinationEntityName: "Movie", inverseName: "owner", isToMany: true,
                            deleteRule: .cascade)),
                ],
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Tag",
                properties: [
                    .attribute(AttributeDescription(name: "label", type: .string)),
                    .relationship(
                        RelationshipDescription(
                            name: "movies", destinationEntityName: "Movie", inverseName: "tags", isToMany: true,
                            isOrdered: true)),
                ]),
        ])
    }
}

/// A store in memory with short ways to make and change objects.
struct StoreFixture {
    let store: Store
    private let verification: VerifiedAtEnd

    init(
        _ location: StoreLocation = .inMemory, model: ManagedObjectModel? = nil, options: StoreOptions = StoreOptions(),
        accepting accepted: @escaping (VerificationProblem) -> Bool = { _ in false }
    ) throws {
        store = try Store.open(location, model: try model ?? MovieModel.make(), options: options)
        verification = VerifiedAtEnd(store, accepting: accepted)
    }

    var schema: Schema { store.schema }

    func entity(_ name: String) throws -> EntitySchema {
        guard let entity = schema.entity(named: name) else { throw StrataError(.unknownEntity, name) }
        return entity
    }

    func image(_ name: String, _ values: [String: AttributeValue]) throws -> RowImage {
        let entity = try entity(name)
        var builder = RowBuilder(entity.layout)
        for (key, value) in values {
            guard let property = entity.property(named: key) else { throw StrataError(.unknownKey, key) }
            try builder.set(property.slot, value)
        }
        return try builder.finish()
    }

    func changes() throws -> ChangeSet {
        ChangeSet(base: try store.head(), modelVersion: schema.version)
    }

    func insert(
        _ name: String, _ values: [String: AttributeValue], into changes: inout ChangeSet
    ) throws -> ObjectID {
        let id = try store.newObjectID(in: try entity(name).id)
        changes.insertions.append(.init(id: id, image: try image(name, values)))
        return id
    }

    func insert(_ name: String, _ values: [String: AttributeValue]) throws -> ObjectID {
        var changes = try changes()
        let id = try insert(name, values, into: &changes)
        try save(changes)
        return id
    }

    @discardableResult
    func save(_ changes: ChangeSet) throws -> SaveReceipt {
        switch try store.save(changes) {
        case .saved(let receipt): return receipt
        case .stale(let staleness): throw StrataError(.merge, "stale: \(staleness)")
        }
    }

    /// Changes values of one object as of now.
    func update(_ id: ObjectID, _ values: [String: AttributeValue], in changes: inout ChangeSet) throws {
        let entity = try entity(try name(of: id))
        let (image, revision) = try store.read(at: try store.head()) { snapshot in
            guard let row = try snapshot.row(id) else { throw StrataError(.deletedObject, "gone") }
            return (try row.converted(to: entity), row.revision)
        }
        var builder = try RowBuilder(image, layout: entity.layout)
        var slots: [Int] = []
        for (key, value) in values {
            guard let property = entity.property(named: key) else { throw StrataError(.unknownKey, key) }
            try builder.set(property.slot, value)
            slots.append(property.slot)
        }
        changes.updates.append(
            .init(id: id, baseRevision: revision, image: try builder.finish(), changedSlots: slots))
    }

    func update(_ id: ObjectID, _ values: [String: AttributeValue]) throws {
        var changes = try changes()
        try update(id, values, in: &changes)
        try save(changes)
    }

    func delete(_ id: ObjectID) throws {
        var changes = try changes()
        changes.deletions.append(.init(id: id, baseRevision: try revision(of: id)))
        try save(changes)
    }

    func revision(of id: ObjectID) throws -> EventNumber {
        try store.read(at: try store.head()) { try $0.row(id)?.revision ?? .zero }
    }

    func name(of id: ObjectID) throws -> String {
        guard let entity = schema.entity(id.entityID) else { throw StrataError(.unknownEntity, "\(id)") }
        return entity.name
    }

    /// The object's attribute and to-one values at a sequence; nil when it is not there.
    func values(_ id: ObjectID, at eventNumber: EventNumber? = nil) throws -> [String: AttributeValue]? {
        let entity = try entity(try name(of: id))
        return try store.read(at: try eventNumber ?? store.head()) { snapshot in
            guard let row = try snapshot.row(id) else { return nil }
            let image = try row.converted(to: entity)
            var values: [String: AttributeValue] = [:]
            try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                for property in entity.properties where property.storage != nil {
                    values[property.name] = try reader.value(property.slot)
                }
            }
            return values
        }
    }

    func property(_ entity: String, _ name: String) throws -> PropertySchema {
        guard let property = try self.entity(entity).property(named: name) else {
            throw StrataError(.unknownKey, name)
        }
        return property
    }

    func members(
        _ entity: String, _ name: String, of owner: ObjectID, at eventNumber: EventNumber? = nil
    ) throws -> [ObjectID] {
        let relationship = try property(entity, name).id
        return try store.read(at: try eventNumber ?? store.head()) { snapshot in
            let members = try snapshot.members(of: relationship, owner: owner)
            let count = try snapshot.memberCount(of: relationship, owner: owner)
            guard members.count == count else {
                throw StrataError(.corrupt, "\(members.count) members, but the counter says \(count)")
            }
            return members
        }
    }
}
