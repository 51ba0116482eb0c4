import Foundation
import StrataModel
import Testing

@testable import StrataStore

/// The records in `meta`, byte for byte. The bytes were worked out from the layout at the head of each codec's file.
struct StoreRecordTests {
    private static let ascending = "000102030405060708090a0b0c0d0e0f"
    private static let head = LogHead(
        modelVersion: ModelVersion(rawValue: 3), event: EventNumber(rawValue: 41),
        transaction: TransactionNumber(rawValue: 17), microseconds: -5, digest: Array(0..<32),
        firstKeptEvent: EventNumber(rawValue: 1))
    private static let headHex =
        "97c42efb" + "03000000" + "2900000000000000" + "1100000000000000" + "fbffffffffffffff" + ascending
        + "101112131415161718191a1b1c1d1e1f" + "0100000000000000"

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    /// Every way of cutting it short or turning one bit over is an error, or not that record at all.
    private func expectDamageIsFound(_ bytes: [UInt8], _ read: (UnsafeRawBufferPointer) throws -> Bool) throws {
        #expect(try bytes.withUnsafeBytes(read))
        func isRead(_ damaged: [UInt8]) throws -> Bool {
            do {
                return try damaged.withUnsafeBytes(read)
            } catch is CorruptRecord {
                return false
            }
        }
        for count in bytes.indices { #expect(try !isRead(Array(bytes[..<count])), "cut at \(count)") }
        for offset in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[offset] ^= 1 << UInt8(bit)
                #expect(try !isRead(damaged), "bit \(bit) of byte \(offset)")
            }
        }
    }

    @Test func goldenBytesOfTheHeader() throws {
        var header = StoreHeader(
            identifier: UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
            lineage: UUID(uuid: (16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)),
            createdMicroseconds: 1_000_000)
        header.compatibleFlags = 2
        header.readCompatibleFlags = 4
        let bytes = header.encoded()
        #expect(
            hex(bytes)
                == "5354524154410001" + "d0b94de2" + "01000000" + "02000000" + "04000000" + "00000000" + Self.ascending
                + "101112131415161718191a1b1c1d1e1f" + "40420f0000000000")
        try expectDamageIsFound(bytes) { bytes in
            // Of another format only its number is read.
            let read = try StoreHeader(bytes)
            return read == header || read.format == StoreHeader.formatVersion
        }
    }

    @Test func goldenBytesOfTheHead() throws {
        let bytes = Self.head.encoded()
        #expect(hex(bytes) == Self.headHex)
        try expectDamageIsFound(bytes) { try LogHead($0) == Self.head }
    }

    @Test func goldenBytesOfTheMarksOfUnfinishedWork() throws {
        let progress = MigrationMark.Progress(pass: 1, next: ObjectID(entity: EntityID(rawValue: 3), row: 5))
        let migration = MigrationMark(
            head: Self.head, from: ModelVersion(rawValue: 2), to: ModelVersion(rawValue: 3),
            lastOfOld: EventNumber(rawValue: 30), valuesDigest: 0xABCD, progress: progress
        ).encoded()
        #expect(
            hex(migration)
                == Self.headHex + "02000000" + "03000000" + "1e00000000000000" + "01000000" + "cdab0000"
                + "0500000000000300" + "e4697384" + "00000000")
        // The last four bytes mean nothing.
        try expectDamageIsFound(Array(migration.dropLast(4))) { bytes in
            try (Array(bytes) + [0, 0, 0, 0]).withUnsafeBytes { try MigrationMark($0)?.progress == progress }
        }
        let rebuild = RebuildMark(head: Self.head, applied: EventNumber(rawValue: 30)).encoded()
        #expect(hex(rebuild) == Self.headHex + "1e00000000000000" + "cf584a1d" + "00000000")
    }
}
