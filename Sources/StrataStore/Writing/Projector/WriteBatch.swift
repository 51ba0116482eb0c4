import Foundation
import LMDB
import StrataModel

/// The writes that events make to the views, collected and then written in key order.
///
/// A commit of n objects touches about n leaf pages in any order. In key order each page is found once, while its
/// neighbours are still cached. The last of several writes to one key counts, so removals and additions may be
/// collected in any order.
struct WriteBatch: ~Copyable {
    /// One put or removal. `prefix` is the first word of the key until the batch is sorted; then some word, the same
    /// one for equal keys.
    struct PendingWrite {
        var prefix: UInt64
        var keyOffset: UInt64
        var valueOffset: UInt64
        var valueSize: UInt32
        var keySize: UInt16
        var isRemoval: Bool
    }

    /// The number of writes by which the prefetching of keys is ahead.
    private static let keysAhead = 24
    private var arena = Arena(capacity: 1 << 20)
    private var operations: [[PendingWrite]]
    /// Changes of counters; `valueOffset` holds the amount to add.
    private var counters: [PendingWrite] = []
    private var blobCounters: [PendingWrite] = []
    /// Changes of declared views; nil until there is one.
    private var groups: GroupChanges?
    /// Changes of full texts; nil until there is one.
    private var texts: TextChanges?
    /// The rows as they were before the batch that views across relationships read; nil until there is one.
    private var watched: WatchedRows?
    /// Makes the records of `groups` on another thread; nil unless `beginMakingGroups` has started it.
    private var making: GroupMaking?
    private let tables: StoreTables
    /// Whether an entry's removal is written to the table that has the entry; for rows whose entries are all known to
    /// exist.
    var removesWhatStands = false

    init(tables: StoreTables) {
        self.tables = tables
        operations = Array(repeating: [], count: StoreTables.Projected.allCases.count)
    }

    /// The bytes collected so far; the caller flushes when this grows large.
    var sizeInBytes: Int {
        arena.count + (groups?.sizeInBytes ?? 0) + (watched?.sizeInBytes ?? 0) + (texts?.sizeInBytes ?? 0)
    }
    var isEmpty: Bool { arena.count == 0 }

    /// Whether declared views change, which may refuse what they cannot follow.
    var hasDeclaredChanges: Bool { groups != nil || texts != nil || watched != nil }

    /// Whether groups of declared views change.
    var hasGroupChanges: Bool { groups != nil }

    /// Whether the numbers of references to large values change.
    var countsBlobs: Bool { !blobCounters.isEmpty }

    // MARK: Collecting

    mutating func put(_ table: StoreTables.Projected, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let keyOffset = arena.append(key)
        let valueOffset = arena.append(value)
        record(table, key, keyOffset, valueOffset, value.count, isRemoval: false)
    }

