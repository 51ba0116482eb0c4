import Foundation
import StrataModel

/// Compiles the comparison of one path with constants, and wraps it in the joins along the path.
///
/// It has no constants itself, so it serves all comparisons that differ only in theirs.
final class LeafCompiler: Sendable {
    let path: ResolvedPath
    let type: ComparedType
    let operation: ComparisonPredicate.Operator
    let folding: StringFolding
    let quantifier: MemberQuantifier
    /// The way by which objects are found from the far end of each hop.
    private let ways: [LinkAccess.Way?]
    /// The form in which constants are compared with an encrypted attribute; nil for another path.
    private let encryption: EncryptedComparison?

    init(
        path: ResolvedPath, type: ComparedType, operation: ComparisonPredicate.Operator, folding: StringFolding,
        quantifier: MemberQuantifier, schema: Schema
    ) {
        ways = path.hops.indices.map { schema.links.way(of: path.hops[$0], from: path.entities[$0], schema) }
        encryption = type == .encrypted ? EncryptedComparison(path, schema) : nil
        self.path = path
        self.type = type
        self.operation = operation
        self.folding = folding
        self.quantifier = quantifier
    }

    /// The constants of a comparison in the path's type; nil if one of them does not fit.
    func values(of comparison: ComparisonPredicate) -> [AttributeValue]? {
        switch comparison.right {
        case .constant(let constant):
            guard operation != .in, operation != .between else { return nil }
            return accepted(constant).map { [$0] }
        case .aggregate(let parts):
            guard operation == .in || operation == .between else { return nil }
            var values: [AttributeValue] = []
            values.reserveCapacity(parts.count)
            guard append(parts, to: &values), operation == .in || values.count == 2 else { return nil }
            return values
        default: return nil
        }
    }

    private func append(_ parts: [FetchExpression], to values: inout [AttributeValue]) -> Bool {
        for part in parts {
            switch part {
            case .constant(let constant):
                guard let value = accepted(constant) else { return false }
                values.append(value)
            case .aggregate(let inner): guard append(inner, to: &values) else { return false }
            default: return false
            }
        }
        return true
    }

    func accepted(_ constant: AttributeValue) -> AttributeValue? {
        if type == .outside, !constant.isNull { return nil }
        if let encryption { return encryption.accepted(constant) }
        return type.constant(constant)
    }

    /// The comparison in a form that an index over the row's own properties can answer.
    func column(_ values: [AttributeValue]) -> ColumnCondition? {
        switch (path.end, path.hops.count) {
        case (.attribute(let slot, _), 0): return column(slot: slot, [], values)
        case (.element(let slot, let names, _), 0): return column(slot: slot, names, values)
        case (.object, 1): if case .toOne(let slot) = path.hops[0] { return column(slot: slot, [], values) }
        default: break
        }
        return nil
    }

    /// The comparison in a form that an index over the rows behind a single hop can answer; nil unless it holds for
    /// exactly the objects that lead to such a row.
    func farColumn(_ values: [AttributeValue]) -> ColumnCondition? {
        guard path.hops.count == 1, quantifier == .any || !path.isToMany else { return nil }
        let column: ColumnCondition?
        switch path.end {
        case .attribute(let slot, _): column = self.column(slot: slot, [], values)
        case .element(let slot, let names, _): column = self.column(slot: slot, names, values)
        case .object, .count: return nil
        }
        // An object without a far end meets `== nil`, but cannot be found from there.
        if case .values(let values)? = column?.kind, values.contains(.null) { return nil }
        return column
    }

