// The statistics of one index, in the table `state`. They belong to no view and no digest, and may be lost.
//
//   key    "statistics", UInt32 index, big-endian
//   value  UInt8 format (1), UInt64 rows, Float64 share, UInt8 elements, Float64 group size of each,
//          UInt8 keys, for each: UInt8 length, bytes; little-endian
//
// A record of another format or with an error is ignored, and the index is sampled again.

import LMDB
import StrataModel

/// Encodes and decodes the statistics of an index.
enum StatisticsRecord {
    private static let format: UInt8 = 1
    private static let prefix = Array("statistics".utf8)

    static func put(
        _ statistics: IndexStatistics, of index: IndexID, _ transaction: WriteTransaction, _ tables: StoreTables
    ) throws {
        var key = ByteWriter()
        prefix.withUnsafeBytes { key.append($0) }
        key.append(bigEndian: index.rawValue)
        let value = encoded(statistics)
        try value.withUnsafeBytes { try transaction.put(tables.state, key.bytes, $0) }
    }

    static func all(
        _ transaction: ReadTransaction, _ tables: StoreTables
    ) throws -> [IndexID: IndexStatistics] {
        var found: [IndexID: IndexStatistics] = [:]
        try transaction.withCursor(tables.state) { cursor in
            var isThere = try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
            while isThere, prefix.withUnsafeBytes({ cursor.key.hasPrefix($0) }) {
                if cursor.key.count == prefix.count + 4, let statistics = decoded(cursor.value) {
                    let number = cursor.key.loadUnaligned(fromByteOffset: prefix.count, as: UInt32.self)
                    found[IndexID(rawValue: UInt32(bigEndian: number))] = statistics
                }
                isThere = try cursor.next()
            }
        }
        return found
    }

    /// Removes all of them.
    static func removeAll(_ transaction: WriteTransaction, _ tables: StoreTables) throws {
        let cursor = try transaction.writeCursor(tables.state)
        defer { cursor.close() }
        try prefix.withUnsafeBytes { prefix in
            while try cursor.seek(atOrAfter: prefix), cursor.key.hasPrefix(prefix) { try cursor.delete() }
        }
    }

    static func encoded(_ statistics: IndexStatistics) -> [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.append(format)
        writer.append(littleEndian: UInt64(statistics.rows))
        writer.append(littleEndian: statistics.share.bitPattern)
        writer.append(UInt8(truncatingIfNeeded: statistics.groupSizes.count))
        for size in statistics.groupSizes { writer.append(littleEndian: size.bitPattern) }
        let sample = statistics.sample.prefix(255)
        writer.append(UInt8(sample.count))
        for key in sample {
            let key = key.prefix(255)
            writer.append(UInt8(key.count))
            key.withUnsafeBytes { writer.append($0) }
        }
        return writer.array
    }

    static func decoded(_ bytes: UnsafeRawBufferPointer) -> IndexStatistics? {
        var offset = 0
        func take<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) -> T? {
            guard bytes.count - offset >= MemoryLayout<T>.size else { return nil }
            defer { offset += MemoryLayout<T>.size }
            return T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
        func takeNumber() -> Double? {
            take(UInt64.self).map(Double.init(bitPattern:)).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        }
        guard take(UInt8.self) == format, let rows = take(UInt64.self), rows < 1 << 48, let share = takeNumber(),
            let elements = take(UInt8.self)
        else { return nil }
        var sizes: [Double] = []
        for _ in 0..<elements {
            guard let size = takeNumber() else { return nil }
            sizes.append(size)
        }
        guard let count = take(UInt8.self) else { return nil }
        var sample: [[UInt8]] = []
        for _ in 0..<count {
            guard let length = take(UInt8.self), bytes.count - offset >= Int(length) else { return nil }
            sample.append(Array(bytes[offset..<offset + Int(length)]))
            offset += Int(length)
        }
        guard offset == bytes.count else { return nil }
        return IndexStatistics(rows: Int(rows), share: share, groupSizes: sizes, sample: sample)
    }
}
