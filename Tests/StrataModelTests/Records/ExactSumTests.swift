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
}
