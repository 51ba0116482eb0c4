import Foundation

/// A step of a key path that computes a result from a whole collection, such as `@count`.
package enum CollectionOperator: String, Sendable, CaseIterable {
    case count = "@count"
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"
    case unionOfObjects = "@unionOfObjects"
    case distinctUnionOfObjects = "@distinctUnionOfObjects"
    case unionOfArrays = "@unionOfArrays"
    case distinctUnionOfArrays = "@distinctUnionOfArrays"
    case unionOfSets = "@unionOfSets"
    case distinctUnionOfSets = "@distinctUnionOfSets"

    /// The result for a collection. An empty one has the sum 0, and nil for average, minimum and maximum. The result for nil
    /// is nil.
    package func apply(to operand: PredicateOperand) throws(StrataError) -> PredicateOperand {
        if case .one(.null) = operand { return operand }
        let members = operand.members
        switch self {
        case .count: return .one(.integer(Int64(members.count)))
        case .sum: return .one(try ValueArithmetic.sum(members).total)
        case .average: return .one(try ValueArithmetic.sum(members).mean)
        case .minimum: return .one(ValueArithmetic.extreme(members, .ascending))
        case .maximum: return .one(ValueArithmetic.extreme(members, .descending))
        case .unionOfObjects, .unionOfArrays, .unionOfSets: return .many(members.filter { !$0.isNull })
        case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
            return .many(members.filter { !$0.isNull }.distinct)
        }
    }
}

extension FetchExpression.SetOperation {
    /// The union, intersection or difference: each value once, first those of the left side in its order.
    func combine(_ left: [AttributeValue], _ right: [AttributeValue]) -> [AttributeValue] {
        if self == .union { return (left + right).distinct }
        let keys = Set(right.map(\.memberKey))
        return left.distinct.filter { keys.contains($0.memberKey) == (self == .intersect) }
    }
}

extension [AttributeValue] {
    /// The values without duplicates, in the order of their first occurrence.
    var distinct: [AttributeValue] {
        var seen: Set<AttributeValue> = []
        return filter { seen.insert($0.memberKey).inserted }
    }
}
