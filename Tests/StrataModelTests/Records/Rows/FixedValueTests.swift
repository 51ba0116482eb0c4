import Foundation
import Testing

@testable import StrataModel

/// Compares values that are copied between rows and events as bits with the same as `AttributeValue`.
@Suite struct FixedValueTests {
    private static let layout = RowFixtures.everyKind
    /// Slots of `everyKind` that hold numbers, dates, ids and positions.
    private static let fixedSlots = [0, 1, 2, 3, 4, 5, 6, 9, 10, 11]

    private static func others() throws -> RowImage {
        var values = RowFixtures.values
        values[0] = .boolean(false)
        values[1] = .integer(300)
        values[2] = .integer(-1)
        values[3] = .integer(.max)
        values[4] = .float(-.infinity)
        values[5] = .double(.pi)
        values[6] = .date(Date(timeIntervalSinceReferenceDate: -7))
        values[9] = .objectID(ObjectID(rawValue: 5))
        values[10] = .null
        values[11] = .integer(-1)
        return try RowFixtures.image(layout, values)
    }

    private static func fixed(_ value: AttributeValue) throws -> FixedValue {
        var codec = ByteWriter()
        try ValueCodec.encode(value, into: &codec)
        var reader = ByteReader(codec.bytes)
        let read = try FixedValue(&reader)
        return try #require(read)
    }

    @Test func theyAreWrittenAsTheCodecWritesThem() throws {
        for image in [try RowFixtures.image(), try Self.others(), RowImage(canonical: Self.layout.emptyRow)] {
            try image.withReader(Self.layout) { row throws(CorruptRecord) in
                for slot in Self.layout.slots.indices {
                    let value = FixedValue(slot, of: row)
                    guard Self.fixedSlots.contains(slot) else {
                        // A UUID and a Decimal may be nil too.
                        let isNil = [7, 8].contains(slot) && row.isNull(slot)
                        #expect(value == nil || isNil)
                        continue
                    }
                    var own = ByteWriter()
                    var expected = ByteWriter()
                    value?.append(to: &own)
                    let whole = try row.value(slot)
                    #expect(throws: Never.self) { try ValueCodec.encode(whole, into: &expected) }
                    let (bytes, expectedBytes) = (own.array, expected.array)
                    #expect(bytes == expectedBytes)
                }
            }
        }
    }

    @Test func theyAreStoredAsTheBuilderStoresThem() throws {
        let (from, to) = (try RowFixtures.image(), try Self.others())
        for (source, target) in [(from, to), (to, from), (RowImage(canonical: Self.layout.emptyRow), to)] {
            for slot in Self.fixedSlots {
                let value = try source.withReader(Self.layout) { row throws(CorruptRecord) in try row.value(slot) }
                var builder = try RowBuilder(target, layout: Self.layout)
                try builder.set(slot, value)
                var bytes = target.bytes
                let read = try Self.fixed(value)
                bytes.withUnsafeMutableBytes { bytes in
                    guard let row = bytes.baseAddress else { return }
                    #expect(read.store(in: slot, of: row, Self.layout.entries[slot]))
                }
                #expect(bytes == (try builder.finish()).bytes, "slot \(slot)")
            }
        }
    }

    @Test func whatDoesNotFitIsNotStored() throws {
        let misfits: [(slot: Int, value: AttributeValue)] = [
            (0, .integer(1)), (1, .integer(40_000)), (2, .integer(1 << 40)), (4, .double(1)), (5, .float(1)),
            (5, .integer(1)), (10, .objectID(ObjectID(rawValue: 0))), (12, .null), (17, .null), (18, .null),
        ]
        for (slot, value) in misfits {
            let read = try Self.fixed(value)
            var bytes = try RowFixtures.image().bytes
            bytes.withUnsafeMutableBytes { bytes in
                guard let row = bytes.baseAddress else { return }
                #expect(!read.store(in: slot, of: row, Self.layout.entries[slot]), "slot \(slot)")
            }
            #expect(bytes == (try RowFixtures.image()).bytes)
        }
    }

    @Test func theyAreTheSameWhereValuesAre() throws {
        let values: [AttributeValue] = [
            .null, .boolean(true), .boolean(false), .integer(0), .integer(1), .float(0), .float(-0.0), .float(.nan),
            .double(0), .double(-0.0), .double(.nan), .double(1), .date(Date(timeIntervalSinceReferenceDate: 0)),
            .objectID(ObjectID(rawValue: 1)),
        ]
        for left in values {
            for right in values {
                let isSame = try Self.fixed(left).isIdentical(to: try Self.fixed(right))
                #expect(isSame == left.isIdentical(to: right), "\(left) and \(right)")
            }
        }
    }

    @Test func wholeValuesAreLeftAlone() throws {
        for value in [AttributeValue.string("a"), .data(Data([1])), .uuid(RowFixtures.uuid), .decimal(1)] {
            var codec = ByteWriter()
            try ValueCodec.encode(value, into: &codec)
            var reader = ByteReader(codec.bytes)
            let read = try FixedValue(&reader)
            #expect(read == nil)
        }
        var cut = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(throws: CorruptRecord.self) { try FixedValue(&cut) }
    }
}
