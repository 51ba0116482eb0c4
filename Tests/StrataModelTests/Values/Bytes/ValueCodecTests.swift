import Foundation
import StrataModel
import Testing

struct ValueCodecTests {
    static let examples: [(AttributeValue, String)] = [
        (.null, "00"), (.boolean(false), "01"), (.boolean(true), "02"),
        (.integer(-2), "03feffffffffffffff"), (.float(1.5), "040000c03f"), (.double(-0.0), "050000000000000080"),
        (.decimal(Decimal(string: "-12.50") ?? 0), "067d00000000000000" + "0000000000000000" + "ffff0100"),
        (.decimal(0), "06" + String(repeating: "00", count: 20)),
        (.decimal(.nan), "06" + String(repeating: "00", count: 18) + "0100"),
        (.string("é"), "0702000000c3a9"), (.string(""), "0700000000"),
        (.date(Date(timeIntervalSinceReferenceDate: 1)), "08000000000000f03f"),
        (.uuid(RowFixtures.uuid), "09000102030405060708090a0b0c0d0e0f"),
        (.url(URL(string: "a:b") ?? URL(filePath: "/")), "0a03000000613a62"), (.data(Data([7])), "0b0100000007"),
        (
            .blob(BlobReference(digest: Data(repeating: 1, count: 32), sizeInBytes: 2)),
            "0c" + String(repeating: "01", count: 32) + "0200000000000000"
        ),
        (.objectID(ObjectID(rawValue: 0x0102)), "0d0201000000000000"),
        (
            .composite(["b": .null, "a": .composite([:])]),
            "0e02000000" + "01000000" + "61" + "0e00000000" + "01000000" + "62" + "00"
        ),
    ]

    private func encode(_ value: AttributeValue) throws -> [UInt8] {
        var writer = ByteWriter()
        try ValueCodec.encode(value, into: &writer)
        return writer.array
    }

    private func decode(_ bytes: [UInt8]) throws -> AttributeValue {
        try bytes.withUnsafeBytes { bytes throws in
            var reader = ByteReader(bytes)
            let value = try ValueCodec.decode(&reader)
            try reader.expectEnd()
            return value
        }
    }

    @Test func goldenBytesOfEveryKind() throws {
        for (value, bytes) in Self.examples {
            #expect(try encode(value).hex == bytes)
            #expect(try decode(encode(value)) == value)
        }
    }

    @Test func valuesCutAtEveryLengthAreRefused() throws {
        for (value, _) in Self.examples {
            let bytes = try encode(value)
            for count in 0..<bytes.count {
                #expect(throws: CorruptRecord.self) { try decode(Array(bytes[..<count])) }
            }
            #expect(throws: CorruptRecord.self) { try decode(bytes + [0]) }
        }
    }

