import Foundation
import StrataModel
import Testing

struct RowImageTests {
    let layout = RowFixtures.everyKind

    @Test func everyKindReadsBackAsWritten() throws {
        let image = try RowFixtures.image()
        try image.read(layout) { row throws in
            try row.validate()
            for (slot, value) in RowFixtures.values.enumerated() {
                #expect(try row.value(slot) == value)
                #expect(row.isNull(slot) == (value == .null))
            }
        }
    }

    @Test func typedAccessorsAgreeWithValues() throws {
        try RowFixtures.image().read(layout) { row throws in
            #expect(row.boolean(0) == true && row.integer(0) == 1)
            #expect(row.integer(1) == -2 && row.integer(2) == 70_000 && row.integer(3) == .min)
            #expect(row.float(4) == 1.5 && row.double(4) == 1.5)
            #expect(row.double(5) == 0 && row.double(5)?.sign == .minus)
            #expect(row.double(6) == 0.25)
            #expect(try row.decimal(7) == Decimal(string: "-12.5"))
            #expect(row.uuid(8) == RowFixtures.uuid)
            #expect(row.reference(9).rawValue == 0x0007_0000_0000_0009)
            #expect(row.reference(10).rawValue == 0x0008_0000_0000_0001)
            #expect(row.position(11) == 1 << 40)
            #expect(try row.bytes(12).map { Array($0) } == Array("Zoë".utf8))
            #expect(try row.bytes(15)?.count == 0)
            #expect(try row.bytes(16) == nil)
            #expect(try row.blob(16) == RowFixtures.blob)
            #expect(try row.blob(14) == nil)
            #expect(row.isNull(18) && row.isNull(19))
        }
    }

    @Test func everySlotOfANewRowIsNil() throws {
        let image = try RowBuilder(layout).finish()
        #expect(image.bytes == layout.emptyRow)
        try image.read(layout) { row throws in
            try row.validate()
            for slot in layout.slots.indices {
                #expect(try row.value(slot) == .null)
            }
            #expect(row.integer(1) == nil && row.double(6) == nil && row.boolean(0) == nil && row.float(4) == nil)
            #expect(row.reference(10).isNil && row.position(11) == nil && row.uuid(8) == nil)
            #expect(try row.bytes(12) == nil && row.blob(16) == nil && row.decimal(7) == nil)
        }
    }

    @Test func goldenBytesOfARow() throws {
        let layout = RowFixtures.layout(
            entity: 0x0102, version: 0x0A0B_0C0D,
            [
                (1, .attribute(.string)), (2, .attribute(.integer16)), (3, .attribute(.decimal)),
                (4, .attribute(.boolean)), (5, .attribute(.double)), (6, .attribute(.string)), (7, .toMany),
                (8, .attribute(.binaryData, isExternal: true)),
            ])
        let image = try RowFixtures.image(
            layout,
            [
                .string("é"), .integer(-2), .decimal(Decimal(string: "-120.50") ?? 0), .null, .double(1), .string(""),
                .null, .data(Data([9])),
            ])
        #expect(
            image.bytes.hex == "0d0c0b0a02010800" + "4800000000000000"
                + "b504000000000000" + "0000000000000000" + "ffff" + "0100"
                + "4700000002000000" + "000000000000f03f" + "4900000000000000" + "4900000002000000"
                + "feff" + "00"
                + "c3a9" + "0009")
    }

    @Test func wrongKindsAreRefused() throws {
        var builder = RowBuilder(layout)
        #expect(throws: UnstorableValue(.wrongType, slot: 12)) { try builder.set(12, .integer(1)) }
        #expect(throws: UnstorableValue(.wrongType, slot: 1)) { try builder.set(1, .string("1")) }
        #expect(throws: UnstorableValue(.wrongType, slot: 14)) { try builder.set(14, .blob(RowFixtures.blob)) }
        #expect(throws: UnstorableValue(.outOfRange, slot: 1)) { try builder.set(1, .integer(32_768)) }
        #expect(throws: UnstorableValue(.outOfRange, slot: 2)) { try builder.set(2, .integer(1 << 31)) }
        #expect(throws: UnstorableValue(.notStored, slot: 18)) { try builder.set(18, .integer(1)) }
        #expect(throws: UnstorableValue(.wrongType, slot: 0)) { try builder.setReference(0, ObjectID(rawValue: 1)) }
        #expect(throws: UnstorableValue(.wrongType, slot: 0)) { try builder.setPosition(0, 1) }
        let short = BlobReference(digest: Data([1]), sizeInBytes: 1)
        #expect(throws: UnstorableValue(.malformedBlobReference, slot: 16)) { try builder.set(16, .blob(short)) }
        #expect(try builder.finish().bytes == layout.emptyRow)
    }

    @Test func theIdZeroIsNil() throws {
        var builder = RowBuilder(layout)
        try builder.setReference(10, ObjectID(rawValue: 5))
        try builder.setReference(10, ObjectID(rawValue: 0))
        try builder.set(9, .objectID(ObjectID(rawValue: 0)))
        #expect(try builder.finish().bytes == layout.emptyRow)
    }

    @Test func replacedValuesLeaveNothingBehind() throws {
        var builder = try RowBuilder(RowFixtures.image(), layout: layout)
        for slot in layout.slots.indices.reversed() where RowFixtures.values[slot] != .null {
            builder.setNull(slot)
        }
        try builder.set(16, .data(Data(repeating: 7, count: 300)))
        try builder.set(12, .string("gone"))
        for (slot, value) in RowFixtures.values.enumerated().reversed() where value != .null {
            try builder.set(slot, value)
        }
        #expect(try builder.finish() == RowFixtures.image())
    }

    @Test func longStringsReadBack() throws {
        let text = String(repeating: "日本", count: 100_000)
        let layout = RowFixtures.layout([(1, .attribute(.string))])
        try RowFixtures.image(layout, [.string(text)]).read(layout) { row throws in
            #expect(try row.value(0) == .string(text))
        }
    }

    @Test func nullBitsReachPastTheFirstWord() throws {
        let layout = RowFixtures.layout((1...130).map { (UInt32($0), .attribute(.boolean)) })
        var builder = RowBuilder(layout)
        for slot in stride(from: 0, to: 130, by: 3) { try builder.set(slot, .boolean(true)) }
        let image = try builder.finish()
        #expect(image.count == 8 + 24 + 130)
        try image.read(layout) { row throws in
            try row.validate()
            for slot in 0..<130 {
                #expect(try row.value(slot) == (slot % 3 == 0 ? .boolean(true) : .null))
            }
        }
    }

    @Test func headersOfOtherLayoutsAreRefused() throws {
        let image = try RowFixtures.image()
        let others = [
            RowFixtures.layout(entity: 8, layout.slots.map { ($0.propertyID.rawValue, .attribute(.boolean)) }),
            RowFixtures.layout(version: 2, layout.slots.map { ($0.propertyID.rawValue, .attribute(.boolean)) }),
            RowFixtures.layout([(1, .attribute(.boolean))]),
        ]
        for other in others {
            #expect(throws: CorruptRecord.self) { try image.withReader(other) { $0.count } }
        }
        let header = try image.bytes.withUnsafeBytes { try RowHeader($0) }
        #expect(header.entityID == layout.entityID && header.version == layout.version)
        #expect(header.slotCount == layout.slotCount)
        #expect(throws: CorruptRecord.self) { try [UInt8](1...7).withUnsafeBytes { try RowHeader($0) } }
    }
}
