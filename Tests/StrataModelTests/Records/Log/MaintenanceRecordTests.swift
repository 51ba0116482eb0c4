import StrataModel
import StrataTestSupport
import Testing

@Suite struct MaintenanceRecordTests {
    private func decode(_ bytes: [UInt8]) throws -> MaintenanceRecord {
        try bytes.withUnsafeBytes { try MaintenanceRecord($0) }
    }

    private func bytes(_ record: MaintenanceRecord) throws -> [UInt8] {
        let writer = try record.encoded()
        defer { withExtendedLifetime(writer) {} }
        return Array(writer.bytes)
    }

    @Test func theBytesAreThoseOfTheLayout() throws {
        let tagged = MaintenanceRecord.tagged(name: "é1", eventNumber: EventNumber(rawValue: 0x0102))
        #expect(try bytes(tagged) == [1, 2, 1, 0, 0, 0, 0, 0, 0, 0xC3, 0xA9, 0x31])
        #expect(try bytes(.untagged(name: "a")) == [2, 0, 0, 0, 0, 0, 0, 0, 0, 0x61])
        #expect(try bytes(.note) == [])
        let metadata = MaintenanceRecord.metadata(before: ["a": .null], after: ["a": true])
        #expect(
            try bytes(metadata) == [3, 14, 1, 0, 0, 0, 1, 0, 0, 0, 0x61, 0, 14, 1, 0, 0, 0, 1, 0, 0, 0, 0x61, 2])
        let thinned = MaintenanceRecord.thinned(
            ThinnedRecord(cut: EventNumber(rawValue: 0x0102), entities: [EntityID(rawValue: 3), EntityID(rawValue: 4)]))
        #expect(try bytes(thinned) == [5, 2, 1, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 4, 0])
        for record in [tagged, .untagged(name: "a"), .note, metadata, thinned] {
            #expect(try decode(bytes(record)) == record)
        }
        #expect(try decode([9, 1, 2]) == .unknown)
    }

    @Test func damagedBytesAreErrors() throws {
        #expect(throws: CorruptRecord.self) { try decode([1, 2, 3]) }
        #expect(throws: CorruptRecord.self) { try decode([1, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF]) }
        #expect(throws: CorruptRecord.self) { try decode([3, 14, 0, 0, 0, 0]) }
        #expect(throws: CorruptRecord.self) { try decode([3, 1, 1]) }
        #expect(throws: CorruptRecord.self) { try decode([5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]) }
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let noise = (0..<Int.random(in: 0..<24, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            do { _ = try decode(noise) } catch is CorruptRecord {}
        }
    }
}
