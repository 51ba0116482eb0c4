import Foundation

/// A step of a key path that makes something of a whole collection, such as `@count`.
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

    /// The sum of nothing is 0; nothing has no average and no extremes. Of a missing collection everything is missing.
    package func apply(to operand: PredicateOperand) throws(StrataError) -> PredicateOperand {
        if case .one(.null) = operand { return operand }
        let members = operand.members
        switch self {
        case .count: return .one(.integer(Int64(members.count)))
        case .sum: return .one(try ValueArithmetic.sum(members))
        case .average: return .one(try ValueArithmetic.average(members))
        case .minimum: return .one(ValueArithmetic.extreme(members, .ascending))
        case .maximum: return .one(ValueArithmetic.extreme(members, .descending))
        case .unionOfObjects, .unionOfArrays, .unionOfSets: return .many(members.filter { !$0.isNull })
        case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
            return .many(members.filter { !$0.isNull }.distinct)
        }
    }

    /// Whether the result is a list.
    package var makesList: Bool {
        switch self {
        case .count, .sum, .average, .minimum, .maximum: false
        default: true
        }
    }
}

extension FetchExpression.SetOperation {
    /// Each value once, in the order of the left side and then of the right one.
    func combine(_ left: [AttributeValue], _ right: [AttributeValue]) -> [AttributeValue] {
        if self == .union { return (left + right).distinct }
        let keys = Set(right.map(\.memberKey))
        return left.distinct.filter { keys.contains($0.memberKey) == (self == .intersect) }
    }
}

extension [AttributeValue] {
    /// Each value once, where it first stands.
    var distinct: [AttributeValue] {
        var seen: Set<AttributeValue> = []
        return filter { seen.insert($0.memberKey).inserted }
    }
}
