#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The two meta pages of a data file, read and checked without mapping anything.
///
/// LMDB trusts its file: a short file kills the process with SIGBUS, a page size of zero with SIGFPE. So the header
/// is read with plain reads first. Only what the header says of itself is checked here.
///
/// Layout of a meta page (LMDB 0.9, 64-bit, byte order of the host), offsets from the page's start:
///
///     0   page header   16 bytes (PageLayout)
///     16  magic         u32 0xBEEFC0DE
///     20  version       u32 1
///     24  address       u64, for fixed maps
///     32  map size      u64
///     40  free list     48 bytes: page size u32 (main table: pad), flags u16, depth u16, 4 counts u64, root u64
///     88  main table    48 bytes, the same
///     136 last page     u64
///     144 transaction   u64
struct DataFileHeader {
    let pageSize: Int
    /// The last page that the newest meta page counts.
    let lastPage: UInt64
    /// The newest transaction.
    let transaction: UInt64
    let fileSize: Int

    private static let bytesRead = 152
    private static let magic: UInt32 = 0xBEEF_C0DE
    private static let version: UInt32 = 1
    static let noPage = UInt64.max
    static let maximumDepth = 32

    /// One meta page.
    struct Meta {
        let pageFlags: UInt16
        let magic: UInt32
        let version: UInt32
        let pageSize: UInt32
        let free: Tree
        let main: Tree
        let lastPage: UInt64
        let transaction: UInt64

        init(_ bytes: UnsafeRawBufferPointer) {
            pageFlags = bytes.loadUnaligned(fromByteOffset: PageLayout.flagsPlace, as: UInt16.self)
            magic = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
            version = bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
            pageSize = bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self)
            free = Tree(bytes, at: 40)
            main = Tree(bytes, at: 88)
            lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
            transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
        }

        /// The meta page at a place; nil where the file cannot be read there.
        init?(descriptor: Int32, at offset: Int) {
            let meta = withUnsafeTemporaryAllocation(byteCount: bytesRead, alignment: 8) { buffer -> Meta? in
                guard pread(descriptor, buffer.baseAddress, bytesRead, off_t(offset)) == bytesRead else { return nil }
                return Meta(UnsafeRawBufferPointer(buffer))
            }
            guard let meta else { return nil }
            self = meta
        }
    }

    /// The root record of one tree.
    struct Tree {
        let flags: UInt16
        let depth: UInt16
        let root: UInt64
        /// About how many entries a branch page has.
        let branchCount: Int

        init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
            flags = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
            depth = bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self)
            let branchPages = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
            let leafPages = bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
            branchCount = branchPages == 0 ? 0 : Int(clamping: (leafPages &+ branchPages &- 1) / branchPages)
            root = bytes.loadUnaligned(fromByteOffset: offset + 40, as: UInt64.self)
        }
    }
}

extension DataFileHeader {
    /// Reads and checks the header of an open data file.
    ///
    /// A writer may be replacing one of the meta pages, so a fault counts only when it is seen three times.
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
    ) throws(LMDBError) -> Meta {
        let read = withUnsafeTemporaryAllocation(byteCount: bytesRead, alignment: 8) { buffer -> (Int, Meta?) in
            let count = pread(descriptor, buffer.baseAddress, bytesRead, off_t(offset))
            return (count, count == bytesRead ? Meta(UnsafeRawBufferPointer(buffer)) : nil)
        }
        if read.0 < 0 { throw SystemError.current("read the header", path) }
        guard let meta = read.1 else {
            // A short first page may be anything; only after a good first page is a short second one a cut file.
            throw error(offset == 0 ? .foreign : .truncated, path, "\(fileSize) bytes")
        }
        // What only one of the two pages says is damage.
        let isAlone = offset != 0 || isHeader(at: PageLayout.usualPageSize, of: descriptor)
        guard meta.magic == magic else {
            throw error(isAlone ? .invalid : .foreign, path, "no magic number in meta page at \(offset)")
        }
        if meta.version > version, !isAlone { throw error(.newerFormat, path, "format \(meta.version)") }
        guard meta.version == version, meta.pageFlags & PageLayout.metaFlag != 0 else {
            throw error(.invalid, path, "format \(meta.version)")
        }
        return meta
    }

    /// Whether a page says that it is a meta page of this format.
    private static func isHeader(at offset: Int, of descriptor: Int32) -> Bool {
        guard let meta = Meta(descriptor: descriptor, at: offset) else { return false }
        return meta.magic == magic && meta.version == version && meta.pageFlags & PageLayout.metaFlag != 0
    }

    private static func checkedPageSize(_ size: UInt32, path: String) throws(LMDBError) -> Int {
        guard PageLayout.isPageSize(size) else {
            throw error(.invalid, path, "page size \(size)")
        }
        return Int(size)
    }

    private static func check(_ meta: Meta, path: String) throws(LMDBError) {
        guard meta.lastPage >= 1, meta.lastPage < UInt64(Int.max) / 32_768 else {
            throw error(.invalid, path, "last page \(meta.lastPage)")
        }
        // The free list is a table of integer keys (0x08); its flags also tell how the environment was made (0x4000:
        // without a directory). A fixed map (0x01) and duplicates are refused: this layer never makes them.
        guard meta.free.flags & ~0x4008 == 0, meta.main.flags == 0 else {
            throw error(.invalid, path, "flags \(meta.free.flags), \(meta.main.flags)")
        }
        for tree in [meta.free, meta.main] {
            let isEmpty = tree.root == noPage
            guard isEmpty == (tree.depth == 0), isEmpty || (tree.root >= 2 && tree.root <= meta.lastPage),
                tree.depth < maximumDepth
            else { throw error(.invalid, path, "root \(tree.root), depth \(tree.depth)") }
        }
    }

    private func checkLength(_ newest: Meta, descriptor: Int32, path: String) throws(LMDBError) {
        let (needed, overflow) = (newest.lastPage + 1).multipliedReportingOverflow(by: UInt64(pageSize))
        guard !overflow else { throw Self.error(.invalid, path, "last page \(newest.lastPage)") }
        guard UInt64(fileSize) < needed else { return }
        let missing = UInt64(fileSize / pageSize)..<newest.lastPage + 1
        let isWhole = FreeListScan.allAreFree(
            missing, root: newest.free.root, depth: Int(newest.free.depth), pageSize: pageSize,
            descriptor: descriptor)
        if isWhole { return }
        throw Self.error(
            .truncated, path,
            "\(fileSize) of \(needed) bytes; page \(fileSize / pageSize) of \(newest.lastPage) is cut")
    }

    private static func error(_ code: LMDBError.Code, _ path: String, _ detail: String) -> LMDBError {
        LMDBError(code, operation: "check the header", path: path, detail: detail)
    }
}