    /// - Parameter values: constants in the path's type: two for BETWEEN, any number for IN, otherwise one.
    func compiled(
        _ values: [AttributeValue], _ predicate: FetchPredicate
    ) throws(StrataError) -> CompiledCondition {
        // A comparison of objects needs only the reference, so there is no join for the last hop.
        if case .object = path.end, let last = path.hops.last, let row = lastHopCondition(values) {
            let compiled = CompiledCondition(row, predicate, access: access(last, values))
            return joined(compiled, hops: path.hops.count - 1)
        }
        var compiled = CompiledCondition(try condition(values), predicate)
        switch path.end {
        case .object: compiled.access = isMembership ? .objects(values.compactMap(\.object)) : nil
        case .attribute(let slot, _): compiled.access = column(slot: slot, [], values).map { .column($0) }
        case .element(let slot, let names, _): compiled.access = column(slot: slot, names, values).map { .column($0) }
        case .count: break
        }
        return joined(compiled, hops: path.hops.count)
    }

    private var isMembership: Bool { operation == .equalTo || operation == .in }

    /// Returns the access that finds objects by the targets of their last hop; nil if there is none.
    private func access(_ hop: ResolvedPath.Hop, _ values: [AttributeValue]) -> ConditionAccess? {
        switch hop {
        case .toOne(let slot): column(slot: slot, [], values).map { .column($0) }
        case .toMany(let relationship):
            quantifier == .any && isMembership
                ? .members(relationship: relationship, anyOf: values.compactMap(\.object)) : nil
        }
    }

    /// Carries a condition on the row behind the first `count` hops back to the row where they begin.
    private func joined(_ end: CompiledCondition, hops count: Int) -> CompiledCondition {
        guard count > 0 else { return end }
        // Each condition has the predicate for its own entity, to be compared with that of a partial index there.
        var current = CompiledCondition(
            remembered(end.row, behind: count), path.tail(of: end.predicate, behind: count), access: end.access)
        for place in (0..<count).reversed() {
            let hop = path.hops[place]
            let row: any RowCondition
            // An object without a far end would not be found from there.
            let isFoundFromFarEnd: Bool
            switch hop {
            case .toOne(let slot):
                row = JoinCondition(slot: slot, current.row)
                isFoundFromFarEnd = !current.row.holdsForNothing
            case .toMany(let relationship):
                row = MembersCondition(relationship, quantifier, current.row)
                isFoundFromFarEnd = quantifier == .any
            }
            let join = ConditionJoin(
                hop: hop, way: ways[place], near: path.entities[place], far: path.entities[place + 1],
                conditions: [current])
            current = CompiledCondition(
                remembered(row, behind: place),
                place == 0 ? end.predicate : path.tail(of: end.predicate, behind: place),
                access: isFoundFromFarEnd ? .join(join) : nil)
        }
        return current
    }

    /// A condition on the object behind the first `count` hops. It is judged once for each object if several ways may
    /// lead to one, and if more than its row is read.
    private func remembered(_ row: any RowCondition, behind count: Int) -> any RowCondition {
        let isShared = path.hops[..<count].contains(where: \.isToMany)
        return isShared && path.hops[count...].contains(where: \.isToMany) ? RememberedCondition(row) : row
    }

    // MARK: Conditions

    private func condition(_ values: [AttributeValue]) throws(StrataError) -> any RowCondition {
        switch path.end {
        case .object: return any(values) { SelfCondition($0) }
        case .count(let relationship):
            let ranges = integerRanges(values)
            return MemberCountCondition(
                relationship, ranges, isInside: operation != .notEqualTo,
                holdsForNothing: isMembership && values.contains(.null))
        case .element: return ValueCondition(.path(end), operation, operand(values), nil, folding)
        case .attribute(let slot, _): return try attributeCondition(slot, values)
        }
    }

    /// The end of the path, for the row that the hops lead to.
    private var end: ValuePath { ValuePath(end: path.end) }

    private func operand(_ values: [AttributeValue]) -> ValueOperand {
        operation == .in || operation == .between
            ? .list(values.map(ValueOperand.constant)) : .constant(values.first ?? .null)
    }

