import Foundation
import StrataModel
import StrataStore

/// Completes the names of a store's entities and properties.
struct NameCompletion {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    var entityNames: [String] { schema.entities.map(\.name).sorted() }

    /// The entity that a word names, by itself or in an object such as `Film/p5`.
    func entity(named word: String) -> EntitySchema? {
        schema.entity(named: String(word.prefix { $0 != "/" }))
    }

    /// Returns the number of characters at the end of a text that are a key path or a name.
    static func lengthOfPath(atEndOf text: String) -> Int {
        text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." || $0 == "@" }.count
    }

    /// The key paths that the end of a text may become; each is a whole one.
    func keyPaths(completing path: String, of entity: EntitySchema) -> [String] {
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let last = steps.popLast() ?? ""
        var entity = entity
        var isToMany = false
        for step in steps {
            guard let relationship = entity.property(named: step)?.relationship,
                let destination = schema.entity(relationship.destination)
            else { return [] }
            entity = destination
            isToMany = relationship.isToMany
        }
        let names = entity.properties.filter { $0.storage != .position }.map(\.name) + (isToMany ? ["@count"] : [])
        let lead = steps.map { $0 + "." }.joined()
        return names.filter { $0.hasPrefix(last) }.sorted().map { lead + $0 }
    }

    /// Describes the end of a key path for people: the type of an attribute, or a relationship and its entity; nil if
    /// it is none.
    func type(of path: String, of entity: EntitySchema) -> String? {
        var next: EntitySchema? = entity
        var found: PropertySchema?
        for step in path.split(separator: ".") {
            found = next?.property(named: String(step))
            next = (found?.relationship?.destination).flatMap(schema.entity)
        }
        return found.flatMap { type(of: $0) }
    }

    /// The type of an attribute, or a relationship and its entity.
    func type(of property: PropertySchema) -> String? {
        property.attribute?.type.name
            ?? property.relationship.map { relationship in
                (relationship.isToMany ? "to-many " : "to-one ")
                    + (schema.entity(relationship.destination)?.name ?? "objects")
            }
    }

    // MARK: Completion scripts

    /// The names of entities of the store that is named among the words of a command line.
    static func entities(in words: [String]) -> [String] { of(words)?.entityNames ?? [] }

    /// The key paths that the word may become, of the store and the entity that are named before it.
    static func keyPaths(in words: [String], completing word: String) -> [String] {
        guard let completion = of(words), let entity = words.lazy.compactMap(completion.entity(named:)).first
        else { return [] }
        let length = lengthOfPath(atEndOf: word)
        let lead = word.dropLast(length)
        return completion.keyPaths(completing: String(word.suffix(length)), of: entity).map { lead + $0 }
    }

    private static func of(_ words: [String]) -> NameCompletion? {
        for word in words.dropFirst(2) where !word.hasPrefix("-") {
            let path = NSString(string: word).expandingTildeInPath
            guard (try? StoreArguments(path: path).checkIsThere()) != nil else { continue }
            // Without a store there is nothing to complete; the command itself will say why.
            return try? StoreArguments(path: path).reading { NameCompletion($0.schema) }
        }
        return nil
    }
}