    @Test func flippedBitsGiveErrorsOrOtherValues() throws {
        for (value, _) in Self.examples {
            let bytes = try encode(value)
            for offset in bytes.indices {
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[offset] ^= 1 << UInt8(bit)
                    guard let other = try? decode(damaged) else { continue }
                    #expect(try encode(other) == damaged, "what is read is written the same way")
                }
            }
        }
    }

    @Test func previousStandsForAValue() throws {
        var writer = ByteWriter()
        try ValueCodec.encode(RecordedValue.previous, into: &writer)
        try ValueCodec.encode(RecordedValue.value(.integer(1)), into: &writer)
        let bytes = writer.array
        #expect(bytes.hex == "0f" + "030100000000000000")
        try bytes.withUnsafeBytes { bytes throws in
            var reader = ByteReader(bytes)
            #expect(try ValueCodec.decodeRecorded(&reader) == .previous)
            #expect(try ValueCodec.decodeRecorded(&reader) == .value(.integer(1)))
            #expect(throws: CorruptRecord.self) { try ValueCodec.decodeRecorded(&reader) }
        }
        #expect(throws: CorruptRecord.self, "a plain value is never `previous`") { try decode([15]) }
    }

    private func nested(_ depth: Int) -> AttributeValue {
        (0..<depth).reduce(.integer(1)) { value, _ in .composite(["x": value]) }
    }

    @Test func compositesNestSixteenDeep() throws {
        #expect(try decode(encode(nested(16))) == nested(16))
        #expect(throws: UnstorableValue(.nestedTooDeep)) { try encode(nested(17)) }
        let level: [UInt8] = [14, 1, 0, 0, 0, 0, 0, 0, 0]
        let deep = [UInt8]((0..<100_000).map { _ in level }.joined())
        #expect(throws: CorruptRecord.self) { try decode(deep) }
    }

    @Test func aFailedValueLeavesNothingBehind() throws {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        #expect(throws: UnstorableValue.self) {
            try ValueCodec.encode(.composite(["a": .integer(1), "b": nested(17)]), into: &writer)
        }
        #expect(writer.count == 1)
    }

    @Test func elementsStandOnceAndInOrder() throws {
        let a: [UInt8] = [1, 0, 0, 0, 0x61, 0]
        let b: [UInt8] = [1, 0, 0, 0, 0x62, 0]
        #expect(try decode([14, 2, 0, 0, 0] + a + b) == .composite(["a": .null, "b": .null]))
        #expect(throws: CorruptRecord.self) { try decode([14, 2, 0, 0, 0] + b + a) }
        #expect(throws: CorruptRecord.self) { try decode([14, 2, 0, 0, 0] + a + a) }
        let composed: [UInt8] = [2, 0, 0, 0, 0xC3, 0xA9, 0]
        let decomposed: [UInt8] = [3, 0, 0, 0, 0x65, 0xCC, 0x81, 0]
        #expect(throws: CorruptRecord.self, "one name in two spellings") {
            try decode([14, 2, 0, 0, 0] + decomposed + composed)
        }
    }

    @Test func countsBeyondTheInputAllocateNothing() {
        #expect(throws: CorruptRecord.self) { try decode([14, 0xFF, 0xFF, 0xFF, 0xFF]) }
        #expect(throws: CorruptRecord.self) { try decode([11, 0xFF, 0xFF, 0xFF, 0xFF]) }
        #expect(throws: CorruptRecord.self) { try decode([7, 0xFF, 0xFF, 0xFF, 0xFF, 0x61]) }
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<40, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if !bytes.isEmpty { bytes[0] %= 17 }
            if let value = try? decode(bytes) {
                #expect((try? encode(value)) == bytes)
            }
        }
    }
}

