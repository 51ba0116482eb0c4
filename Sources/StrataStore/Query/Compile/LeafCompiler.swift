import Foundation
import StrataModel

/// Makes the test of one path against constants of its own kind, and wraps it in the joins on the way there.
struct LeafCompiler {
    let path: ResolvedPath
    let type: ComparedType
    let operation: ComparisonPredicate.Operator
    let folding: StringFolding
    let quantifier: MemberQuantifier

    /// `values` were coerced to the path's type; there are two for BETWEEN, any number for IN, else one.
    func compiled(_ values: [AttributeValue], _ predicate: FetchPredicate) throws(StrataError) -> CompiledTest {
        // An object is compared by the reference to it; nothing is joined for that.
        if case .object = path.end, !path.hops.isEmpty, let test = lastHopTest(values) {
            var compiled = CompiledTest(wrapped(test, path.hopsBeforeLast), predicate)
            if path.hops.count == 1, case .toOne(let slot) = path.hops[0] {
                compiled.condition = condition(slot: slot, [], values)
            }
            if path.hops.count == 1, case .toMany(let relationship) = path.hops[0], quantifier == .any, isMembership {
                compiled.members = (relationship, values.compactMap(\.object))
            }
            return compiled
        }
        var compiled = CompiledTest(wrapped(try test(values), path.hops[...]), predicate)
        guard path.hops.isEmpty else { return compiled }
        switch path.end {
        case .object: compiled.objects = isMembership ? values.compactMap(\.object) : nil
        case .attribute(let slot, _): compiled.condition = condition(slot: slot, [], values)
        case .element(let slot, let names, _): compiled.condition = condition(slot: slot, names, values)
        case .count: break
        }
        return compiled
    }

    private var isMembership: Bool { operation == .equalTo || operation == .in }

    private func wrapped(_ test: any RowTest, _ hops: ArraySlice<ResolvedPath.Hop>) -> any RowTest {
        hops.reversed().reduce(test) { inner, hop in
            switch hop {
            case .toOne(let slot): JoinTest(slot: slot, inner)
            case .toMany(let relationship): MembersTest(relationship, quantifier, inner)
            }
        }
    }

    // MARK: Tests

    private func test(_ values: [AttributeValue]) throws(StrataError) -> any RowTest {
        switch path.end {
        case .object: return any(values) { SelfTest($0) }
        case .count(let relationship):
            let ranges = integerRanges(values)
            return MemberCountTest(relationship, ranges, isInside: operation != .notEqualTo)
        case .element: return ValueTest(.path(end), operation, operand(values), nil, folding)
        case .attribute(let slot, _): return try attributeTest(slot, values)
        }
    }

    /// The path's end alone, for the row that the hops lead to.
    private var end: ValuePath { ValuePath(end: path.end) }

    private func operand(_ values: [AttributeValue]) -> ValueOperand {
        operation == .in || operation == .between
            ? .list(values.map(ValueOperand.constant)) : .constant(values.first ?? .null)
    }

    private func attributeTest(_ slot: Int, _ values: [AttributeValue]) throws(StrataError) -> any RowTest {
        if operation == .in, values.contains(.null) {
            let others = try attributeTest(slot, values.filter { !$0.isNull })
            return OrTest([NilTest(slot: slot, wantsNil: true), others])
        }
        if values == [.null] {
            switch operation {
            case .equalTo: return NilTest(slot: slot, wantsNil: true)
            case .notEqualTo: return NilTest(slot: slot, wantsNil: false)
            default: return ConstantTest(false)
            }
        }
        if values.isEmpty || values.contains(.null) { return ConstantTest(false) }
        switch type {
        case .integer, .boolean: return integerTest(slot, values)
        case .floatingPoint, .date: return floatingPointTest(slot, values)
        case .text, .url: return try textTest(BytesSource(slot: slot, folding: folding), values)
        case .uuid, .data: return bytesTest(BytesSource(slot: slot, folding: nil), values.compactMap(\.rawBytes))
        case .object: return any(values) { ReferenceTest(slot: slot, $0) }
        case .decimal, .composite, .outside: return ValueTest(.path(end), operation, operand(values), nil, folding)
        }
    }

