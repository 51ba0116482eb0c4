import LMDB
import StrataModel

/// Sorts rows by their sort keys, then by object id, and keeps only as many as are needed.
///
/// With a bound it keeps at most twice as many and drops the worse half when it is full. So the time is
/// O(rows x log bound), and a row that is worse than all kept rows costs one comparison.
struct RowSorter: ~Copyable {
    private struct Entry {
        /// The first eight bytes of the key, which decide most comparisons.
        let prefix: UInt64
        let offset: Int
        let count: Int
        let id: ObjectID
    }

    private let bound: Int?
    private var entries: [Entry] = []
    private var keys = ByteWriter(capacity: 4096)
    /// The last entry that is kept, once there are enough.
    private var worst: Entry?

    init(bound: Int?) { self.bound = bound }

    /// Adds a row whose key `write` appends.
    mutating func add(_ id: ObjectID, _ write: (inout ByteWriter) throws -> Void) rethrows {
        if bound == 0 { return }
        let start = keys.count
        try write(&keys)
        let entry = Entry(
            prefix: Self.prefix(of: keys.bytes, from: start), offset: start, count: keys.count - start, id: id)
        if let worst, !Self.isBefore(entry, worst, keys.bytes) { return keys.truncate(to: start) }
        entries.append(entry)
        if let bound, entries.count >= Self.room(bound) { shrink(to: bound) }
    }

    /// The memory that it takes, in bytes.
    var size: Int { keys.count + entries.count * MemoryLayout<Entry>.stride }

    /// The ids in order.
    ///
    /// - Parameter check: called now and then; may throw to end the sorting.
    consuming func finish(checking check: () throws -> Void = {}) rethrows -> [ObjectID] {
        let bytes = keys.bytes
        var comparisons = 0
        try entries.sort {
            comparisons &+= 1
            if comparisons & 0xFFFF == 0 { try check() }
            return Self.isBefore($0, $1, bytes)
        }
        if let bound, entries.count > bound { entries.removeSubrange(bound...) }
        return entries.map(\.id)
    }

    private static func room(_ bound: Int) -> Int { bound > Int.max / 2 ? .max : max(512, bound * 2) }

    private mutating func sort() {
        let bytes = keys.bytes
        entries.sort { Self.isBefore($0, $1, bytes) }
    }

    private mutating func shrink(to bound: Int) {
        sort()
        entries.removeSubrange(bound...)
        var kept = ByteWriter(capacity: keys.count)
        for index in entries.indices {
            let entry = entries[index]
            let offset = kept.count
            kept.append(UnsafeRawBufferPointer(rebasing: keys.bytes[entry.offset..<entry.offset + entry.count]))
            entries[index] = Entry(prefix: entry.prefix, offset: offset, count: entry.count, id: entry.id)
        }
        keys = kept
        worst = entries.last
    }

    private static func prefix(of keys: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
        let count = keys.count - start
        if count >= 8 { return UInt64(bigEndian: keys.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
        var prefix: UInt64 = 0
        for offset in 0..<8 { prefix = prefix << 8 | (offset < count ? UInt64(keys[start + offset]) : 0) }
        return prefix
    }

    private static func isBefore(_ left: Entry, _ right: Entry, _ keys: UnsafeRawBufferPointer) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        let order = UnsafeRawBufferPointer(rebasing: keys[left.offset..<left.offset + left.count])
            .compare(with: UnsafeRawBufferPointer(rebasing: keys[right.offset..<right.offset + right.count]))
        return order == 0 ? left.id < right.id : order < 0
    }
}