struct DecimalPartsTests {
    private func parts(_ text: String) throws -> DecimalParts { DecimalParts(try #require(Decimal(string: text))) }

    @Test func trailingZerosGoIntoTheExponent() throws {
        #expect(try parts("1200") == DecimalParts(normalizing: 12, exponent: 2, isNegative: false))
        #expect(try parts("1.50") == parts("1.5"))
        #expect(try parts("-0") == DecimalParts(normalizing: 0, exponent: 9, isNegative: true))
        #expect(DecimalParts(Decimal(sign: .plus, exponent: 5, significand: 10)) == DecimalParts(1_000_000))
    }

    /// Foundation hides the mantissa on Linux, but its text shows it.
    @Test func theMantissaIsThatOfTheText() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<2_000 {
            let digits = Int.random(in: 1...38, using: &random)
            let mantissa = String((0..<digits).map { _ in Character(String(Int.random(in: 0...9, using: &random))) })
            let exponent = Int.random(in: -120...80, using: &random)
            let value = try #require(Decimal(string: "\(mantissa)e\(exponent)"))
            let expected = DecimalParts(
                normalizing: try #require(UInt128(mantissa)), exponent: exponent, isNegative: false)
            #expect(DecimalParts(value) == expected, "\(mantissa)e\(exponent)")
            #expect(try expected.decimal(at: 0) == value)
        }
    }

    @Test func extremesReadBack() throws {
        let extremes = [
            Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude,
            Decimal(sign: .minus, exponent: 127, significand: 5) * 2,
            Decimal(sign: .plus, exponent: 127, significand: 25) * 4 * 4 * 25 * 3,
            .greatestFiniteMagnitude - Decimal(sign: .plus, exponent: 127, significand: 455),
            Decimal(sign: .plus, exponent: -127, significand: 3), 0,
        ]
        #expect(try DecimalParts(.nan).decimal(at: 0).isNaN)
        for value in extremes {
            try #require(!value.isNaN)
            #expect(try DecimalParts(value).decimal(at: 0) == value)
        }
    }

    @Test func numbersThatDecimalCannotHoldAreCorrupt() {
        for exponent in [-400, -129, 128 + 38, 400] {
            let parts = DecimalParts(normalizing: UInt128.max, exponent: exponent, isNegative: false)
            #expect(throws: CorruptRecord.self) { try parts.decimal(at: 0) }
        }
    }
}

struct XXH64Tests {
    private func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { XXH64.hash($0, seed: seed) }
    }

    @Test func publishedVectors() {
        #expect(hash([]) == 0xEF46_DB37_51D8_E999)
        #expect(hash(Array("a".utf8)) == 0xD24E_C4F1_A98C_6E5B)
        #expect(hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
        #expect(hash(Array("Nobody inspects the spammish repetition".utf8)) == 0xFBCE_A83C_8A37_8BF1)
    }

    /// The sanity buffer of the reference implementation: top bytes of a multiplicative generator.
    @Test func vectorsOfTheReferenceImplementation() {
        var generator: UInt64 = 2_654_435_761
        let buffer = (0..<222).map { _ in
            defer { generator &*= 11_400_714_785_074_694_797 }
            return UInt8(generator >> 56)
        }
        let prime: UInt64 = 2_654_435_761
        #expect(hash([], seed: prime) == 0xAC75_FDA2_929B_17EF)
        #expect(hash(Array(buffer[..<1])) == 0xE934_A84A_DB05_2768)
        #expect(hash(Array(buffer[..<1]), seed: prime) == 0x5014_6076_43A9_B4C3)
        #expect(hash(Array(buffer[..<14])) == 0x8282_DCC4_994E_35C8)
        #expect(hash(Array(buffer[..<14]), seed: prime) == 0xC3BD_6BF6_3DEB_6DF0)
        #expect(hash(buffer) == 0xB641_AE8C_B691_C174)
        #expect(hash(buffer, seed: prime) == 0x20CB_8AB7_AE10_C14A)
    }

    @Test func everyAlignmentHashesAlike() {
        let bytes = (0..<100).map { UInt8($0) }
        for shift in 1..<8 {
            let moved = [UInt8](repeating: 0xEE, count: shift) + bytes
            moved.withUnsafeBytes { moved in
                #expect(XXH64.hash(UnsafeRawBufferPointer(rebasing: moved[shift...])) == hash(bytes))
            }
        }
    }
}

struct ByteBufferTests {
    @Test func writtenNumbersReadBack() throws {
        var writer = ByteWriter(capacity: 1)
        for round in 0..<100 {
            writer.append(UInt8(round))
            writer.append(littleEndian: UInt16(round))
            writer.append(littleEndian: Int64(-round))
            writer.append(bigEndian: UInt32(round))
        }
        #expect(writer.count == 1500)
        let bytes = writer.array
        try bytes.withUnsafeBytes { bytes throws in
            var reader = ByteReader(bytes)
            for round in 0..<100 {
                #expect(try reader.readByte() == UInt8(round))
                #expect(try reader.readInteger(as: UInt16.self) == UInt16(round))
                #expect(try reader.readInteger(as: Int64.self) == Int64(-round))
                #expect(try reader.readInteger(as: UInt32.self) == UInt32(round).byteSwapped)
            }
            try reader.expectEnd()
            #expect(throws: CorruptRecord.self) { try reader.readByte() }
            #expect(throws: CorruptRecord.self) { try reader.readInteger(as: UInt16.self) }
            #expect(throws: CorruptRecord.self) { try reader.readBytes(1) }
        }
    }

    @Test func lengthsAreFilledInAfterwards() {
        var writer = ByteWriter()
        writer.append(littleEndian: UInt32(0))
        writer.append(UInt8(7))
        writer.overwrite(littleEndian: UInt32(0x0403_0201), at: 0)
        writer.complement(from: 4)
        let bytes = writer.array
        #expect(bytes == [1, 2, 3, 4, 0xF8])
        writer.truncate(to: 2)
        #expect(writer.count == 2)
        writer.reset()
        #expect(writer.count == 0)
    }

    @Test func offsetsInErrorsCountFromTheRecord() {
        let bytes: [UInt8] = [1, 2]
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, origin: 40)
            _ = try? reader.readByte()
            let error = #expect(throws: CorruptRecord.self) { try reader.readInteger(as: UInt64.self) }
            #expect(error?.offset == 41)
        }
    }
}
