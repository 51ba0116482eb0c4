import Foundation
import StrataModel
import StrataStore

/// The entities of the model at the moment, with their counts, and how the model changed.
struct ModelPage: Encodable {
    struct Entity: Encodable {
        let name: String
        /// The objects of exactly this entity.
        let count: Int
        /// With those of subentities.
        let countWithSubentities: Int
        /// The description of `strata model show --json`.
        let description: JSONObject
    }

    struct Version: Encodable {
        let version: UInt32
        /// The changes of this version to entities and declared views, in sentences; empty for the first.
        let changes: [String]
    }

    let moment: StudioMoment
    let version: UInt32
    let entities: [Entity]
    let versions: [Version]

    init(_ reading: StudioReading) throws {
        moment = try StudioMoment(reading)
        let schema = reading.moment.schema
        version = UInt32(schema.version.rawValue)
        entities = try Self.counts(reading).map { counted in
            Entity(
                name: counted.entity.name, count: counted.own, countWithSubentities: counted.all,
                description: counted.entity.description.json)
        }
        versions = try Self.versions(through: schema.version, in: reading.store)
    }

    struct Counted {
        let entity: EntitySchema
        let own: Int
        let all: Int
    }

    static func counts(_ reading: StudioReading) throws -> [Counted] {
        try reading.read { snapshot in
            var own: [EntityID: Int] = [:]
            let entities = reading.moment.schema.entities
            for entity in entities where !entity.isAbstract { own[entity.id] = try snapshot.count(of: entity.id) }
            return entities.map { entity in
                Counted(
                    entity: entity, own: own[entity.id] ?? 0,
                    all: entity.concreteEntityIDs.reduce(0) { $0 + (own[$1] ?? 0) })
            }
        }
    }

    private static func versions(through last: ModelVersion, in store: Store) throws -> [Version] {
        let schemas = try store.schemas.filter { $0.version <= last }
        return try schemas.indices.map { index in
            let version = UInt32(schemas[index].version.rawValue)
            guard index > 0 else { return Version(version: version, changes: []) }
            let (old, new) = (schemas[index - 1], schemas[index])
            let changes = try SchemaDifference(from: old, to: new.model).changes.map(\.sentence)
            return Version(version: version, changes: changes + viewChanges(from: old.model, to: new.model))
        }.reversed()
    }

    private static func viewChanges(from old: ManagedObjectModel, to new: ManagedObjectModel) -> [String] {
        let changed = new.views.compactMap { view in
            let before = old.view(named: view.name)
            if before == view { return nil as String? }
            return before == nil ? "The view \(view.name) is new." : "The view \(view.name) has another definition."
        }
        return changed + old.views.filter { new.view(named: $0.name) == nil }.map { "The view \($0.name) is gone." }
    }
}
