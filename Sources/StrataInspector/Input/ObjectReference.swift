import Foundation
import StrataModel
import StrataStore

/// Finds the object that an argument names: `BowTie/p12`, `BowTie/12`, or `strata://<store>/BowTie/p12`.
enum ObjectReference {
    /// The sentence for the help of commands that take an object.
    static let help = "OBJECT is BowTie/p12, BowTie/12, or strata://<store>/BowTie/p12."

    /// The models whose entities can be named.
    enum Models {
        case newest
        /// Also entities that were removed from the model, by their last names.
        case allModels
    }

    /// - Throws: `UsageError` for text that names no object this store could have.
    static func parse(_ text: String, in store: Store, among models: Models = .newest) throws -> ObjectID {
        var rest = text[...]
        if let scheme = text.range(of: "strata://") {
            guard scheme.lowerBound == text.startIndex else { throw malformed(text) }
            rest = text[scheme.upperBound...]
            guard let slash = rest.firstIndex(of: "/") else { throw malformed(text) }
            let identifier = rest[..<slash]
            guard UUID(uuidString: String(identifier)) == store.identifier else {
                throw UsageError("The object '\(text)' belongs to another store; this one is \(store.identifier).")
            }
            rest = rest[rest.index(after: slash)...]
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw malformed(text) }
        let digits = parts[1].hasPrefix("p") ? parts[1].dropFirst() : parts[1]
        guard let row = UInt64(digits), row > 0, row <= ObjectID.maximumRow else { throw malformed(text) }
        if models == .allModels, store.schema.entity(named: String(parts[0])) == nil,
            let former = try store.recordedNames().formerEntity(named: String(parts[0]))
        {
            return ObjectID(entity: former, row: row)
        }
        return try object(row, of: try EntityName.find(String(parts[0]), in: store), in: store)
    }

    /// Accepts an object under the name of a parent entity.
    private static func object(_ row: UInt64, of entity: EntitySchema, in store: Store) throws -> ObjectID {
        let ids = entity.concreteEntityIDs.map { ObjectID(entity: $0, row: row) }
        guard let first = ids.first else { return ObjectID(entity: entity.id, row: row) }
        if ids.count == 1 { return first }
        return try ids.first { try !store.history(of: $0).isEmpty } ?? first
    }

    private static func malformed(_ text: String) -> UsageError {
        UsageError("'\(text)' names no object. Write BowTie/p12, BowTie/12, or strata://<store>/BowTie/p12.")
    }

    /// The object's URI.
    static func uri(_ id: ObjectID, _ names: RecordedNames, in store: Store) -> String {
        "strata://\(store.identifier.uuidString)/\(names.name(of: id))"
    }
}

/// Finds an entity by name.
enum EntityName {
    static func find(_ name: String, in store: Store) throws -> EntitySchema { try find(name, in: store.schema) }

    static func find(_ name: String, in schema: Schema) throws -> EntitySchema {
        if let entity = schema.entity(named: name) { return entity }
        if let entity = schema.entities.first(where: { $0.name.lowercased() == name.lowercased() }) {
            return entity
        }
        let known = NameSuggestions(schema.entities.map(\.name))
        throw UsageError("The store has no entity '\(name)'.\(known.hint(for: name))")
    }
}
