package import Foundation
import LMDB
import StrataModel

/// What one view table holds, in 32 bytes: SHA-256 over its records in key order, each as UInt32 key length, key,
/// UInt32 value length, value, little-endian.
package struct TableDigest: Sendable, Hashable {
    package let name: String
    package let entryCount: Int
    package let digest: Data

    /// Lower-case hexadecimal.
    package var text: String {
        digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Every view table of a store, as the transaction sees it.
    static func all(_ tables: StoreTables, _ transaction: ReadTransaction) throws -> [TableDigest] {
        try tables.viewTables.map { name, table in
            var hash = RecordHash()
            try table.withCursor(transaction) { cursor in
                var found = try cursor.first()
                while found {
                    hash.add(cursor.key, cursor.value)
                    found = try cursor.advance()
                }
            }
            return hash.finish(name)
        }
    }
}

/// Collects the records of one table, in key order, for its digest.
struct RecordHash: ~Copyable {
    private var hash = StreamDigest()
    private(set) var count = 0

    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        count += 1
        add(framed: key)
        add(framed: value)
    }

    private mutating func add(framed bytes: UnsafeRawBufferPointer) {
        hash.add(littleEndian: UInt32(bytes.count))
        if !bytes.isEmpty { hash.add(bytes) }
    }

    consuming func finish(_ name: String) -> TableDigest {
        TableDigest(name: name, entryCount: count, digest: Data(hash.finish()))
    }
}
