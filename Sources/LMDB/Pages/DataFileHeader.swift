#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The page size, length and newest commit of a data file, read from its meta pages before the file is mapped.
///
/// LMDB trusts its file: a short file kills the process with SIGBUS, a page size of zero with SIGFPE. So the two meta
/// pages are read with plain reads first, and checked, also against the file's length. Other pages are not read.
struct DataFileHeader {
    let pageSize: Int
    /// The last page that the newest meta page counts.
    let lastPage: UInt64
    /// The newest transaction.
    let transaction: UInt64
    let fileSize: Int
}

extension DataFileHeader {
    /// Reads and checks the header of an open data file.
    ///
    /// A writer may be replacing one of the meta pages, so damage counts only when it is seen three times.
    static func read(descriptor: Int32, path: String) throws(LMDBError) -> DataFileHeader {
        var failure: LMDBError?
        for attempt in 0..<3 {
            do {
                return try readOnce(descriptor: descriptor, path: path)
            } catch {
                failure = error
                if attempt < 2 { usleep(1_000) }
            }
        }
        throw failure ?? error(.invalid, path, "")
    }

    private static func readOnce(descriptor: Int32, path: String) throws(LMDBError) -> DataFileHeader {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError.current("look at the data file", path) }
        let fileSize = Int(status.st_size)
        if fileSize == 0 { throw error(.empty, path, "") }
        let first = try meta(at: 0, of: descriptor, fileSize: fileSize, path: path)
        let pageSize = try checkedPageSize(first.pageSize, path: path)
        let second = try meta(at: pageSize, of: descriptor, fileSize: fileSize, path: path)
        guard second.pageSize == first.pageSize else { throw error(.invalid, path, "two page sizes") }
        // Only the newest counts: after a failed commit LMDB leaves the other one in a mixed state.
        let newest = first.transaction >= second.transaction ? first : second
        try check(newest, path: path)
        let header = DataFileHeader(
            pageSize: pageSize, lastPage: newest.lastPage, transaction: newest.transaction, fileSize: fileSize)
        try header.checkLength(newest, descriptor: descriptor, path: path)
        return header
    }

    private static func meta(
        at offset: Int, of descriptor: Int32, fileSize: Int, path: String
    ) throws(LMDBError) -> MetaPage {
        errno = 0
        guard let meta = MetaPage(descriptor: descriptor, at: offset) else {
            if errno != 0 { throw SystemError.current("read the header", path) }
            // A short first page may be anything; only after a good first page is a short second one a cut file.
            throw error(offset == 0 ? .foreign : .truncated, path, "\(fileSize) bytes")
        }
        // A fault of only one of the two pages is damage.
        let isAlone =
            offset != 0 || MetaPage(descriptor: descriptor, at: Page.usualSize)?.isOfThisFormat == true
        guard meta.magic == MetaPage.magic else {
            throw error(isAlone ? .invalid : .foreign, path, "no magic number in meta page at \(offset)")
        }
        if meta.version > MetaPage.version, !isAlone { throw error(.newerFormat, path, "format \(meta.version)") }
        guard meta.isOfThisFormat else { throw error(.invalid, path, "format \(meta.version)") }
        return meta
    }

    private static func checkedPageSize(_ size: UInt32, path: String) throws(LMDBError) -> Int {
        guard Page.isSize(size) else {
            throw error(.invalid, path, "page size \(size)")
        }
        return Int(size)
    }

    private static func check(_ meta: MetaPage, path: String) throws(LMDBError) {
        guard meta.lastPage >= 1, meta.lastPage < UInt64(Int.max) / 32_768 else {
            throw error(.invalid, path, "last page \(meta.lastPage)")
        }
        // A fixed map (0x01) and duplicates are refused: this layer never makes them.
        guard meta.free.flags & ~MetaPage.flagsOfFreeLists == 0, meta.main.flags == 0 else {
            throw error(.invalid, path, "flags \(meta.free.flags), \(meta.main.flags)")
        }
        for tree in [meta.free, meta.main] {
            let isEmpty = tree.root == TreeRecord.noPage
            guard isEmpty == (tree.depth == 0), isEmpty || (tree.root >= 2 && tree.root <= meta.lastPage),
                tree.depth < TreeRecord.maximumDepth
            else { throw error(.invalid, path, "root \(tree.root), depth \(tree.depth)") }
        }
    }

    private func checkLength(_ newest: MetaPage, descriptor: Int32, path: String) throws(LMDBError) {
        let (needed, overflow) = (newest.lastPage + 1).multipliedReportingOverflow(by: UInt64(pageSize))
        guard !overflow else { throw Self.error(.invalid, path, "last page \(newest.lastPage)") }
        guard UInt64(fileSize) < needed else { return }
        let missing = UInt64(fileSize / pageSize)..<newest.lastPage + 1
        let file = PageCopies(descriptor: descriptor, pageSize: pageSize)
        if FreeListScan.allAreFree(missing, newest.free, in: file) { return }
        throw Self.error(
            .truncated, path,
            "\(fileSize) of \(needed) bytes; page \(fileSize / pageSize) of \(newest.lastPage) is cut")
    }

    private static func error(_ code: LMDBError.Code, _ path: String, _ detail: String) -> LMDBError {
        LMDBError(code, operation: "check the header", path: path, detail: detail)
    }
}
