import Foundation
import StrataTestSupport
import Testing

@testable import StrataModel

@Suite struct ExactSumTests {
    private func bytes(_ sum: DoubleSum) -> [UInt8] {
        var writer = ByteWriter()
        sum.encode(into: &writer)
        return writer.array
    }

    private func sum(_ values: [Double]) -> DoubleSum {
        var sum = DoubleSum()
        for value in values { sum.add(value, 1) }
        return sum
    }

    /// The numbers are chosen so that their sum is a whole number of 128 bits in units of 2^-40.
    @Test(arguments: RandomTesting.seeds)
    func aSumOfDoublesIsExactAndRoundedOnce(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var exact: Int128 = 0
            var values: [Double] = []
            for _ in 0..<Int.random(in: 1...60, using: &generator) {
                let significand = Int64.random(in: -(1 << 40)...(1 << 40), using: &generator)
                let exponent = Int.random(in: -40...38, using: &generator)
                values.append(scalbn(Double(significand), exponent))
                exact += Int128(significand) << Int128(exponent + 40)
            }
            let expected = scalbn(Double(exact), -40)
            #expect(sum(values).rounded == expected, "seed \(seed), \(values)")
        }
    }

    @Test(arguments: RandomTesting.seeds)
    func theOrderOfChangesDoesNotMatter(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var values: [Double] = []
        for _ in 0..<80 {
            let bits = UInt64.random(in: 0 ... .max, using: &generator)
            values.append(Double(bitPattern: bits))
        }
        values += [0.1, -0.1, 1e300, -1e300, .leastNonzeroMagnitude, -0.0, .infinity, .nan, .greatestFiniteMagnitude]
        let whole = sum(values)
        var shuffled = DoubleSum()
        let extra = values.shuffled(using: &generator)
        for value in extra { shuffled.add(value, 1) }
        for value in values.shuffled(using: &generator) { shuffled.add(value, 1) }
        for value in extra.shuffled(using: &generator) { shuffled.add(value, -1) }
        #expect(bytes(shuffled) == bytes(whole), "seed \(seed)")
        var merged = sum(Array(values[..<30]))
        merged.add(sum(Array(values[30...])))
        #expect(bytes(merged) == bytes(whole), "seed \(seed)")
        for value in values { merged.add(value, -1) }
        #expect(bytes(merged) == bytes(DoubleSum()), "seed \(seed)")
    }

    @Test func theEndsOfTheRangeAreExact() {
        #expect(sum([1e300, 1, -1e300]).rounded == 1)
        let least = Double.leastNonzeroMagnitude
        #expect(sum([least, least]).rounded == 2 * least)
        #expect(sum([-least]).rounded == -least)
        let greatest = Double.greatestFiniteMagnitude
        #expect(sum([greatest, greatest]).rounded == .infinity)
        #expect(sum([-greatest, -greatest, greatest]).rounded == -greatest)
        // Ties go to the even significand; a bit far below decides otherwise.
        #expect(sum([1, 0x1p-53]).rounded == 1)
        let next = Double(1).nextUp
        #expect(sum([1, 0x1p-53, 0x1p-1000]).rounded == next)
        #expect(sum([next, 0x1p-53]).rounded == next.nextUp)
        #expect(sum([.infinity, 1]).rounded == .infinity)
        #expect(sum([.infinity, -.infinity]).rounded.isNaN)
        #expect(sum([.nan, 1]).rounded.isNaN)
        #expect(sum([0.1, 0.2, 0.3]).rounded == 0.6)
        #expect(sum([]).rounded == 0)
    }

    @Test(arguments: RandomTesting.seeds)
    func sumsAreReadAsTheyWereWritten(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for count in 0..<40 {
            let values = (0..<count).map { _ in Double(bitPattern: UInt64.random(in: 0 ... .max, using: &generator)) }
            let written = bytes(sum(values))
            try written.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                let read = try DoubleSum(&reader)
                #expect(read == sum(values))
                #expect(reader.isAtEnd)
            }
            for end in 0..<written.count {
                _ = written[..<end].withUnsafeBytes { bytes in
                    #expect(throws: CorruptRecord.self) {
                        var reader = ByteReader(bytes)
                        _ = try DoubleSum(&reader)
                    }
                }
            }
        }
    }

    @Test(arguments: RandomTesting.seeds)
    func aSumOfDecimalsIsExact(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var total = Decimal(0)
        var values: [Decimal] = []
        for _ in 0..<200 {
            let cents = Int64.random(in: -1_000_000_000...1_000_000_000, using: &generator)
            let value = Decimal(cents) / pow(10, Int.random(in: 0...6, using: &generator))
            values.append(value)
            total += value
        }
        var sum = DecimalSum()
        for value in values.shuffled(using: &generator) { sum.add(DecimalParts(value), 1) }
        #expect(sum.total() == total, "seed \(seed)")
        var writer = ByteWriter()
        sum.encode(into: &writer)
        try writer.array.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let read = try DecimalSum(&reader)
            #expect(read == sum)
        }
        sum.add(DecimalParts(.nan), 1)
        #expect(sum.total().isNaN)
        sum.add(DecimalParts(.nan), -1)
        for value in values.shuffled(using: &generator) { sum.add(DecimalParts(value), -1) }
        #expect(sum == DecimalSum(), "seed \(seed)")
    }

    @Test func aSumOfDecimalsMayLeaveTheMantissaAndComeBack() {
        var sum = DecimalSum()
        let large = Decimal(string: "99999999999999999999999999999999999999") ?? 0
        for _ in 0..<1000 { sum.add(DecimalParts(large), 1) }
        for _ in 0..<1001 { sum.add(DecimalParts(large), -1) }
        #expect(sum.total() == -large)
    }

    // MARK: Rounding

    private static func decimal(_ text: String) -> Decimal {
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) ?? .nan
    }

    private func total(_ texts: [String]) throws -> AttributeValue {
        var sum = ExactSum(of: .decimal)
        for text in texts { try sum.add(.decimal(Self.decimal(text))) }
        return sum.total
    }

    @Test(arguments: [
        // What is exact, beyond the digits in which Foundation adds.
        (["99999999999999999999999999999", "0.679398521"], "99999999999999999999999999999.679398521"),
        (["99999999999999999999999999999", "0.6793985210462", "-99999999999999999999999999999"], "0.6793985210462"),
        (["1e127", "1e-128", "-1e127"], "1e-128"), (["9e127", "9e127"], "18e127"),
        (
            ["99999999999999999999999999999999999999e90", "99999999999999999999999999999999999999e90"],
            "199999999999999999999999999999999999998e90"
        ),
        // 38 digits, halves to the even one.
        (["40000000000000000000000000000000000000", "0.5"], "40000000000000000000000000000000000000"),
        (["40000000000000000000000000000000000001", "0.5"], "40000000000000000000000000000000000002"),
        (["40000000000000000000000000000000000000", "0.5", "1e-100"], "40000000000000000000000000000000000001"),
        (["-40000000000000000000000000000000000001", "-0.5"], "-40000000000000000000000000000000000002"),
        (["99999999999999999999999999999999999999", "0.9"], "100000000000000000000000000000000000000"), ([], "0"),
    ])
    func aSumOfDecimalsIsRoundedOnce(texts: [String], total expected: String) throws {
        for texts in [texts, texts.reversed()] {
            guard case .decimal(let total) = try total(texts) else {
                Issue.record("\(texts) have no sum")
                continue
            }
            #expect(DecimalParts(total) == DecimalParts(Self.decimal(expected)), "\(texts): \(total)")
        }
    }

    @Test func aSumThatNoDecimalIsLargeEnoughForIsNil() throws {
        let largest = "340282366920938463463374607431768211455e127"
        #expect(try total(Array(repeating: largest, count: 2)) == .null)
        #expect(try total([largest, "NaN"]) == .null)
    }

    @Test(arguments: RandomTesting.seeds)
    func sumsOfDecimalsOfAnySizeDoNotDependOnTheOrder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<50 {
            var values = (0..<Int.random(in: 1...30, using: &generator)).map { _ -> Decimal in
                let digits = (0..<Int.random(in: 1...38, using: &generator)).map { _ in
                    String(Int.random(in: 0...9, using: &generator))
                }
                let exponent = Int.random(in: -128...89, using: &generator)
                let sign = Bool.random(using: &generator) ? "-" : ""
                return Self.decimal("\(sign)\(digits.joined())e\(exponent)")
            }
            // Large numbers that cancel each other leave the small ones.
            values += values.prefix(5).map { -$0 }
            var results: Set<AttributeValue> = []
            for _ in 0..<4 {
                values.shuffle(using: &generator)
                var (sum, kept) = (ExactSum(of: .decimal), DecimalSum())
                for value in values {
                    try sum.add(.decimal(value))
                    kept.add(DecimalParts(value), 1)
                }
                var record = ByteWriter()
                record.append(varint: UInt64(values.count))
                kept.encode(into: &record)
                var reader = ByteReader(record.bytes)
                let state = try AggregateState(.decimalSum, &reader)
                results.insert(sum.total)
                results.insert(try state.result(.decimalSum, .sum, .decimal, rowCount: 0))
                #expect(try state.result(.decimalSum, .average, .decimal, rowCount: 0) == sum.mean)
            }
            #expect(results.count == 1, "seed \(seed), round \(round): \(results)")
        }
    }

    @Test func anAverageOfDecimalsIsRoundedOnce() throws {
        func mean(_ texts: String...) throws -> AttributeValue {
            var sum = ExactSum(of: .decimal)
            for text in texts { try sum.add(.decimal(Self.decimal(text))) }
            return sum.mean
        }
        #expect(try mean("1", "1", "1") == .decimal(1))
        #expect(try mean("1", "0", "1") == .decimal(Self.decimal("0." + String(repeating: "6", count: 37) + "7")))
        #expect(try mean("1", "0") == .decimal(Self.decimal("0.5")))
        #expect(
            try mean("99999999999999999999999999999", "0.679398521", "1e-20")
                == .decimal(Self.decimal("33333333333333333333333333333.226466174")))
        #expect(try mean() == .null)
    }

    @Test func wholeNumbersBeyondTheirTypeAndMixturesAreExact() throws {
        func total(_ values: [AttributeValue]) throws -> AttributeValue {
            var sums = try [values, values.reversed()].map { values in
                var sum = ExactSum()
                for value in values { try sum.add(value) }
                return sum.total
            }
            #expect(sums[0] == sums[1])
            return sums.removeLast()
        }
        #expect(try total([.integer(.max), .integer(1), .integer(-5)]) == .integer(.max - 4))
        #expect(try total([.integer(.max), .integer(1)]) == .decimal(Self.decimal("9223372036854775808")))
        #expect(try total([.double(1e308), .double(1e308), .double(-1e308)]) == .double(1e308))
        #expect(try total([.float(0.1), .float(0.2), .float(0.3)]) == .double(0.6))
        #expect(try total([.integer(1), .decimal(Self.decimal("0.5"))]) == .decimal(Self.decimal("1.5")))
        #expect(try total([.integer(.max), .double(0.5), .integer(-.max)]) == .double(0.5))
        #expect(try total([.double(.infinity), .double(1)]) == .double(.infinity))
        #expect(try total([.double(.infinity), .double(-.infinity)]) == .null)
        #expect(try total([.null, .boolean(true)]) == .integer(1))
        #expect(throws: StrataError.self) { try total([.string("1")]) }
    }

    @Test(arguments: RandomTesting.seeds)
    func runningSumsOfDoublesAreThoseOfTheLongAccumulator(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let values = (0..<Int.random(in: 1...20, using: &generator)).map { _ -> Double in
                let bits = UInt64.random(in: 0...UInt64.max, using: &generator)
                let narrow = bits & ~(0x7FF << 52) | UInt64.random(in: 1000...1060, using: &generator) << 52
                return Double(bitPattern: Bool.random(using: &generator) ? bits : narrow)
            }
            var (running, long) = (RunningDouble(), DoubleSum())
            for value in values {
                running.add(value)
                long.add(value, 1)
            }
            let (one, other) = (running.rounded, long.rounded)
            #expect(one == other || one.isNaN && other.isNaN, "seed \(seed): \(values)")
        }
    }
}
