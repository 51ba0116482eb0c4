import Foundation
import StrataModel
import Testing

struct KeyRangeTests {
    private func holds(_ range: KeyRange?, _ key: [UInt8]) -> Bool {
        guard let range else { return false }
        let isBehindStart = !key.lexicographicallyPrecedes(range.lower)
        return isBehindStart && range.upper.map { key.lexicographicallyPrecedes($0) } ?? true
    }

    /// The number as exact decimal text; nil for NaN and nil.
    private func compare(_ left: AttributeValue, _ right: AttributeValue) -> ComparisonResult? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): order(left, right)
        case (.integer(let left), .double(let right)): order(left, right)
        case (.double(let left), .integer(let right)):
            order(right, left).flatMap { ComparisonResult(rawValue: -$0.rawValue) }
        case (.double(let left), .double(let right)): order(left, right)
        case (.decimal(let left), .decimal(let right)): order(left, right)
        case (.decimal(let left), .integer(let right)): order(left, Decimal(right))
        case (.integer(let left), .decimal(let right)): order(Decimal(left), right)
        case (.string(let left), .string(let right)): order(left, right)
        default: nil
        }
    }

    private func order<T: Comparable>(_ left: T, _ right: T) -> ComparisonResult? {
        left < right ? .orderedAscending : left > right ? .orderedDescending : left == right ? .orderedSame : nil
    }

    /// Compares exactly, where converting the integer would round.
    private func order(_ left: Int64, _ right: Double) -> ComparisonResult? {
        if right.isNaN { return nil }
        if right >= 0x1p63 { return .orderedAscending }
        if right < -0x1p63 { return .orderedDescending }
        let floor = right.rounded(.down)
        return order(left, Int64(floor)) == .orderedSame && right > floor
            ? .orderedAscending : order(left, Int64(floor))
    }

    private func meets(_ value: AttributeValue, _ condition: KeyCondition) -> Bool {
        switch condition {
        case .any: return true
        case .isNull: return value == .null
        case .isNotNull: return value != .null
        case .equal(.null): return value == .null
        case .equal(let constant): return compare(value, constant) == .orderedSame
        case .range(let lower, let upper):
            if let lower {
                let result = compare(value, lower.value)
                guard result == .orderedDescending || lower.isInclusive && result == .orderedSame else { return false }
            }
            if let upper {
                let result = compare(value, upper.value)
                guard result == .orderedAscending || upper.isInclusive && result == .orderedSame else { return false }
            }
            return true
        case .beginsWith(let prefix):
            guard case .string(let text) = value else { return false }
            return TextFolding.fold(text, []).utf8.starts(with: TextFolding.fold(prefix, []).utf8)
        }
    }

    private func check(
        _ type: AttributeType, seed: UInt64, constant: (inout SeededGenerator) -> AttributeValue
    ) throws {
        let fixtures = [try KeyFixture(type), try KeyFixture(type, isAscending: false)]
        var random = SeededGenerator(seed: seed)
        var values = (0..<40).map { _ in RandomValues.value(type, using: &random) } + [.null]
        if type == .double { values.append(.double(.nan)) }
        for _ in 0..<80 {
            let low = KeyBound(constant(&random), isInclusive: Bool.random(using: &random))
            let high = KeyBound(constant(&random), isInclusive: Bool.random(using: &random))
            let conditions: [KeyCondition] = [
                .any, .isNull, .isNotNull, .equal(low.value), .range(lower: low, upper: nil),
                .range(lower: nil, upper: high), .range(lower: low, upper: high),
            ]
            for condition in conditions {
                for fixture in fixtures {
                    let range = try fixture.codec.range(then: condition)
                    for value in values {
                        let isHeld = holds(range, try fixture.key(value))
                        let isMet = meets(value, condition)
                        #expect(isHeld || !isMet, "\(value) left out of \(condition)")
                        if range?.needsRecheck == false { #expect(isHeld == isMet, "\(value) in \(condition)") }
                    }
                }
            }
        }
    }

    @Test func integersAgainstIntegers() throws {
        try check(.integer64, seed: 1) { .integer(RandomValues.integer(using: &$0)) }
    }

    @Test func integersAgainstDoubles() throws {
        try check(.integer64, seed: 2) { .double(RandomValues.double(using: &$0)) }
        #expect(try KeyFixture(.integer64).codec.range(then: .equal(.double(2.5))) == nil)
        let below = try KeyFixture(.integer16).codec.range(
            then: .range(lower: nil, upper: KeyBound(.double(2.5), isInclusive: false)))
        #expect(below?.needsRecheck == false)
        #expect(holds(below, try KeyFixture(.integer16).key(.integer(2))))
        #expect(!holds(below, try KeyFixture(.integer16).key(.integer(3))))
    }

    @Test func integersAgainstDecimals() throws {
        try check(.integer64, seed: 3) { .decimal(RandomValues.decimal(using: &$0)) }
        try check(.integer64, seed: 4) { .decimal(Decimal(RandomValues.integer(using: &$0)) + 0.5) }
    }

    @Test func doublesAgainstDoubles() throws {
        try check(.double, seed: 5) { .double(RandomValues.double(using: &$0)) }
    }

    @Test func doublesAgainstIntegers() throws {
        try check(.double, seed: 6) { .integer(RandomValues.integer(using: &$0)) }
    }

    @Test func decimalsAgainstDecimalsAndIntegers() throws {
        try check(.decimal, seed: 7) { .decimal(RandomValues.decimal(using: &$0)) }
        try check(.decimal, seed: 8) { .integer(RandomValues.integer(using: &$0)) }
    }

    @Test func decimalsAgainstDoublesAreCovered() throws {
        let fixture = try KeyFixture(.decimal)
        let examples: [(Decimal, Double)] = [
            (0.1, 0.1), (2.5, 2.5), (-7, -7), (Decimal(sign: .plus, exponent: -120, significand: 1), 1e-120),
            (Decimal(sign: .plus, exponent: 127, significand: 5) * 2, 1e128),
        ]
        for (number, double) in examples {
            try #require(!number.isNaN)
            let key = try fixture.key(.decimal(number))
            for isInclusive in [true, false] {
                let bound = KeyBound(.double(double), isInclusive: isInclusive)
                let range = try fixture.codec.range(then: .range(lower: bound, upper: bound))
                #expect(range == nil || range?.needsRecheck == true)
                #expect(holds(try fixture.codec.range(then: .equal(.double(double))), key), "\(number)")
            }
        }
        #expect(try fixture.codec.range(then: .equal(.double(.infinity))) == nil)
        let below = KeyCondition.range(lower: nil, upper: KeyBound(.double(.infinity), isInclusive: false))
        #expect(holds(try fixture.codec.range(then: below), try fixture.key(.decimal(.greatestFiniteMagnitude))))
    }

    @Test func textsAgainstTexts() throws {
        try check(.string, seed: 9) { .string(RandomValues.text(using: &$0)) }
    }

    @Test func beginningsOfTexts() throws {
        var random = SeededGenerator(seed: 10)
        let values = (0..<100).map { _ in RandomValues.value(.string, using: &random) }
        for _ in 0..<60 {
            let condition = KeyCondition.beginsWith(RandomValues.text(using: &random))
            for fixture in [try KeyFixture(.string), try KeyFixture(.string, isAscending: false)] {
                let range = try fixture.codec.range(then: condition)
                for value in values {
                    let isHeld = holds(range, try fixture.key(value))
                    #expect(isHeld == meets(value, condition), "\(value) in \(condition)")
                }
            }
        }
    }

    @Test func leadingElementsNarrowTheRange() throws {
        let codec = IndexKeyCodec(elements: [
            .init(slot: 0, kind: .text), .init(slot: 1, kind: .integer, isAscending: false),
        ])
        func key(_ text: String?, _ number: Int64?) throws -> [UInt8] {
            var writer = ByteWriter()
            let values = [text.map { AttributeValue.string($0) }, number.map { .integer($0) }].map { $0 ?? .null }
            _ = try codec.append(values, to: &writer)
            return writer.array
        }
        let range = try codec.range(
            equal: [.string("a")], then: .range(lower: KeyBound(.integer(3), isInclusive: false), upper: nil))
        #expect(holds(range, try key("a", 4)))
        #expect(!holds(range, try key("a", 3)))
        #expect(!holds(range, try key("a", nil)))
        #expect(!holds(range, try key("aa", 4)))
        #expect(!holds(range, try key(nil, 4)))
        let nilText = try codec.range(equal: [.null])
        #expect(holds(nilText, try key(nil, 4)))
        #expect(!holds(nilText, try key("", 4)))
        #expect(throws: UncomparableKey(element: 1)) { try codec.range(equal: [.string("a"), .string("b")]) }
    }

    @Test func cutKeysStayInEveryRangeTheyMayBelongTo() throws {
        let fixture = try KeyFixture(.string)
        let stem = String(repeating: "x", count: 600)
        let key = try fixture.key(.string(stem + "m"))
        let bound = KeyBound(.string(stem + "n"), isInclusive: false)
        for condition in [
            KeyCondition.equal(.string(stem + "n")), .range(lower: bound, upper: nil), .range(lower: nil, upper: bound),
            .beginsWith(stem + "n"),
        ] {
            let range = try fixture.codec.range(then: condition)
            #expect(range?.needsRecheck == true && holds(range, key))
        }
        let compound = IndexKeyCodec(elements: [.init(slot: 0, kind: .text), .init(slot: 1, kind: .integer)])
        let range = try compound.range(
            equal: [.string(stem)], then: .range(lower: KeyBound(.integer(1), isInclusive: false), upper: nil))
        var writer = ByteWriter()
        _ = try compound.append([.string(stem), .integer(2)], to: &writer)
        let cut = writer.array
        #expect(range?.needsRecheck == true && holds(range, cut))
    }

    @Test func nilAndNaNBoundNothing() throws {
        let bounds: [(AttributeType, AttributeValue)] = [
            (.objectID, .objectID(ObjectID(rawValue: 0))), (.double, .double(.nan)), (.decimal, .decimal(.nan)),
            (.string, .null), (.integer16, .float(.nan)),
        ]
        for (type, value) in bounds {
            let codec = try KeyFixture(type).codec
            let bound = KeyBound(value, isInclusive: true)
            #expect(try codec.range(then: .range(lower: bound, upper: nil)) == nil)
            #expect(try codec.range(then: .range(lower: nil, upper: bound)) == nil)
        }
        let nilRange = try KeyFixture(.objectID).codec.range(then: .equal(.objectID(ObjectID(rawValue: 0))))
        #expect(holds(nilRange, try KeyFixture(.objectID).key(.null)))
    }

    @Test func successorsSkipTrailingOnes() {
        #expect(KeyRange.successor(ofPrefix: [1, 2]) == [1, 3])
        #expect(KeyRange.successor(ofPrefix: [1, 0xFF, 0xFF]) == [2])
        #expect(KeyRange.successor(ofPrefix: [0xFF]) == nil)
        #expect(KeyRange.successor(ofPrefix: []) == nil)
    }
}
