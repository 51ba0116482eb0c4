import Foundation
import StrataModel
import StrataStore

/// Finds the object that an argument names: `BowTie/p12`, `BowTie/12`, or `strata://<store>/BowTie/p12`.
enum ObjectReference {
    /// The sentence for the help of commands that take an object.
    static let help = "OBJECT is BowTie/p12, BowTie/12, or strata://<store>/BowTie/p12."

    /// - Parameter past: whether it may be an object of the past, under a name that its entity had, or of an entity that
    ///   has left the model.
    /// - Throws: `UsageError` for text that names no object this store could have.
    static func parse(_ text: String, in store: Store, past: Bool = false) throws -> ObjectID {
        var rest = text[...]
        if let scheme = text.range(of: "strata://") {
            guard scheme.lowerBound == text.startIndex else { throw malformed(text, in: store) }
            rest = text[scheme.upperBound...]
            guard let slash = rest.firstIndex(of: "/") else { throw malformed(text, in: store) }
            let identifier = rest[..<slash]
            guard UUID(uuidString: String(identifier)) == store.identifier else {
                throw UsageError("The object '\(text)' belongs to another store; this one is \(store.identifier).")
            }
            rest = rest[rest.index(after: slash)...]
        }
        let parts = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw malformed(text, in: store) }
        let digits = parts[1].hasPrefix("p") ? parts[1].dropFirst() : parts[1]
        guard let row = UInt64(digits), row > 0, row <= ObjectID.maximumRow else {
            throw malformed(text, in: store)
        }
        let name = String(parts[0])
        guard past else { return try object(row, of: [try EntityName.find(name, in: store)], in: store) }
        return try object(row, of: try EntityName.findEver(name, in: store), in: store)
    }

    /// Accepts an object under the name of a parent entity. Of more than one, it is the first that the log knows.
    private static func object(_ row: UInt64, of entities: [EntitySchema], in store: Store) throws -> ObjectID {
        let ids = entities.flatMap { entity in
            entity.concreteEntityIDs.isEmpty ? [entity.id] : entity.concreteEntityIDs
        }.map { ObjectID(entity: $0, row: row) }
        if ids.count == 1 { return ids[0] }
        return try ids.first { try !store.history(of: $0).isEmpty } ?? ids[0]
    }

    /// The example is of the entity that the text names, or else of the store's first one.
    private static func malformed(_ text: String, in store: Store) -> UsageError {
        let entities = store.schema.entities.map(\.name)
        let named = text.split(separator: "/").map(String.init).first(where: entities.contains)
        let name = named ?? entities.first ?? "BowTie"
        return UsageError(
            "'\(ValueText.harmless(text))' names no object. Write \(name)/p12, \(name)/12, or strata://<store>/\(name)/p12."
        )
    }

    /// The object's URI.
    static func uri(_ id: ObjectID, _ names: RecordedNames, in store: Store) -> String {
        "strata://\(store.identifier.uuidString)/\(names.name(of: id))"
    }
}

/// Finds an entity by name.
enum EntityName {
    /// The entity with this name in the newest model.
    static func find(_ name: String, in store: Store) throws -> EntitySchema { try find(name, in: store.schema) }

    static func find(_ name: String, in schema: Schema) throws -> EntitySchema {
        guard let entity = entity(name, schema) else { throw unknown(name, schema) }
        return entity
    }

    /// The entity of a model with this name there, or in another model of the store.
    static func find(_ name: String, in schema: Schema, of store: Store) throws -> EntitySchema {
        if let entity = entity(name, schema) { return entity }
        let namesakes = try store.schemas.reversed().compactMap { entity(name, $0) }
        if let found = namesakes.lazy.compactMap({ schema.entity($0.id) }).first { return found }
        guard !namesakes.isEmpty else { throw unknown(name, schema) }
        let known = NameSuggestions(schema.entities.map(\.name))
        throw UsageError("The store has no entity '\(name)' at this moment.\(known.hint(for: name))")
    }

    /// Every entity that has this name or had it, that of the newest model first, each as the newest model that has it
    /// describes it.
    ///
    /// - Throws: `UsageError` if there never was one.
    static func findEver(_ name: String, in store: Store) throws -> [EntitySchema] {
        let schemas = try store.schemas.reversed()
        var found: [EntitySchema] = []
        for namesake in schemas.compactMap({ entity(name, $0) }) {
            if found.contains(where: { $0.id == namesake.id }) { continue }
            found.append(schemas.lazy.compactMap { $0.entity(namesake.id) }.first ?? namesake)
        }
        guard !found.isEmpty else { throw unknown(name, store.schema) }
        return found
    }

    /// The numbers of every entity that has this name or had it, with their subentities in any model.
    ///
    /// - Throws: `UsageError` if there never was one.
    static func numbersEver(of name: String, in store: Store) throws -> Set<EntityID> {
        let named = Set(try findEver(name, in: store).map(\.id))
        return Set(try store.schemas.flatMap(\.entities).filter { named.contains($0.id) }.flatMap(\.entityIDs))
    }

    private static func entity(_ name: String, _ schema: Schema) -> EntitySchema? {
        schema.entity(named: name) ?? schema.entities.first { $0.name.lowercased() == name.lowercased() }
    }

    private static func unknown(_ name: String, _ schema: Schema) -> UsageError {
        let known = NameSuggestions(schema.entities.map(\.name))
        return UsageError("The store has no entity '\(name)'.\(known.hint(for: name))")
    }
}
