import Foundation
import StrataModel
import Testing

/// Reads every slot of a row, whatever its bytes are.
private func readEverything(_ bytes: [UInt8], _ layout: RowLayout) throws {
    try bytes.withUnsafeBytes { bytes throws in
        let row = try RowReader(bytes, layout: layout)
        for slot in layout.slots.indices {
            _ = try? row.value(slot)
            _ = row.isNull(slot)
            if row.kind(slot).isVariableWidth {
                _ = try? row.bytes(slot).map { Array($0) }
                _ = try? row.blob(slot)
            }
        }
        try row.validate()
    }
}

struct RowDamageTests {
    let layout = RowFixtures.everyKind

    @Test func rowsCutAtEveryLengthAreRefused() throws {
        let bytes = try RowFixtures.image().bytes
        for count in 0..<bytes.count {
            #expect(throws: CorruptRecord.self) { try readEverything(Array(bytes[..<count]), layout) }
        }
    }

    @Test func flippedBitsGiveErrorsOrOtherValues() throws {
        let image = try RowFixtures.image()
        for offset in image.bytes.indices {
            for bit in 0..<8 {
                var bytes = image.bytes
                bytes[offset] ^= 1 << UInt8(bit)
                guard (try? readEverything(bytes, layout)) != nil else { continue }
                let row = RowImage(canonical: bytes)
                let values = try row.read(layout) { row in try layout.slots.indices.map { try row.value($0) } }
                let again = try RowFixtures.image(layout, values).bytes
                #expect(again == bytes, "what is read is written the same way: byte \(offset) bit \(bit)")
            }
        }
    }

    @Test func aRowFitsItsLayoutExactlyWhenEveryValueLiesInside() throws {
        let image = try RowFixtures.image()
        func isSound(_ bytes: [UInt8]) -> Bool {
            bytes.withUnsafeBytes { bytes in
                guard let row = try? RowReader(bytes, layout: layout) else { return false }
                return layout.variableSlots.allSatisfy {
                    row.isNull($0) || (try? row.variableBytes(row.entry($0))) != nil
                }
            }
        }
        func fits(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { layout.fits($0) } }
        #expect(fits(image.bytes))
        for count in 0..<image.count {
            #expect(fits(Array(image.bytes[..<count])) == isSound(Array(image.bytes[..<count])))
        }
        for offset in image.bytes.indices {
            for byte: UInt8 in [0, 0x7F, 0xFF, image.bytes[offset] ^ 1] {
                var bytes = image.bytes
                bytes[offset] = byte
                #expect(fits(bytes) == isSound(bytes), "byte \(offset) is \(byte)")
            }
        }
    }

    @Test func canonicalizingDamagedRowsNeverReadsOutside() throws {
        let image = try RowFixtures.image()
        for offset in image.bytes.indices {
            for byte: UInt8 in [0, 0x7F, 0xFF] {
                var bytes = image.bytes
                bytes[offset] = byte
                _ = try? bytes.withUnsafeBytes { try layout.canonicalize($0) }
                _ = try? bytes.withUnsafeBytes { try RowBuilder($0, layout: layout).finish() }
            }
        }
    }
}

struct RowMemoryTests {
    let layout = RowFixtures.everyKind

    @Test func aPrivateCopyWithGarbageBecomesCanonical() throws {
        var copy = try RowFixtures.image().bytes
        let text = Array("a longer name than before".utf8)
        let start = UInt32(copy.count)
        copy += text
        copy.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            base.storeVariable(start: start, length: UInt32(text.count), at: Int(layout.offsets[12]))
            base.setNullBit(slot: 14)
            base.zeroSlot(at: Int(layout.offsets[14]), width: 8)
            base.storeLittleEndian(Int32(-5), at: Int(layout.offsets[2]))
            base.store(2.5, at: Int(layout.offsets[5]))
            base.store(Float(0.5), at: Int(layout.offsets[4]))
            #expect(base.isNull(slot: 14) && !base.isNull(slot: 12))
            let name = UnsafeRawPointer(base).variableBytes(at: Int(layout.offsets[12]))
            #expect(String(decoding: name, as: UTF8.self) == "a longer name than before")
            #expect(base.loadLittleEndian(at: Int(layout.offsets[2]), as: Int32.self) == -5)
        }
        var values = RowFixtures.values
        values[12] = .string("a longer name than before")
        values[14] = .null
        values[2] = .integer(-5)
        values[5] = .double(2.5)
        values[4] = .float(0.5)
        let expected = try RowFixtures.image(layout, values)
        #expect(try copy.withUnsafeBytes { try layout.canonicalize($0) } == expected)
    }

    @Test func nullBitsAreSetAndCleared() {
        var bytes = layout.emptyRow
        bytes.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            for slot in layout.slots.indices {
                #expect(base.isNull(slot: slot))
                base.clearNullBit(slot: slot)
                #expect(!base.isNull(slot: slot))
            }
            for slot in layout.slots.indices { base.setNullBit(slot: slot) }
        }
        #expect(bytes == layout.emptyRow)
    }
}

struct StoredRowTests {
    private func stored(_ image: [UInt8], revision: UInt64) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: StoredRow.size(imageSize: image.count))
        bytes.withUnsafeMutableBytes { target in
            image.withUnsafeBytes {
                StoredRow.encode(revision: EventNumber(rawValue: revision), image: $0, into: target)
            }
        }
        return bytes
    }

    @Test func revisionAndImageReadBack() throws {
        let image = try RowFixtures.image().bytes
        let bytes = stored(image, revision: 0x0102_0304_0506_0708)
        try bytes.withUnsafeBytes { bytes throws in
            let row = try StoredRow(bytes)
            #expect(row.revision.rawValue == 0x0102_0304_0506_0708)
            #expect(Array(row.image) == image)
            #expect(try StoredRow(unverified: bytes).revision == row.revision)
        }
    }

    @Test func goldenBytesOfAStoredRow() {
        #expect(stored([1, 2, 3], revision: 5).hex == "d794baaa" + "00000000" + "0500000000000000" + "010203")
    }

    @Test func damageIsFound() throws {
        let bytes = stored(try RowFixtures.image().bytes, revision: 9)
        for count in bytes.indices {
            #expect(throws: CorruptRecord.self) { try Array(bytes[..<count]).withUnsafeBytes { _ = try StoredRow($0) } }
        }
        for offset in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[offset] ^= 1 << UInt8(bit)
                #expect(throws: CorruptRecord.self) { try damaged.withUnsafeBytes { _ = try StoredRow($0) } }
            }
        }
    }
}
