// The app's metadata of the store as a whole, in the table `state`; maintenance events in the log record its changes.
//
//   key    "metadata"
//   value  a composite of the value codec: the entries by name

import LMDB
import StrataModel

/// The record of the store's metadata.
enum StoreMetadata {
    /// The largest size of the whole record.
    static let largestSizeInBytes = 1 << 20

    static func read(_ transaction: ReadTransaction, _ tables: StoreTables) throws -> [String: AttributeValue] {
        try StoreFile.withKey("metadata") { key in
            guard let bytes = try transaction.get(tables.state, key) else { return [:] }
            var reader = ByteReader(bytes)
            do throws(CorruptRecord) {
                return try reader.readEntries()
            } catch {
                throw StrataError.corrupt(error, "state")
            }
        }
    }

    /// - Throws: `saveTooLarge`; `wrongType` for a value that cannot be stored.
    static func write(
        _ entries: [String: AttributeValue], _ transaction: WriteTransaction, _ tables: StoreTables
    ) throws {
        var writer = ByteWriter()
        try ValueCodec.encode(.composite(entries), into: &writer)
        guard writer.count <= largestSizeInBytes else {
            throw StrataError(
                .saveTooLarge, "The metadata takes \(writer.count) bytes; \(largestSizeInBytes) is the maximum.")
        }
        try writer.array.withUnsafeBytes { value in
            try StoreFile.withKey("metadata") { try transaction.put(tables.state, $0, value) }
        }
    }

    /// The changed entries of two states, each null where there is none.
    static func difference(
        _ before: [String: AttributeValue], _ after: [String: AttributeValue]
    ) -> MaintenanceRecord? {
        var (old, new): ([String: AttributeValue], [String: AttributeValue]) = ([:], [:])
        for name in Set(before.keys).union(after.keys) {
            let (was, now) = (before[name] ?? .null, after[name] ?? .null)
            if !was.isIdentical(to: now) { (old[name], new[name]) = (was, now) }
        }
        return new.isEmpty ? nil : .metadata(before: old, after: new)
    }

    /// The entries after a recorded change.
    static func apply(_ changes: [String: AttributeValue], to entries: inout [String: AttributeValue]) {
        for (name, value) in changes { entries[name] = value.isNull ? nil : value }
    }
}
