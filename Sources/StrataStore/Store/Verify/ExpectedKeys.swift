import LMDB

/// Keys that a table should contain, looked up in key order and many at once. Neighbours are on the same page; looking
/// up each key by itself would search from the root, for pages all over the file.
struct ExpectedKeys: ~Copyable {
    private let table: BufferedTable
    private let mostBytes: Int
    private var arena = Arena()
    private var list: [WriteBatch.PendingWrite] = []
    private var scratch = KeySort.Scratch()
    /// The number of keys found in the table.
    private(set) var foundCount = 0

    /// - Parameter mostBytes: the size of the keys that are looked up together.
    init(_ table: BufferedTable, mostBytes: Int = 32 << 20) {
        self.table = table
        self.mostBytes = mostBytes
    }

    /// Whether as many keys are collected as are looked up at once.
    var isFull: Bool { arena.count >= mostBytes }

    mutating func add(_ key: UnsafeRawBufferPointer) {
        let offset = UInt64(arena.append(key))
        list.append(
            WriteBatch.PendingWrite(
                prefix: KeySort.word(of: key, at: 0), keyOffset: offset, valueOffset: offset, valueSize: 0,
                keySize: UInt16(key.count), isRemoval: false))
    }

    /// Looks up the collected keys, calls `body` with each missing one in key order, and removes all.
    mutating func lookUp(_ transaction: ReadTransaction, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        list.withUnsafeMutableBufferPointer { KeySort($0, keys: arena.start, &scratch).run() }
        defer {
            list.removeAll(keepingCapacity: true)
            arena.removeAll()
        }
        try table.withCursors(transaction) { main, buffer in
            var ahead = ReadAhead()
            for index in list.indices {
                WriteBatch.prefetchKey(behind: index, list, arena.start)
                let key = arena.bytes(at: Int(list[index].keyOffset), count: Int(list[index].keySize))
                if try main.seek(to: key) {
                    ahead.note(main.cursor)
                    foundCount += 1
                } else if try buffer?.seek(to: key) ?? false {
                    foundCount += 1
                } else {
                    body(key)
                }
            }
        }
    }
}