    private func attributeCondition(_ slot: Int, _ values: [AttributeValue]) throws(StrataError) -> any RowCondition {
        if operation == .in, values.contains(.null) {
            let others = try attributeCondition(slot, values.filter { !$0.isNull })
            return JunctionCondition(.or, unnamed: [NilCondition(slot: slot, wantsNil: true), others])
        }
        if values == [.null] {
            switch operation {
            case .equalTo: return NilCondition(slot: slot, wantsNil: true)
            case .notEqualTo: return NilCondition(slot: slot, wantsNil: false)
            default: return ConstantCondition(false)
            }
        }
        if values.isEmpty || values.contains(.null) { return ConstantCondition(false) }
        switch type {
        case .integer, .boolean: return integerCondition(slot, values)
        case .floatingPoint, .date: return floatingPointCondition(slot, values)
        case .text, .url: return try textCondition(BytesSource(slot: slot, folding: folding), values)
        case .uuid, .data, .encrypted:
            return bytesCondition(BytesSource(slot: slot, folding: nil), values.compactMap(\.rawBytes))
        case .object: return any(values) { ReferenceCondition(slot: slot, $0) }
        case .decimal, .composite, .outside: return ValueCondition(.path(end), operation, operand(values), nil, folding)
        }
    }

    private func integerCondition(_ slot: Int, _ values: [AttributeValue]) -> any RowCondition {
        let ranges = integerRanges(values)
        if ranges.isEmpty {
            return operation == .notEqualTo ? NilCondition(slot: slot, wantsNil: false) : ConstantCondition(false)
        }
        return IntegerCondition(slot: slot, ranges, isInside: operation != .notEqualTo)
    }

    private func floatingPointCondition(_ slot: Int, _ values: [AttributeValue]) -> any RowCondition {
        let ranges = floatingPointRanges(values)
        if ranges.isEmpty {
            return operation == .notEqualTo ? NilCondition(slot: slot, wantsNil: false) : ConstantCondition(false)
        }
        return FloatingPointCondition(slot: slot, ranges, isInside: operation != .notEqualTo)
    }

    private func textCondition(_ source: BytesSource, _ values: [AttributeValue]) throws(StrataError)
        -> any RowCondition
    {
        let texts = values.compactMap(\.text)
        switch (operation, texts.first) {
        case (.beginsWith, let text?): return TextSearchCondition(source, TextFolding.bytes(text, folding), .start)
        case (.endsWith, let text?): return TextSearchCondition(source, TextFolding.bytes(text, folding), .end)
        case (.contains, let text?): return TextSearchCondition(source, TextFolding.bytes(text, folding), .anywhere)
        case (.like, let text?): return PatternCondition(source, like: text)
        case (.matches, let text?):
            let spelling = BytesSource(slot: source.slot, folding: folding.subtracting(.caseInsensitive))
            return PatternCondition(spelling, try PatternMatcher.comparing(text, folding))
        default: return bytesCondition(source, texts.map { TextFolding.bytes($0, folding) })
        }
    }

    private func bytesCondition(_ source: BytesSource, _ values: [[UInt8]]) -> any RowCondition {
        func bound(_ index: Int, _ isIncluded: Bool) -> BytesRangeCondition.Bound {
            BytesRangeCondition.Bound(bytes: values[index], isIncluded: isIncluded)
        }
        switch operation {
        case .lessThan: return BytesRangeCondition(source, lower: nil, upper: bound(0, false))
        case .lessThanOrEqualTo: return BytesRangeCondition(source, lower: nil, upper: bound(0, true))
        case .greaterThan: return BytesRangeCondition(source, lower: bound(0, false), upper: nil)
        case .greaterThanOrEqualTo: return BytesRangeCondition(source, lower: bound(0, true), upper: nil)
        case .between: return BytesRangeCondition(source, lower: bound(0, true), upper: bound(1, true))
        default: return BytesMembershipCondition(source, values, isMember: operation != .notEqualTo)
        }
    }

    // MARK: Objects

