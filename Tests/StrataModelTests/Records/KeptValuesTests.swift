import Foundation
import StrataTestSupport
import Testing

@testable import StrataModel

@Suite struct KeptValuesTests {
    private func encoded(_ values: borrowing KeptValues) -> [UInt8] {
        var writer = ByteWriter()
        values.encode(into: &writer)
        return writer.array
    }

    private func read(_ bytes: [UInt8], _ values: inout KeptValues) throws -> Int {
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            try values.read(&reader)
            return reader.offset
        }
    }

    /// The bytes of a record with a change; nil if it needs more than that.
    private func spliced(_ bytes: [UInt8], _ value: [UInt8], _ delta: Int64) throws -> [UInt8]? {
        var writer = ByteWriter()
        let isDone = try bytes.withUnsafeBytes { bytes in
            try value.withUnsafeBytes { try KeptValues.splice(bytes, $0, delta, into: &writer) }
        }
        return isDone ? writer.array : nil
    }

    private static func add(_ value: [UInt8], _ delta: Int64, to values: inout KeptValues) -> Bool {
        value.withUnsafeBytes { values.add($0, delta) }
    }

    private static func content(of values: borrowing KeptValues) -> (values: [[UInt8]], counts: [Int64]) {
        var content: (values: [[UInt8]], counts: [Int64]) = ([], [])
        for index in 0..<values.count {
            content.values.append(Array(values.value(index)))
            content.counts.append(values.objectCount(index))
        }
        return content
    }

    @Test func valuesWithOneStartTakeFewBytes() throws {
        var values = KeptValues()
        for number in [5, 1, 300] as [Int64] {
            var key = ByteWriter()
            KeyEncoding.append(number, to: &key)
            let isAdded = Self.add(Array(key.bytes), number, to: &values)
            #expect(isAdded)
        }
        let golden: [UInt8] = [0, 3, 9, 7, 1, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 0, 5, 5, 1, 44, 0xAC, 2]
        let bytes = encoded(values)
        #expect(bytes == golden)
        let first = try golden.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try KeptValues.first(1, mask: 0, &reader)
        }
        #expect(first.values == [[1, 0x80, 0, 0, 0, 0, 0, 0, 1]] && first.count == 3)
        let complemented = try golden.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try KeptValues.first(2, mask: 0xFF, &reader).values
        }
        #expect(
            complemented == [
                [254, 127, 255, 255, 255, 255, 255, 255, 254], [254, 127, 255, 255, 255, 255, 255, 255, 250],
            ])
    }

    @Test(arguments: RandomTesting.seeds) func theyAreACountedSet(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var values = KeptValues()
        var expected: [[UInt8]: Int64] = [:]
        var spliceCount = 0
        for step in 0..<400 {
            let size = seed % 2 == 0 ? 2 : Int.random(in: 1...4, using: &generator)
            let value = (0..<size).map { _ in UInt8.random(in: 0...3, using: &generator) }
            let delta = Int64.random(in: -2...(step < 300 ? 3 : 200), using: &generator)
            let after = (expected[value] ?? 0) + delta
            guard after >= 0, expected[value] != nil || delta > 0 else { continue }
            values.otherCount = step.isMultiple(of: 3) ? 0 : Int64(step) << 5
            let before = encoded(values)
            let isAdded = Self.add(value, delta, to: &values)
            expected[value] = after == 0 ? nil : after
            let bytes = encoded(values)
            if let quick = try spliced(before, value, delta) {
                #expect(quick == bytes)
                spliceCount += 1
            }
            var other = KeptValues()
            let readCount = try read(bytes, &other)
            let found = Self.content(of: other)
            let sorted = expected.keys.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(isAdded && readCount == bytes.count && found.values == sorted)
            #expect(found.counts == sorted.map { expected[$0] ?? 0 })
            let (otherCount, sizeInBytes, again) = (other.otherCount, other.sizeInBytes, encoded(other))
            let otherCountBefore = values.otherCount
            #expect(
                otherCount == otherCountBefore && sizeInBytes == sorted.reduce(0) { $0 + $1.count } && again == bytes)
            values = other
        }
        #expect(seed % 2 == 1 || spliceCount > 10)
        let isTaken = Self.add([9, 9, 9], -1, to: &values)
        #expect(!isTaken)
        // Whatever the bytes say, they are read or refused.
        let bytes = encoded(values)
        for count in 0..<bytes.count {
            #expect(throws: CorruptRecord.self) {
                var values = KeptValues()
                _ = try read(Array(bytes[..<count]), &values)
            }
        }
        for _ in 0..<2_000 {
            var harmed = bytes
            harmed[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            var values = KeptValues()
            _ = try? read(harmed, &values)
            _ = try? harmed.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                _ = try AggregateState(.minimum, &reader)
            }
        }
    }

    @Test func signedNumbersOfEverySizeAreRead() throws {
        for number in [0, 1, -1, 63, -64, 64, 1 << 62, -(1 << 63), 1 << 63, 1 << 100, -(1 << 120), .max, .min]
            as [Int128]
        {
            var writer = ByteWriter()
            writer.append(zigzag: number)
            var reader = ByteReader(writer.bytes)
            #expect(try reader.readZigzag() == number && reader.isAtEnd, "\(number)")
        }
    }
}
