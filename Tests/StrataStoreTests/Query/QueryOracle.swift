import Foundation
import StrataModel
import StrataStore

/// Evaluates predicates over plain values, every object against every condition.
struct QueryOracle {
    let state: PlainState
    let schema: Schema

    func fetch(_ request: StoreRequest) throws -> [ObjectID] {
        guard let entity = schema.entity(request.entityID) else { return [] }
        let ids = request.includesSubentities ? entity.concreteEntityIDs : [entity.id]
        var found = try state.rows.keys.filter {
            guard ids.contains($0.entityID) else { return false }
            return try request.predicate.map { [id = $0] in try holds($0, id) } ?? true
        }
        let keys = Dictionary(
            uniqueKeysWithValues: found.map { id in (id, request.sort.map { sortKey(values($0.keyPath, id)[0], $0) }) })
        found.sort { left, right in
            for (index, sort) in request.sort.enumerated() {
                let (a, b) = (keys[left]![index], keys[right]![index])
                if a.isNull != b.isNull {
                    switch sort.nullPlacement {
                    case .smallest: return a.isNull == sort.isAscending
                    case .first: return a.isNull
                    case .last: return b.isNull
                    }
                }
                if sort.isNatural, case .string(let left) = a, case .string(let right) = b {
                    let order = Self.naturalOrder(left, right)
                    if order != 0 { return (order < 0) == sort.isAscending }
                }
                if let order = Self.order(a, b), order != 0 { return (order < 0) == sort.isAscending }
                if Self.isNaN(a) != Self.isNaN(b) { return Self.isNaN(b) == sort.isAscending }
            }
            return left < right
        }
        let rest = found.dropFirst(request.offset)
        return Array(request.limit == 0 ? rest : rest.prefix(request.limit))
    }

    private func sortKey(_ value: AttributeValue, _ sort: SortDescription) -> AttributeValue {
        Self.folded(value, sort.folding)
    }

    /// Digits against digits by the number they write, everything else scalar by scalar.
    private static func naturalOrder(_ left: String, _ right: String) -> Int {
        var left = Array(left.utf8)[...], right = Array(right.utf8)[...]
        func takeNumber(_ text: inout ArraySlice<UInt8>) -> [UInt8] {
            let digits = text.prefix { (0x30...0x39).contains($0) }
            text = text.dropFirst(digits.count)
            let significant = Array(digits.drop { $0 == 0x30 })
            return significant
        }
        while let a = left.first, let b = right.first {
            if (0x30...0x39).contains(a), (0x30...0x39).contains(b) {
                let (a, b) = (takeNumber(&left), takeNumber(&right))
                if a.count != b.count { return a.count < b.count ? -1 : 1 }
                if a != b { return a.lexicographicallyPrecedes(b) ? -1 : 1 }
            } else {
                if a != b { return a < b ? -1 : 1 }
                left = left.dropFirst()
                right = right.dropFirst()
            }
        }
        return left.count - right.count
    }

    func value(_ path: String, _ id: ObjectID) -> AttributeValue { values(path, id)[0] }

    // MARK: Predicates

    private func holds(_ predicate: FetchPredicate, _ id: ObjectID) throws -> Bool {
        switch predicate {
        case .constant(let value): value
        case .not(let part): try !holds(part, id)
        case .and(let parts): try parts.allSatisfy { try holds($0, id) }
        case .or(let parts): try parts.contains { try holds($0, id) }
        case .comparison(let comparison): try holds(comparison, id)
        }
    }

    private func holds(_ comparison: ComparisonPredicate, _ id: ObjectID) throws -> Bool {
        if [comparison.left, comparison.right].contains(where: Self.isExpression) {
            return try PredicateEvaluator(PlainObjects(state: state, schema: schema), object: .one(.objectID(id)))
                .holds(.comparison(comparison))
        }
        let left = sides(comparison.left, id)
        func one(_ value: AttributeValue) throws -> Bool {
            try compare(value, comparison.operator, comparison.right, id, comparison.folding)
        }
        if comparison.operator == .contains, case .keyPath(let path) = comparison.left,
            ["tags", "items"].contains(path)
        {
            return left.contains { Self.areEqual($0, sides(comparison.right, id)[0], []) }
        }
        switch comparison.modifier {
        case .direct: return try one(left[0])
        case .any: return try left.contains(where: one)
        case .all: return try left.allSatisfy(one)
        }
    }

    private static func isExpression(_ expression: FetchExpression) -> Bool {
        switch expression {
        case .constant, .evaluatedObject, .aggregate: false
        case .keyPath(let path):
            // A count of members is one number, a count behind a to-many a function of many.
            path.contains("@") && !["tags.@count", "items.@count", "owner.items.@count"].contains(path)
        default: true
        }
    }

    private func sides(_ expression: FetchExpression, _ id: ObjectID) -> [AttributeValue] {
        switch expression {
        case .constant(let value): [value]
        case .evaluatedObject: [.objectID(id)]
        case .keyPath(let path): values(path, id)
        case .aggregate(let parts): parts.flatMap { sides($0, id) }
        default: []
        }
    }