    mutating func put(_ table: StoreTables.Projected, key: UInt64, value: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: key.bigEndian) { put(table, key: $0, value: value) }
    }

    mutating func remove(_ table: StoreTables.Projected, key: UnsafeRawBufferPointer) {
        let keyOffset = arena.append(key)
        record(table, key, keyOffset, keyOffset, 0, isRemoval: true)
    }

    mutating func remove(_ table: StoreTables.Projected, key: UInt64) {
        withUnsafeBytes(of: key.bigEndian) { remove(table, key: $0) }
    }

    /// Reserves the value of `key`, to be filled at once.
    mutating func reserve(
        _ table: StoreTables.Projected, key: UInt64, size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) -> Int {
        withUnsafeBytes(of: key.bigEndian) { bytes in
            let keyOffset = arena.append(bytes)
            let value = arena.allocate(size)
            fill(value.bytes)
            record(table, bytes, keyOffset, value.offset, size, isRemoval: false)
            return value.offset
        }
    }

    mutating func add(_ delta: Int64, to counter: CounterKey) {
        counter.withBytes { key in
            let change = PendingWrite(
                prefix: KeySort.word(of: key, at: 0), keyOffset: UInt64(arena.append(key)),
                valueOffset: UInt64(bitPattern: delta), valueSize: 0, keySize: UInt16(key.count), isRemoval: false)
            if counter.isBlob { blobCounters.append(change) } else { counters.append(change) }
        }
    }

    /// The changes of declared views, to be added to.
    mutating func groupChanges() -> GroupChanges {
        if let groups { return groups }
        let made = GroupChanges()
        groups = made
        return made
    }

    /// The changes of full texts, to be added to.
    mutating func textChanges() -> TextChanges {
        if let texts { return texts }
        let made = TextChanges()
        texts = made
        return made
    }

    /// The rows before the batch, to be added to; made for these models if there are none yet.
    mutating func watchedRows(
        _ histories: SchemaHistory, _ schema: Schema, without building: Set<ViewID>
    ) -> WatchedRows {
        if let watched { return watched }
        let made = WatchedRows(histories, schema, without: building)
        watched = made
        return made
    }

    /// The bytes that an earlier `reserve` put at `offset`.
    func bytes(at offset: Int, count: Int) -> UnsafeRawBufferPointer { arena.bytes(at: offset, count: count) }

    private mutating func record(
        _ table: StoreTables.Projected, _ key: UnsafeRawBufferPointer, _ keyOffset: Int, _ valueOffset: Int,
        _ valueSize: Int, isRemoval: Bool
    ) {
        operations[table.rawValue].append(
            PendingWrite(
                prefix: KeySort.word(of: key, at: 0), keyOffset: UInt64(keyOffset), valueOffset: UInt64(valueOffset),
                valueSize: UInt32(valueSize), keySize: UInt16(key.count), isRemoval: isRemoval))
    }

    // MARK: Writing

    /// Writes everything in key order and removes it from the batch.
    mutating func flush(into transaction: WriteTransaction) throws {
        defer { endMakingGroups(transaction) }
        try leaveOutCounters(transaction)
        if operations.reduce(counters.count, { $0 + $1.count }) < BatchSort.fewest {
            sortHere()
            for projected in StoreTables.Projected.allCases {
                try write(operations[projected.rawValue], to: tables.table(projected), transaction)
            }
            try writeCounters(counters, to: tables.counts, transaction)
            try writeCounters(blobCounters, to: tables.blobs, transaction)
        } else {
            try flushWhileSorting(into: transaction)
        }
        try writeGroups(transaction)
        discard()
    }

    /// Has another thread make the records of groups until the batch is flushed, unless views across relationships change
    /// them once the other tables are written.
    ///
    /// The transaction must not have written to declared views. End it with `endMakingGroups` if the batch is not
    /// flushed.
    mutating func beginMakingGroups(_ transaction: WriteTransaction) {
        guard watched == nil, let groups, let views = tables.views else { return }
        making = GroupMaking.begin(groups, views, transaction)
    }

    /// Waits until no other thread makes records of groups.
    mutating func endMakingGroups(_ transaction: WriteTransaction) {
        making?.finish(transaction)
        making = nil
    }

    /// Writes declared views, after the tables from which those across relationships are read.
    private mutating func writeGroups(_ transaction: WriteTransaction) throws {
        if let watched { try watched.addDifferences(to: groupChanges(), tables, transaction) }
        if let groups, let views = tables.views {
            try ViewFault.naming { try groups.write(to: views, transaction, making) }
        }
        if let texts, let table = tables.views?.texts { try texts.write(to: table, transaction) }
    }

    /// Drops the counters of members whose entries are going to wait.
    private mutating func leaveOutCounters(_ transaction: WriteTransaction) throws {
        guard let links = tables.uncounted,
            try links.gathers(operations[StoreTables.Projected.links.rawValue].count, tables.bufferLimits, transaction)
        else { return }
        counters.removeAll { $0.keySize == CounterKey.membersSize }
    }

    private mutating func sortHere() {
        var scratch = KeySort.Scratch()
        let keys = arena.start
        for index in operations.indices {
            operations[index].withUnsafeMutableBufferPointer { KeySort($0, keys: keys, &scratch).run() }
        }
        counters.withUnsafeMutableBufferPointer { KeySort($0, keys: keys, &scratch).run() }
        blobCounters.withUnsafeMutableBufferPointer { KeySort($0, keys: keys, &scratch).run() }
    }

    private mutating func flushWhileSorting(into transaction: WriteTransaction) throws {
        let count = operations.count
        let sort = BatchSort(operations + [counters, blobCounters], keys: arena.start)
        // The sort owns the lists until it returns them.
        operations = Array(repeating: [], count: count)
        (counters, blobCounters) = ([], [])
        sort.begin()
        defer { sort.finish() }
        for projected in StoreTables.Projected.allCases {
            operations[projected.rawValue] = sort.take(projected.rawValue)
            try write(operations[projected.rawValue], to: tables.table(projected), transaction)
        }
        counters = sort.take(count)
        try writeCounters(counters, to: tables.counts, transaction)
        blobCounters = sort.take(count + 1)
        try writeCounters(blobCounters, to: tables.blobs, transaction)
    }

    /// Removes everything collected and keeps the memory.
    mutating func discard() {
        for index in operations.indices { operations[index].removeAll(keepingCapacity: true) }
        counters.removeAll(keepingCapacity: true)
        blobCounters.removeAll(keepingCapacity: true)
        arena.removeAll()
        groups = nil
        texts = nil
        watched = nil
    }

    private borrowing func write(
        _ list: [PendingWrite], to table: BufferedTable, _ transaction: WriteTransaction
    ) throws {
        guard let first = list.first, let last = list.last else { return }
        guard
            var writer = try BufferedWriter(
                table, count: list.count, from: key(first), through: key(last), tables, transaction)
        else {
            return try write(list, to: table.main, transaction)
        }
        var (wasRemoved, wasPut) = (false, false)
        for (index, operation) in list.enumerated() {
            wasRemoved = wasRemoved || operation.isRemoval
            wasPut = wasPut || !operation.isRemoval
            Self.prefetchKey(behind: index, list, arena.start)
            if index + 1 < list.count, isSameKey(operation, list[index + 1]) { continue }
            if operation.isRemoval {
                try writer.remove(key(operation), isThere: removesWhatStands && !wasPut)
            } else {
                try writer.put(key(operation), isNew: !wasRemoved)
            }
            (wasRemoved, wasPut) = (false, false)
        }
        writer.close()
    }

    private borrowing func write(_ list: [PendingWrite], to table: Table, _ transaction: WriteTransaction) throws {
        var writer = try RunWriter(table, transaction)
        for (index, operation) in list.enumerated() {
            Self.prefetchKey(behind: index, list, arena.start)
            if index + 1 < list.count, isSameKey(operation, list[index + 1]) { continue }
            if operation.isRemoval {
                try writer.remove(key(operation))
                continue
            }
            let value = arena.bytes(at: Int(operation.valueOffset), count: Int(operation.valueSize))
            try writer.put(key(operation), value, index, of: list.count) { key(list[$0]) }
        }
        try writer.finish()
    }

    /// Prefetches the key of a write that follows soon. Keys lie in the order in which they were collected, so the next
    /// ones are not cached.
    ///
    /// - Parameter start: the base of the keys' offsets.
    @inline(__always)
    static func prefetchKey(behind index: Int, _ list: [PendingWrite], _ start: UnsafeRawPointer) {
        let next = index + keysAhead
        if next < list.count { prefetch(start + Int(list[next].keyOffset)) }
    }

    private borrowing func compareKeys(_ left: PendingWrite, _ right: PendingWrite) -> Int {
        key(left).compare(with: key(right))
    }

    private borrowing func isSameKey(_ left: PendingWrite, _ right: PendingWrite) -> Bool {
        left.prefix == right.prefix && left.keySize == right.keySize && compareKeys(left, right) == 0
    }

    private borrowing func writeCounters(
        _ changes: [PendingWrite], to table: Table, _ transaction: WriteTransaction
    ) throws {
        guard !changes.isEmpty else { return }
        var writer = try CounterWriter(table, transaction)
        for (index, change) in changes.enumerated() {
            Self.prefetchKey(behind: index, changes, arena.start)
            try writer.add(Int64(bitPattern: change.valueOffset), to: key(change))
        }
        try writer.finish()
    }

    private borrowing func key(_ operation: PendingWrite) -> UnsafeRawBufferPointer {
        arena.bytes(at: Int(operation.keyOffset), count: Int(operation.keySize))
    }
}
