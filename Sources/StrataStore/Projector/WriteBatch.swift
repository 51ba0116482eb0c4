import Foundation
import LMDB
import StrataModel

/// What events make of the views, collected and then written in key order.
///
/// A commit of n objects touches about n leaf pages whatever the order; sorted, each page is found once and its
/// neighbours are still in cache (DESIGN: 13 us an object unsorted against 5.5 in commits of 10,000). Of several
/// writes to one key the last one counts, so removals and additions may be collected in any interleaving.
struct WriteBatch: ~Copyable {
    /// One put or removal. Keys are compared by `prefix`, their first eight bytes, then as bytes.
    struct Operation {
        var prefix: UInt64
        var keyOffset: UInt64
        var valueOffset: UInt64
        var valueSize: UInt32
        var keySize: UInt16
        var isRemoval: Bool
    }

    private var arena = Arena(capacity: 1 << 20)
    private var operations: [[Operation]]
    private var counters: [CounterKey: Int64] = [:]
    private let tables: StoreTables

    init(tables: StoreTables) {
        self.tables = tables
        operations = Array(repeating: [], count: StoreTables.Projected.allCases.count)
    }

    /// Bytes collected so far; the projector's caller flushes when this grows large.
    var sizeInBytes: Int { arena.count }

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

    /// Room for the value of `key`, to be filled at once.
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
        counters[counter, default: 0] += delta
    }

    /// Bytes that an earlier `reserve` put at `offset`.
    func bytes(at offset: Int, count: Int) -> UnsafeRawBufferPointer { arena.bytes(at: offset, count: count) }

    private mutating func record(
        _ table: StoreTables.Projected, _ key: UnsafeRawBufferPointer, _ keyOffset: Int, _ valueOffset: Int,
        _ valueSize: Int, isRemoval: Bool
    ) {
        operations[table.rawValue].append(
            Operation(
                prefix: Self.prefix(of: key), keyOffset: UInt64(keyOffset), valueOffset: UInt64(valueOffset),
                valueSize: UInt32(valueSize), keySize: UInt16(key.count), isRemoval: isRemoval))
    }

    private static func prefix(of key: UnsafeRawBufferPointer) -> UInt64 {
        if key.count >= 8 { return UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) }
        var prefix: UInt64 = 0
        for byte in key { prefix = prefix << 8 | UInt64(byte) }
        return prefix << UInt64(8 * (8 - key.count))
    }

    // MARK: Writing

    /// Writes everything in key order and forgets it.
    mutating func flush(into transaction: WriteTransaction) throws {
        for projected in StoreTables.Projected.allCases {
            var list: [Operation] = []
            swap(&list, &operations[projected.rawValue])
            try write(&list, to: tables.table(projected), transaction)
            list.removeAll(keepingCapacity: true)
            swap(&list, &operations[projected.rawValue])
        }
        try writeCounters(transaction)
        discard()
    }

    /// Forgets everything collected, keeps the memory.
    mutating func discard() {
        for index in operations.indices { operations[index].removeAll(keepingCapacity: true) }
        counters.removeAll(keepingCapacity: true)
        arena.removeAll()
    }

    private borrowing func write(
        _ list: inout [Operation], to table: Table, _ transaction: WriteTransaction
    ) throws {
        sort(&list)
        for (index, operation) in list.enumerated() {
            let key = arena.bytes(at: Int(operation.keyOffset), count: Int(operation.keySize))
            if index + 1 < list.count, isSameKey(operation, list[index + 1]) { continue }
            if operation.isRemoval {
                _ = try transaction.delete(table, key)
            } else {
                let value = arena.bytes(at: Int(operation.valueOffset), count: Int(operation.valueSize))
                try transaction.put(table, key, value)
            }
        }
    }

    /// By key, then by order of collection: key offsets only grow.
    private borrowing func sort(_ list: inout [Operation]) {
        list.sort { left, right in
            if left.prefix != right.prefix { return left.prefix < right.prefix }
            let order = compareKeys(left, right)
            return order == 0 ? left.keyOffset < right.keyOffset : order < 0
        }
    }

    private borrowing func compareKeys(_ left: Operation, _ right: Operation) -> Int {
        let leftKey = arena.bytes(at: Int(left.keyOffset), count: Int(left.keySize))
        let rightKey = arena.bytes(at: Int(right.keyOffset), count: Int(right.keySize))
        return leftKey.compare(with: rightKey)
    }

    private borrowing func isSameKey(_ left: Operation, _ right: Operation) -> Bool {
        left.prefix == right.prefix && left.keySize == right.keySize && compareKeys(left, right) == 0
    }

    private borrowing func writeCounters(_ transaction: WriteTransaction) throws {
        for (counter, delta) in counters.filter({ $0.value != 0 }).sorted(by: { $0.key < $1.key }) {
            try counter.withBytes { key in
                let table = counter.isBlob ? tables.blobs : tables.counts
                let now = try transaction.get(table, key).map(CounterKey.value) ?? 0
                let (sum, overflow) = now.addingReportingOverflow(delta)
                guard !overflow, sum >= 0 else {
                    throw StrataError(.corrupt, "A counter would fall below zero.", context: counter.errorContext)
                }
                if sum == 0 {
                    _ = try transaction.delete(table, key)
                } else {
                    try withUnsafeBytes(of: sum.littleEndian) { try transaction.put(table, key, $0) }
                }
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Negative, zero or positive, as the bytes compare; a prefix comes first.
    func compare(with other: UnsafeRawBufferPointer) -> Int {
        guard let left = baseAddress, let right = other.baseAddress else { return count - other.count }
        let order = Int(memcmp(left, right, Swift.min(count, other.count)))
        return order != 0 ? order : count - other.count
    }
}
