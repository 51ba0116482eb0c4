import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// Makes requests for groups from requests for objects.
enum RowsGenerator {
    static func request(
        _ objects: StoreRequest, _ schema: Schema, _ random: inout SeededGenerator
    ) -> RowsRequest {
        func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }
        var objects = objects
        objects.sort = []
        objects.offset = 0
        let keys: [[String]], numbers: [String]
        switch schema.entity(objects.entityID)?.name {
        case "Owner": (keys, numbers) = ([[], ["age"], ["items.year"], ["age", "items.owner.name"]], ["age"])
        case "Tag": (keys, numbers) = ([[], ["label"], ["items.rating"], ["bearer.items.title"]], [])
        default:
            keys = [
                [], ["year"], ["title"], ["flag", "year"], ["owner.name"], ["owner"], ["year", "rating"], ["code"],
                ["tags.label"], ["year", "tags"], ["owner.items.year", "flag"], ["tags.@count", "tags.label"],
            ]
            numbers = ["year", "year", "rating", "score"]
        }
        let groupBy = pick(keys)
        let shown = Bool.random(using: &random) ? groupBy : Array(groupBy.dropLast())
        var columns = shown.map { OutputColumn($0) }
        columns.append(OutputColumn("n", .function(.count, [.evaluatedObject])))
        for (place, number) in numbers.enumerated() where Bool.random(using: &random) {
            let function = pick([FetchFunction.min, .max, .count, .sum])
            // Sums of doubles depend on their order; those of whole numbers do not.
            let isExact = number == "year" || number == "age"
            columns.append(
                OutputColumn(
                    "a\(place)", .function(isExact ? function : pick([.min, .max, .count]), [.keyPath(number)])))
        }
        var having: FetchPredicate?
        if Int.random(in: 0..<3, using: &random) == 0 { having = .greaterThan("n", .integer(1)) }
        if Bool.random(using: &random) {
            objects.sort = [SortDescription("n", isAscending: Bool.random(using: &random))]
            // A key of the groups that may be no column.
            if let key = groupBy.last, Bool.random(using: &random) {
                objects.sort.append(SortDescription(key, isAscending: Bool.random(using: &random)))
            }
        }
        return RowsRequest(objects: objects, columns: columns, groupBy: groupBy, having: having)
    }
}

extension QueryOracle {
    /// Groups one object after the other, keys in order.
    func rows(_ request: RowsRequest) throws -> [[AttributeValue]] {
        var objects = request.objects
        (objects.sort, objects.limit, objects.offset) = ([], 0, 0)
        var groups: [(keys: [AttributeValue], members: [ObjectID])] = request.groupBy.isEmpty ? [([], [])] : []
        let ids = try fetch(objects)
        for id in ids {
            var known: Set<Int> = []
            for keys in combinations(request.groupBy, id) {
                let place = groups.firstIndex { zip($0.keys, keys).allSatisfy(Self.isSameKey) } ?? groups.count
                if place == groups.count { groups.append((keys, [])) }
                // An object is once in a group, whatever the number of its members that lead there.
                if known.insert(place).inserted { groups[place].members.append(id) }
            }
        }
        groups.sort { left, right in
            for (a, b) in zip(left.keys, right.keys) where !Self.isSameKey(a, b) { return Self.comesFirst(a, b) }
            return false
        }
        let shown = request.columns.firstIndex { $0.name == "n" } ?? 0
        func count(_ group: (keys: [AttributeValue], members: [ObjectID])) -> Int { group.members.count }
        if request.having != nil { groups.removeAll { count($0) <= 1 } }
        if let sort = request.objects.sort.first {
            groups = groups.enumerated().sorted { left, right in
                if count(left.element) != count(right.element) {
                    return (count(left.element) < count(right.element)) == sort.isAscending
                }
                guard request.objects.sort.count > 1, let place = request.groupBy.indices.last else {
                    return left.offset < right.offset
                }
                let (a, b) = (left.element.keys[place], right.element.keys[place])
                if Self.isSameKey(a, b) { return left.offset < right.offset }
                return Self.comesFirst(a, b) == request.objects.sort[1].isAscending
            }.map(\.element)
        }
        let rows = groups.map { group in
            request.columns.enumerated().map { place, column in
                place < shown ? group.keys[place] : aggregate(column.expression, group.members)
            }
        }
        let limit = request.objects.limit
        return limit == 0 ? rows : Array(rows.prefix(limit))
    }

    /// Every combination of the values of key paths, at most one of which crosses a to-many.
    private func combinations(_ keys: [String], _ id: ObjectID) -> [[AttributeValue]] {
        keys.reduce([[]]) { found, key in
            let values = self.values(key, id)
            return (values.isEmpty ? [.null] : values).flatMap { value in found.map { $0 + [value] } }
        }
    }

    private func aggregate(_ expression: FetchExpression, _ members: [ObjectID]) -> AttributeValue {
        guard case .function(let function, let arguments) = expression else { return .null }
        guard case .keyPath(let path) = arguments[0] else { return .integer(Int64(members.count)) }
        let values = members.map { value(path, $0) }.filter { !$0.isNull }
        switch function {
        case .count: return .integer(Int64(values.count))
        case .sum: return .integer(values.reduce(0) { $0 + Self.integer($1) })
        default:
            let numbers = values.filter { Self.order($0, $0) != nil }
            guard var best = numbers.first else { return .null }
            for value in numbers {
                if let order = Self.order(value, best), function == .min ? order < 0 : order > 0 { best = value }
            }
            return best
        }
    }

    private static func integer(_ value: AttributeValue) -> Int64 {
        if case .integer(let value) = value { value } else { 0 }
    }

    private static func isSameKey(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
        if left.isNull || right.isNull { return left.isNull && right.isNull }
        if isNaN(left) || isNaN(right) { return isNaN(left) && isNaN(right) }
        return order(folded(left, []), folded(right, [])) == 0
    }

    private static func comesFirst(_ left: AttributeValue, _ right: AttributeValue) -> Bool {
        if left.isNull || right.isNull { return left.isNull }
        if isNaN(left) || isNaN(right) { return isNaN(right) }
        return (order(folded(left, []), folded(right, [])) ?? 0) < 0
    }
}
