import StrataModel
import StrataStore

/// Looks at objects that a condition on the command line compares with.
enum ObjectComparison {
    /// Returns the condition.
    ///
    /// - Throws: `UsageError` if a relationship, or the object itself, is compared with an object that it can never be.
    static func checked(
        _ predicate: FetchPredicate?, _ entity: EntitySchema, _ schema: Schema
    ) throws -> FetchPredicate? {
        if let predicate { try check(predicate, entity, schema) }
        return predicate
    }

    private static func check(_ predicate: FetchPredicate, _ entity: EntitySchema, _ schema: Schema) throws {
        switch predicate {
        case .constant: break
        case .not(let part): try check(part, entity, schema)
        case .and(let parts), .or(let parts): for part in parts { try check(part, entity, schema) }
        case .comparison(let comparison):
            try check(comparison.left, comparison.right, entity, schema)
            try check(comparison.right, comparison.left, entity, schema)
        }
    }

    private static func check(
        _ side: FetchExpression, _ other: FetchExpression, _ entity: EntitySchema, _ schema: Schema
    ) throws {
        guard let end = destination(of: side, entity, schema) else { return }
        for case .constant(.objectID(let id)) in [other] + parts(of: other) where !end.entityIDs.contains(id.entityID) {
            let name = schema.entity(id.entityID)?.name ?? "entity \(id.entityID)"
            throw UsageError(
                "\(side) is \(end.name), and \(id.named(name)) is \(name): they are never equal. Name an object of "
                    + "\(end.name).")
        }
    }

    private static func parts(of expression: FetchExpression) -> [FetchExpression] {
        if case .aggregate(let parts) = expression { parts } else { [] }
    }

    /// The entity of the objects that an expression leads to; nil if it leads to none.
    private static func destination(
        of expression: FetchExpression, _ entity: EntitySchema, _ schema: Schema
    ) -> EntitySchema? {
        guard case .keyPath(let path) = expression else {
            return expression == .evaluatedObject ? entity : nil
        }
        var end = entity
        for step in path.split(separator: ".") where step != "SELF" {
            guard let next = end.property(named: String(step))?.relationship?.destination,
                let destination = schema.entity(next)
            else { return nil }
            end = destination
        }
        return end
    }

    /// The format with `%@` in place of each object such as `Book/p3`, as long as the object is written, so that characters
    /// keep their places; and the objects.
    ///
    /// - Throws: `UsageError` for an object that the store cannot have.
    static func taken(from text: String, in store: Store) throws -> (format: String, objects: [ObjectID]) {
        let names = Set(try store.schemas.flatMap { $0.entities.map(\.name) })
        var objects: [ObjectID] = []
        var format = ""
        var word = ""
        var quote: Character?
        var isEscaped = false
        func end() throws {
            let parts = word.split(separator: "/", omittingEmptySubsequences: false)
            let isObject =
                parts.count == 2 && names.contains(String(parts[0])) && parts[1].first == "p"
                && Int(parts[1].dropFirst()) != nil
            if isObject { objects.append(try ObjectReference.parse(word, in: store, past: true)) }
            format += isObject ? "%@" + String(repeating: " ", count: word.count - 2) : word
            word = ""
        }
        for character in text {
            if quote == nil, character.isLetter || character.isNumber || character == "_" || character == "/" {
                word.append(character)
                continue
            }
            try end()
            format.append(character)
            if let open = quote {
                if character == open, !isEscaped { quote = nil }
                isEscaped = character == "\\" && !isEscaped
            } else if character == "'" || character == "\"" {
                quote = character
            }
        }
        try end()
        return (format, objects)
    }

    /// An object such as `Book/p3` in a format, where it would be a quotient of two key paths.
    static func literal(in text: String, _ schema: Schema) -> String? {
        var outside = ""
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else {
                outside.append(character)
            }
        }
        let words = outside.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "/") }
        return words.lazy.map(String.init).first { word in
            let parts = word.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == 2 && parts[1].first == "p" && Int(parts[1].dropFirst()) != nil
                && schema.entity(named: String(parts[0])) != nil
        }
    }
}