    private func integerTest(_ slot: Int, _ values: [AttributeValue]) -> any RowTest {
        let ranges = integerRanges(values)
        if ranges.isEmpty {
            return operation == .notEqualTo ? NilTest(slot: slot, wantsNil: false) : ConstantTest(false)
        }
        return IntegerTest(slot: slot, ranges, isInside: operation != .notEqualTo)
    }

    private func floatingPointTest(_ slot: Int, _ values: [AttributeValue]) -> any RowTest {
        let ranges = floatingPointRanges(values)
        if ranges.isEmpty {
            return operation == .notEqualTo ? NilTest(slot: slot, wantsNil: false) : ConstantTest(false)
        }
        return FloatingPointTest(slot: slot, ranges, isInside: operation != .notEqualTo)
    }

    private func textTest(_ source: BytesSource, _ values: [AttributeValue]) throws(StrataError) -> any RowTest {
        let texts = values.compactMap(\.text)
        switch (operation, texts.first) {
        case (.beginsWith, let text?): return TextSearchTest(source, TextFolding.bytes(text, folding), .start)
        case (.endsWith, let text?): return TextSearchTest(source, TextFolding.bytes(text, folding), .end)
        case (.contains, let text?): return TextSearchTest(source, TextFolding.bytes(text, folding), .anywhere)
        case (.like, let text?): return LikeTest(source, WildcardPattern(text, folding))
        case (.matches, let text?):
            let spelling = BytesSource(slot: source.slot, folding: folding.subtracting(.caseInsensitive))
            return MatchesTest(spelling, try PatternMatcher.comparing(text, folding))
        default: return bytesTest(source, texts.map { TextFolding.bytes($0, folding) })
        }
    }

    private func bytesTest(_ source: BytesSource, _ values: [[UInt8]]) -> any RowTest {
        func bound(_ index: Int, _ isIncluded: Bool) -> BytesRangeTest.Bound {
            BytesRangeTest.Bound(bytes: values[index], isIncluded: isIncluded)
        }
        switch operation {
        case .lessThan: return BytesRangeTest(source, lower: nil, upper: bound(0, false))
        case .lessThanOrEqualTo: return BytesRangeTest(source, lower: nil, upper: bound(0, true))
        case .greaterThan: return BytesRangeTest(source, lower: bound(0, false), upper: nil)
        case .greaterThanOrEqualTo: return BytesRangeTest(source, lower: bound(0, true), upper: nil)
        case .between: return BytesRangeTest(source, lower: bound(0, true), upper: bound(1, true))
        default: return BytesMembershipTest(source, values, isMember: operation != .notEqualTo)
        }
    }

    // MARK: Objects

    /// For a path that ends at an object: a test of the row that refers to it.
    private func lastHopTest(_ values: [AttributeValue]) -> (any RowTest)? {
        switch path.hops.last {
        case .toOne(let slot)?:
            if operation == .in, values.contains(.null) {
                return OrTest([
                    NilTest(slot: slot, wantsNil: true), any(values) { ReferenceTest(slot: slot, $0) },
                ])
            }
            if values == [.null], operation == .equalTo || operation == .notEqualTo {
                return NilTest(slot: slot, wantsNil: operation == .equalTo)
            }
            return any(values) { ReferenceTest(slot: slot, $0) }
        case .toMany(let relationship)?:
            if values == [.null], operation == .notEqualTo {
                let all: [ClosedRange<UInt64>] = [0...UInt64.max]
                return MemberIdentifierTest(relationship, quantifier, IdentifierCondition(all, isInside: true))
            }
            return MemberIdentifierTest(relationship, quantifier, identifiers(values))
        case nil: return nil
        }
    }

    private func any<Test: RowTest>(
        _ values: [AttributeValue], _ make: (IdentifierCondition) -> Test
    ) -> any RowTest {
        if values == [.null] { return ConstantTest(operation == .notEqualTo) }
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
        hops = []
        self.end = end
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
        default: nil
        }
    }
}
