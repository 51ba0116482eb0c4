import Foundation
import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Batches whose runs of new records have others step aside, beside a dictionary that was told the same.
@Suite struct RecordsAsideTests {
    private final class Tables {
        let environment: Environment
        let tables: StoreTables

        init() throws { (environment, tables) = try BareTables.make() }

        func all() throws -> [[UInt8]: [UInt8]] {
            try environment.read { transaction in
                try transaction.withCursor(tables.objects) { cursor in
                    var found: [[UInt8]: [UInt8]] = [:]
                    while try cursor.next() { found[Array(cursor.key)] = Array(cursor.value) }
                    return found
                }
            }
        }

        /// What the records take of their pages.
        func fill() throws -> Double {
            let bytes = try all().reduce(0) { sum, record in
                sum + (10 + record.key.count + record.value.count + 1) / 2 * 2
            }
            return Double(bytes)
                / Double(try environment.read { try $0.statistics(tables.objects).leafPageCount } * 4080)
        }
    }

    @Test(arguments: RandomTesting.seeds) func nothingIsLostOrChanged(seed: UInt64) throws {
        let store = try Tables()
        var random = SeededGenerator(seed: seed)
        var expected: [[UInt8]: [UInt8]] = [:]
        var ends: [UInt64] = [0, 0, 0, 0]
        for _ in 0..<40 {
            var batch = WriteBatch(tables: store.tables)
            // Runs at the ends of four groups, and changes anywhere in between.
            for _ in 0..<Int(random.next() % 6) {
                let group = random.next() % 4
                for _ in 0..<random.next() % 400 {
                    ends[Int(group)] += 1
                    put(group << 32 | ends[Int(group)], &batch, &expected, &random)
                }
            }
            for key in expected.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where random.next() % 20 == 0 {
                if random.next() % 2 == 0 {
                    key.withUnsafeBytes { batch.remove(.objects, key: $0) }
                    expected[key] = nil
                } else {
                    let number = key.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
                    put(number, &batch, &expected, &random)
                }
            }
            try store.environment.write { try batch.flush(into: $0) }
            #expect(try store.all() == expected)
        }
        try store.environment.close()
    }

    private func put(
        _ key: UInt64, _ batch: inout WriteBatch, _ expected: inout [[UInt8]: [UInt8]], _ random: inout SeededGenerator
    ) {
        let size = random.next() % 50 == 0 ? 3000 : Int(random.next() % 200)
        let value = [UInt8](repeating: UInt8(random.next() & 255), count: size)
        value.withUnsafeBytes { batch.put(.objects, key: key, value: $0) }
        expected[withUnsafeBytes(of: key.bigEndian) { Array($0) }] = value
    }

    /// Keys that ascend in several groups at once: LMDB alone would leave pages of all groups but the last half empty.
    @Test(arguments: [1, 2, 40]) func runsInFrontOfOthersFillTheirPages(groups: Int) throws {
        let store = try Tables()
        var random = SeededGenerator(seed: 1)
        var row: UInt64 = 0
        for _ in 0..<40 {
            var batch = WriteBatch(tables: store.tables)
            for _ in 0..<4000 / groups {
                row += 1
                for group in 0..<UInt64(groups) {
                    let value = [UInt8](repeating: 1, count: 60 + Int(random.next() % 60))
                    value.withUnsafeBytes { batch.put(.objects, key: group << 32 | row, value: $0) }
                }
            }
            try store.environment.write { try batch.flush(into: $0) }
        }
        let fill = try store.fill()
        #expect(fill > 0.9, "\(fill)")
        try store.environment.close()
    }

    /// Entries of an index with few values: the newest of each go to the end of their group, in large tables by a buffer.
    @Test(arguments: [BufferLimits(), .filling]) func groupsOfEntriesFillTheirPages(limits: BufferLimits) throws {
        let (environment, made) = try BareTables.make()
        var tables = made
        tables.bufferLimits = limits
        var random = SeededGenerator(seed: 3)
        for round in 0..<30 {
            var batch = WriteBatch(tables: tables)
            for row in 0..<4000 {
                var key = ByteWriter()
                key.append(bigEndian: UInt32(1))
                key.append(bigEndian: random.next() % 20)
                key.append(bigEndian: UInt64(round * 4000 + row))
                batch.put(.indexes, key: key.bytes, value: .empty)
            }
            try environment.write { try batch.flush(into: $0) }
            try environment.write { try BufferFold.run(tables, $0) }
        }
        let (entries, pages, buffered) = try environment.read { transaction in
            let main = try transaction.statistics(tables.indexes.main)
            return (main.entryCount, main.leafPageCount, try tables.indexes.count(transaction) - main.entryCount)
        }
        #expect(entries + buffered == 120_000)
        // Keys of 20 bytes, 10 for each record.
        let fill = Double(entries * 30) / Double(pages * 4080)
        #expect(entries > 80_000 && fill > 0.85, "\(fill) of \(pages) pages, \(entries) and \(buffered) entries")
        try environment.close()
    }
}
