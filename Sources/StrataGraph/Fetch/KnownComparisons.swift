import StrataModel
import StrataStore
import Synchronization

/// Comparisons of a class that were found to make sense, so that making the same request again costs no more than
/// looking them up.
///
/// Kept are only those for which the value does not matter but its kind: an attribute of numbers, text, dates or
/// Booleans beside a constant of that kind. The set is guarded by its mutex, and is as large as the app's code has
/// such comparisons.
final class KnownComparisons: Sendable {
    private struct Key: Hashable {
        let objectClass: ObjectIdentifier
        let entity: EntityID
        let path: String
        let comparison: ComparisonPredicate.Operator
        let modifier: ComparisonPredicate.Modifier
        let folding: StringFolding
        let kind: Kind
    }

    private enum Kind: Hashable {
        case null, number, text, date, boolean

        init?(_ value: AttributeValue) {
            switch value {
            case .null: self = .null
            case .integer, .double: self = .number
            case .string: self = .text
            case .date: self = .date
            case .boolean: self = .boolean
            default: return nil
            }
        }

        func isKind(of type: AttributeType) -> Bool {
            switch (self, type) {
            case (.null, _), (.text, .string), (.date, .date), (.boolean, .boolean): true
            case (.number, .integer16), (.number, .integer32), (.number, .integer64), (.number, .double),
                (.number, .float):
                true
            default: false
            }
        }
    }

    private let keys = Mutex<Set<Key>>([])
    private static let capacity = 10_000

    /// Whether all comparisons of the predicate are known.
    func contains(_ predicate: FetchPredicate, _ objectClass: ObjectIdentifier, _ entity: EntitySchema) -> Bool {
        var left = 8
        return all(of: predicate, &left) { comparison in
            guard let key = Self.key(comparison, objectClass, entity) else { return false }
            return keys.withLock { $0.contains(key) }
        }
    }

    /// Whether a test holds for all comparisons, as long as these are few.
    private func all(
        of predicate: FetchPredicate, _ left: inout Int, _ test: (ComparisonPredicate) -> Bool
    ) -> Bool {
        left -= 1
        guard left >= 0 else { return false }
        switch predicate {
        case .comparison(let comparison): return test(comparison)
        case .and(let parts), .or(let parts):
            for part in parts where !all(of: part, &left, test) { return false }
            return true
        case .not(let part): return all(of: part, &left, test)
        case .constant: return true
        }
    }

    /// Keeps the comparisons of a predicate that passed as a whole.
    func insert(
        _ predicate: FetchPredicate, _ objectClass: ObjectIdentifier, _ entity: EntitySchema, _ schema: Schema
    ) {
        var left = 8
        _ = all(of: predicate, &left) { comparison in
            guard let key = Self.key(comparison, objectClass, entity),
                let type = Self.attributeType(at: key.path, of: entity, schema), key.kind.isKind(of: type)
            else { return true }
            keys.withLock { if $0.count < Self.capacity { $0.insert(key) } }
            return true
        }
    }

    private static func key(
        _ comparison: ComparisonPredicate, _ objectClass: ObjectIdentifier, _ entity: EntitySchema
    ) -> Key? {
        guard case .keyPath(let path) = comparison.left, comparison.operator != .matches,
            let kind = kind(of: comparison.right)
        else { return nil }
        return Key(
            objectClass: objectClass, entity: entity.id, path: path, comparison: comparison.operator,
            modifier: comparison.modifier, folding: comparison.folding, kind: kind)
    }

    private static func kind(of expression: FetchExpression) -> Kind? {
        switch expression {
        case .constant(let value): return Kind(value)
        // Bounds; longer lists are as well checked as looked through.
        case .aggregate(let parts) where parts.count == 2:
            guard case .constant(let first) = parts[0], case .constant(let second) = parts[1],
                let kind = Kind(first), kind != .null, Kind(second) == kind
            else { return nil }
            return kind
        default: return nil
        }
    }

    /// The attribute at the end of names of relationships.
    private static func attributeType(at path: String, of entity: EntitySchema, _ schema: Schema) -> AttributeType? {
        var current: EntitySchema? = entity
        var type: AttributeType?
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard type == nil, let property = current?.property(named: String(step)) else { return nil }
            switch property.kind {
            case .attribute(let attribute): type = attribute.type
            case .relationship(let relationship): current = schema.entity(relationship.destination)
            case .position: return nil
            }
        }
        return type
    }
}
