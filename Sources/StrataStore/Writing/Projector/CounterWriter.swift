import LMDB
import StrataModel

/// Adds to counters, in ascending order of their keys; consecutive additions to one counter are written once.
struct CounterWriter: ~Copyable {
    private let cursor: WriteCursor
    private var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private var sum: Int64 = 0

    init(_ table: Table, _ transaction: WriteTransaction) throws { cursor = try transaction.writeCursor(table) }

    /// - Parameter key: must stay in place until the writer has finished.
    mutating func add(_ delta: Int64, to key: UnsafeRawBufferPointer) throws {
        if self.key.compare(with: key) != 0 {
            try write()
            self.key = key
        }
        sum = try Self.sum(of: sum, delta, key)
    }

    /// Writes the last counter. A writer that is dropped unfinished belongs to a transaction that has failed.
    consuming func finish() throws {
        try write()
        cursor.close()
    }

    private mutating func write() throws {
        guard sum != 0 else { return }
        let now = try cursor.seek(to: key) ? CounterKey.value(cursor.value) : 0
        let total = try Self.sum(of: now, sum, key)
        sum = 0
        guard total >= 0 else {
            throw StrataError(.corrupt, "A counter would fall below zero.", context: CounterKey.errorContext(of: key))
        }
        if total > 0 {
            try withUnsafeBytes(of: total.littleEndian) { try cursor.put(key, $0) }
        } else if now != 0 {
            try cursor.delete()
        }
    }

    private static func sum(of left: Int64, _ right: Int64, _ key: UnsafeRawBufferPointer) throws -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard overflow else { return sum }
        throw StrataError(.corrupt, "A counter is too large.", context: CounterKey.errorContext(of: key))
    }
}
