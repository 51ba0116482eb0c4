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
        case "Owner": (keys, numbers) = ([[], ["age"]], ["age"])
        case "Tag": (keys, numbers) = ([[], ["label"]], [])
        default:
            keys = [
                [], ["year"], ["title"], ["flag", "year"], ["owner.name"], ["owner"], ["year", "rating"], ["code"],
            ]
            numbers = ["year", "year", "rating", "score"]
        }
        let groupBy = pick(keys)
        var columns = groupBy.map { OutputColumn($0) }
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
            let keys = request.groupBy.map { value($0, id) }
            if let place = groups.firstIndex(where: { zip($0.keys, keys).allSatisfy(Self.isSameKey) }) {
                groups[place].members.append(id)
            } else {
                groups.append((keys, [id]))
            }
        }
        groups.sort { left, right in
            for (a, b) in zip(left.keys, right.keys) where !Self.isSameKey(a, b) { return Self.comesFirst(a, b) }
            return false
        }
        var rows = groups.map { group in
            request.columns.enumerated().map { place, column in
                place < group.keys.count ? group.keys[place] : aggregate(column.expression, group.members)
            }
        }
        if request.having != nil { rows.removeAll { Self.integer($0[request.groupBy.count]) <= 1 } }
        if let sort = request.objects.sort.first {
            let place = request.groupBy.count
            rows = rows.enumerated().sorted { left, right in
                let (a, b) = (Self.integer(left.element[place]), Self.integer(right.element[place]))
                return a == b ? left.offset < right.offset : (a < b) == sort.isAscending
            }.map(\.element)
        }
        let limit = request.objects.limit
        return limit == 0 ? rows : Array(rows.prefix(limit))
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
