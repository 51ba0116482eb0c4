import Foundation
import LMDB
import StrataTestSupport
import Testing

/// A table that one cursor changed, beside a dictionary that was told the same.
@Suite struct WriteCursorTests {
    /// A batch of changes goes to a table with one cursor, in the order of keys: neighbours on one page, pages that
    /// split, pages that run empty.
    @Test(arguments: RandomTesting.seeds) func aCursorThatPutsAndDeletesInOrderDoesWhatTheTransactionWould(
        seed: UInt64
    ) throws {
        let path = FileManager.default.temporaryDirectory.appending(component: "cursor-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: path) }
        let environment = try Environment.open(at: path.path(percentEncoded: false), options: EnvironmentOptions())
        let table = try environment.openTables(["t"])[0]
        var random = SeededGenerator(seed: seed)
        var expected: [UInt64: [UInt8]] = [:]
        for _ in 0..<30 {
            let isShrinking = random.next() % 3 == 0
            let span = UInt64([50, 400, 4_000][Int(random.next() % 3)])
            let first = random.next() % 4_000
            let keys = Set((0..<Int(random.next() % 600)).map { _ in first + random.next() % span }).sorted()
            try environment.write { transaction in
                try transaction.withWriteCursor(table) { cursor in
                    for key in keys {
                        try withUnsafeBytes(of: key.bigEndian) { bytes in
                            if random.next() % 4 < (isShrinking ? 3 : 1) {
                                let isThere = try cursor.seek(to: bytes)
                                #expect(isThere == (expected[key] != nil))
                                if isThere { try cursor.delete() }
                                expected[key] = nil
                            } else {
                                let value = [UInt8](repeating: UInt8(key & 255), count: Int(random.next() % 900))
                                try value.withUnsafeBytes { try cursor.put(bytes, $0) }
                                expected[key] = value
                            }
                        }
                    }
                }
            }
            let found = try environment.read { transaction in
                try transaction.withCursor(table) { cursor in
                    var found: [UInt64: [UInt8]] = [:]
                    while try cursor.next() {
                        found[UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self))] = Array(cursor.value)
                    }
                    return found
                }
            }
            #expect(found == expected)
        }
        try environment.close()
    }
}