    private func compare(
        _ left: AttributeValue, _ operation: ComparisonPredicate.Operator, _ right: FetchExpression, _ id: ObjectID,
        _ folding: StringFolding
    ) throws -> Bool {
        if case .constant(.null) = right {
            return operation == .equalTo ? left.isNull : operation == .notEqualTo ? !left.isNull : false
        }
        let values = sides(right, id)
        switch operation {
        case .in:
            guard case .aggregate(let parts) = right else { return false }
            return parts.contains { part in
                if case .constant(.null) = part { return left.isNull }
                return Self.areEqual(left, sides(part, id)[0], folding)
            }
        case .between:
            return Self.isOrdered(left, .greaterThanOrEqualTo, values[0], folding)
                && Self.isOrdered(left, .lessThanOrEqualTo, values[1], folding)
        case .equalTo: return Self.areEqual(left, values[0], folding)
        case .notEqualTo: return !left.isNull && !values[0].isNull && !Self.areEqual(left, values[0], folding)
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return Self.isOrdered(left, operation, values[0], folding)
        case .beginsWith, .endsWith, .contains, .like, .matches:
            guard case .string(let text) = Self.folded(left, folding), case .string(let part) = values[0] else {
                return false
            }
            return Self.textHolds(text, operation, TextFolding.fold(part, folding))
        }
    }

    private static func textHolds(
        _ text: String, _ operation: ComparisonPredicate.Operator, _ part: String
    ) -> Bool {
        let text = Array(text.unicodeScalars), part = Array(part.unicodeScalars)
        switch operation {
        case .beginsWith: return text.starts(with: part)
        case .endsWith: return text.reversed().starts(with: part.reversed())
        case .contains:
            if part.isEmpty { return true }
            return text.indices.contains { text[$0...].starts(with: part) }
        case .like: return isLike(text[...], part[...])
        default: return false
        }
    }

    private static func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let sign = pattern.first else { return text.isEmpty }
        if sign == "*" {
            return (text.startIndex...text.endIndex).contains { isLike(text[$0...], pattern.dropFirst()) }
        }
        guard let scalar = text.first, sign == "?" || sign == scalar else { return false }
        return isLike(text.dropFirst(), pattern.dropFirst())
    }

    // MARK: Values

    static func folded(_ value: AttributeValue, _ folding: StringFolding) -> AttributeValue {
        if case .string(let text) = value { .string(TextFolding.fold(text, folding)) } else { value }
    }

    private static func areEqual(_ left: AttributeValue, _ right: AttributeValue, _ folding: StringFolding) -> Bool {
        order(folded(left, folding), folded(right, folding)) == 0
    }

    private static func isOrdered(
        _ left: AttributeValue, _ operation: ComparisonPredicate.Operator, _ right: AttributeValue,
        _ folding: StringFolding
    ) -> Bool {
        guard let order = order(folded(left, folding), folded(right, folding)) else { return false }
        switch operation {
        case .lessThan: return order < 0
        case .lessThanOrEqualTo: return order <= 0
        case .greaterThan: return order > 0
        default: return order >= 0
        }
    }

    static func isNaN(_ value: AttributeValue) -> Bool {
        if case .double(let double) = value { double.isNaN } else { false }
    }

    static func order(_ left: AttributeValue, _ right: AttributeValue) -> Int? {
        func compare<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
        switch (left, right) {
        case (.string(let a), .string(let b)):
            if a.utf8.elementsEqual(b.utf8) { return 0 }
            return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
        case (.objectID(let a), .objectID(let b)): return compare(a, b)
        case (.date(let a), .date(let b)): return compare(a, b)
        case (.boolean(let a), .boolean(let b)): return compare(a ? 1 : 0, b ? 1 : 0)
        case (.uuid(let a), .uuid(let b)): return compare(a, b)
        case (.decimal(let a), .decimal(let b)): return compare(a, b)
        case (.decimal(let a), .integer(let b)): return compare(a, Decimal(b))
        case (.float(let a), .double(let b)): return compare(a, Float(b))
        default:
            guard let a = number(left), let b = number(right), !a.isNaN, !b.isNaN else { return nil }
            return compare(a, b)
        }
    }

    private static func number(_ value: AttributeValue) -> Double? {
        switch value {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .float(let value): Double(value)
        default: nil
        }
    }

    /// What a path leads to: one value unless it crosses a to-many.
    func values(_ path: String, _ id: ObjectID) -> [AttributeValue] {
        if path == "SELF" { return [.objectID(id)] }
        let steps = path.split(separator: ".", maxSplits: 1).map(String.init)
        guard let row = state.rows[id] else { return [.null] }
        let rest = steps.count > 1 ? steps[1] : nil
        let members: [ObjectID]
        switch (steps[0], schema.entity(id.entityID)?.name) {
        case ("items", "Owner"): members = state.rows.keys.filter { state.rows[$0]?["owner"] == .objectID(id) }.sorted()
        case ("tags", _): members = state.tagged.filter { $0[0] == id }.map { $0[1] }.sorted()
        case ("items", _): members = state.tagged.filter { $0[1] == id }.map { $0[0] }.sorted()
        default:
            let value = row[steps[0]] ?? .null
            guard let rest else { return [value] }
            guard case .objectID(let target) = value else {
                return rest == "items" || rest.hasPrefix("items.") && rest != "items.@count" ? [] : [.null]
            }
            return values(rest, target)
        }
        guard let rest else { return members.map { .objectID($0) } }
        if rest == "@count" { return [.integer(Int64(members.count))] }
        return members.flatMap { values(rest, $0) }
    }
}
