#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB
import Locking

extension Environment {
    /// Makes all commits so far durable: they are on the disk when it returns. A checkpoint for `relaxed` and `disposable`
    /// environments.
    ///
    /// - Throws: `readOnly`, `noSpaceOrIO`.
    package func sync() throws(LMDBError) {
        if options.isReadOnly { throw failure(.readOnly, "sync") }
        try withHandle("sync") { handle throws(LMDBError) in
            let result = mdb_env_sync(handle, 1)
            guard result == 0 else { throw failure(result, "sync") }
        }
    }

    /// Frees the reader slots of processes that have died.
    /// - Returns: how many there were.
    @discardableResult
    package func sweepStaleReaders() throws(LMDBError) -> Int {
        if options.locking == .none { return 0 }
        return try withHandle("sweep stale readers") { handle throws(LMDBError) in
            var count: Int32 = 0
            let result = mdb_reader_check(handle, &count)
            guard result == 0 else { throw failure(result, "sweep stale readers") }
            return Int(count)
        }
    }

    /// One taken slot of the reader table.
    package struct Reader: Sendable, Equatable {
        /// The process that took it.
        package let processID: Int32
        /// The thread that took it; readers move between threads, so this is only a hint.
        package let thread: UInt64
        /// The transaction it keeps readable, or nil while the slot is idle.
        package let transaction: UInt64?
    }

    /// Every taken reader slot, of all processes.
    package func readers() throws(LMDBError) -> [Reader] {
        if options.locking == .none { return [] }
        return try withHandle("list readers") { handle throws(LMDBError) in
            var lines: [String] = []
            let result = withUnsafeMutablePointer(to: &lines) { lines in
                mdb_reader_list(
                    handle,
                    { text, context in
                        guard let text, let context else { return 0 }
                        context.assumingMemoryBound(to: [String].self).pointee.append(String(cString: text))
                        return 0
                    }, lines)
            }
            guard result >= 0 else { throw failure(result, "list readers") }
            return lines.flatMap { $0.split(separator: "\n") }.compactMap(Reader.init(line:))
        }
    }

    /// The shape of the whole store.
    package struct Info: Sendable, Equatable {
        /// The size of the map's address space.
        package let mapSizeInBytes: Int
        /// The length of the data file.
        package let fileSizeInBytes: Int
        /// The size of a page.
        package let pageSizeInBytes: Int
        /// The highest page in use.
        package let lastPage: Int
        /// The number of free pages below it, as of the newest commit.
        package let freePageCount: Int
        /// LMDB's number of the newest commit.
        package let lastTransaction: UInt64
        /// The shape of each opened table.
        package let tables: [String: TableStatistics]
    }

    /// Measures the whole store.
    /// - Complexity: O(n) in the free lists, of which there is one for each commit whose pages are not used up.
    package func info() throws(LMDBError) -> Info {
        let names = tableNames.withLock { $0 }
        let transaction = try beginRead()
        defer { end(transaction) }
        var tables: [String: TableStatistics] = [:]
        for (index, name) in names.enumerated() {
            tables[name] = try transaction.statistics(Table(handle: UInt32(index + 2)))
        }
        let handle = try activeHandle("measure the store")
        let (info, pageSize) = Self.shape(of: handle)
        guard let size = FileLength.of(descriptor) else { throw SystemError.current("measure the store", path) }
        return Info(
            mapSizeInBytes: Int(info.me_mapsize), fileSizeInBytes: size,
            pageSizeInBytes: pageSize, lastPage: Int(info.me_last_pgno),
            freePageCount: try transaction.freePageCount(), lastTransaction: UInt64(info.me_last_txnid),
            tables: tables)
    }
}

extension Environment.Reader {
    /// Reads a line of LMDB's list: process, thread in base 16, transaction or a dash. Nil for the heading.
    init?(line: Substring) {
        let fields = line.split(separator: " ")
        guard fields.count == 3, let processID = Int32(fields[0]), let thread = UInt64(fields[1], radix: 16) else {
            return nil
        }
        self.init(processID: processID, thread: thread, transaction: UInt64(fields[2]))
    }
}

extension ReadTransaction {
    /// The number of pages in LMDB's free lists.
    fileprivate final func freePageCount() throws(LMDBError) -> Int {
        var count = 0
        try eachFreeList { list in
            count += list.count
            return true
        }
        return count
    }
}