    /// Returns the condition on the row that refers to the object at the path's end.
    private func lastHopCondition(_ values: [AttributeValue]) -> (any RowCondition)? {
        switch path.hops.last {
        case .toOne(let slot)?:
            if operation == .in, values.contains(.null) {
                return JunctionCondition(
                    .or,
                    unnamed: [
                        NilCondition(slot: slot, wantsNil: true), any(values) { ReferenceCondition(slot: slot, $0) },
                    ])
            }
            if values == [.null], operation == .equalTo || operation == .notEqualTo {
                return NilCondition(slot: slot, wantsNil: operation == .equalTo)
            }
            return any(values) { ReferenceCondition(slot: slot, $0) }
        case .toMany(let relationship)?:
            if values == [.null], operation == .notEqualTo {
                let all: [ClosedRange<UInt64>] = [0...UInt64.max]
                return MemberIdentifierCondition(relationship, quantifier, IdentifierCondition(all, isInside: true))
            }
            return MemberIdentifierCondition(relationship, quantifier, identifiers(values))
        case nil: return nil
        }
    }

    private func any<Condition: RowCondition>(
        _ values: [AttributeValue], _ make: (IdentifierCondition) -> Condition
    ) -> any RowCondition {
        if values == [.null] { return ConstantCondition(operation == .notEqualTo) }
        return make(identifiers(values))
    }

    private func identifiers(_ values: [AttributeValue]) -> IdentifierCondition {
        let ids = values.compactMap(\.object).map(\.rawValue)
        guard let first = ids.first else { return IdentifierCondition([], isInside: true) }
        let range: ClosedRange<UInt64>? =
            switch operation {
            case .lessThan: first == 0 ? nil : 0...first - 1
            case .lessThanOrEqualTo: 0...first
            case .greaterThan: first == .max ? nil : first + 1...UInt64.max
            case .greaterThanOrEqualTo: first...UInt64.max
            case .between: ids.count == 2 && first <= ids[1] ? first...ids[1] : nil
            default: nil
            }
        switch operation {
        case .equalTo, .notEqualTo, .in:
            return IdentifierCondition(Set(ids).map { $0...$0 }, isInside: operation != .notEqualTo)
        default: return IdentifierCondition(range.map { [$0] } ?? [], isInside: true)
        }
    }
}

// MARK: - Ranges

extension LeafCompiler {
    func integerRanges(_ values: [AttributeValue]) -> [ClosedRange<Int64>] {
        let bounds = values.map(WholeBound.init)
        switch operation {
        case .between:
            guard bounds.count == 2, let low = bounds[0].range(.greaterThanOrEqualTo),
                let high = bounds[1].range(.lessThanOrEqualTo), low.lowerBound <= high.upperBound
            else { return [] }
            return [low.lowerBound...high.upperBound]
        case .in, .notEqualTo: return bounds.compactMap { $0.range(.equalTo) }
        default: return bounds.prefix(1).compactMap { $0.range(operation) }
        }
    }

    func floatingPointRanges(_ values: [AttributeValue]) -> [ClosedRange<Double>] {
        let numbers = values.compactMap(\.number)
        switch operation {
        case .between:
            guard numbers.count == 2, numbers[0] <= numbers[1] else { return [] }
            return [numbers[0]...numbers[1]]
        case .in, .notEqualTo: return numbers.compactMap { ClosedRange(.equalTo, $0) }
        default: return numbers.prefix(1).compactMap { ClosedRange(operation, $0) }
        }
    }
}

extension ValuePath {
    fileprivate init(end: ResolvedPath.End) {
        self.init(hops: [], end: end)
    }
}

extension AttributeValue {
    var object: ObjectID? { if case .objectID(let id) = self { id } else { nil } }

    fileprivate var number: Double? {
        switch self {
        case .double(let value): value
        case .date(let date): date.timeIntervalSinceReferenceDate
        default: nil
        }
    }

    fileprivate var rawBytes: [UInt8]? {
        switch self {
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { Array($0) }
        case .data(let data): Array(data)
        case .encrypted(let value): value.blind.map { Array($0) }
        default: nil
        }
    }
}
