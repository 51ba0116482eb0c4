#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import CLMDB

/// Holds every page of a snapshot's trees against what LMDB takes for granted of it, with plain reads only.
///
/// LMDB's copying without free pages writes where a page's own numbers lead it: on a damaged page, beside its memory.
struct TreeCheck {
    /// Where a tree contradicts itself.
    struct Fault: Error {
        let page: UInt64
        let sentence: String
    }

    private enum Kind {
        case free, tables, table
    }

    private let descriptor: Int32
    private let pageSize: Int
    private let lastPage: UInt64
    /// A bit for each page that a tree has led to: no page stands in two places.
    private var seen: [UInt64]

    private static let treeRecordSize = 48

    /// - Throws: `Fault`.
    static func check(_ meta: DataFileHeader.Meta, descriptor: Int32, pageSize: Int) throws(Fault) {
        var check = TreeCheck(descriptor: descriptor, pageSize: pageSize, lastPage: meta.lastPage)
        try check.visit(meta.free, .free)
        try check.visit(meta.main, .tables)
    }

    private init(descriptor: Int32, pageSize: Int, lastPage: UInt64) {
        self.descriptor = descriptor
        self.pageSize = pageSize
        self.lastPage = lastPage
        seen = Array(repeating: 0, count: Int(lastPage / 64) + 1)
    }

    private mutating func visit(_ tree: DataFileHeader.Tree, _ kind: Kind) throws(Fault) {
        guard tree.root != DataFileHeader.noPage else { return }
        guard tree.depth > 0, tree.depth < DataFileHeader.maximumDepth else {
            throw Fault(page: tree.root, sentence: "a tree of depth \(tree.depth)")
        }
        try visit(tree.root, levels: Int(tree.depth), kind)
    }

    private mutating func visit(_ number: UInt64, levels: Int, _ kind: Kind) throws(Fault) {
        try enter(number)
        let page = try read(number)
        let isLeaf = levels == 1
        guard
            page.number(UInt16.self, at: PageLayout.flagsPlace) & PageLayout.kindBits
                == (isLeaf ? PageLayout.leafFlag : PageLayout.branchFlag)
        else {
            throw Fault(page: number, sentence: "another kind of page was expected")
        }
        let (lower, upper) = (
            Int(page.number(UInt16.self, at: PageLayout.lowerPlace)),
            Int(page.number(UInt16.self, at: PageLayout.upperPlace))
        )
        let count = (lower - PageLayout.headerSize) / 2
        guard lower >= PageLayout.headerSize, lower % 2 == 0, lower <= upper, upper <= pageSize,
            count >= (isLeaf || kind == .free ? 1 : 2)
        else { throw Fault(page: number, sentence: "bounds \(lower) and \(upper)") }
        for index in 0..<count {
            let node = Int(page.number(UInt16.self, at: PageLayout.headerSize + 2 * index))
            guard node >= upper, node + PageLayout.entryHeaderSize <= pageSize,
                end(ofKeyAt: node, in: page) <= pageSize
            else { throw Fault(page: number, sentence: "entry \(index) lies outside the page") }
            if isLeaf {
                try visitValue(of: node, in: page, number, kind)
            } else {
                let low = UInt64(page.number(UInt32.self, at: node))
                try visit(low | UInt64(page.number(UInt16.self, at: node + 4)) << 32, levels: levels - 1, kind)
            }
        }
    }

    private func end(ofKeyAt node: Int, in page: [UInt8]) -> Int {
        node + PageLayout.entryHeaderSize + Int(page.number(UInt16.self, at: node + PageLayout.keySizePlace))
    }

    private mutating func visitValue(of node: Int, in page: [UInt8], _ number: UInt64, _ kind: Kind) throws(Fault) {
        let size = Int(page.number(UInt32.self, at: node))
        let flags = page.number(UInt16.self, at: node + PageLayout.entryFlagsPlace)
        let start = end(ofKeyAt: node, in: page)
        let isBig = flags == PageLayout.bigDataFlag
        guard start + (isBig ? 8 : size) <= pageSize, kind != .free || size >= 8 else {
            throw Fault(page: number, sentence: "a value lies outside the page")
        }
        switch flags {
        case 0: return
        case PageLayout.bigDataFlag: try visitRun(from: page.number(UInt64.self, at: start), size: size)
        case PageLayout.tableFlag where kind == .tables && size == Self.treeRecordSize:
            let tree = page.withUnsafeBytes { DataFileHeader.Tree($0, at: start) }
            guard tree.flags == 0 else { throw Fault(page: number, sentence: "a table with flags \(tree.flags)") }
            try visit(tree, .table)
        default: throw Fault(page: number, sentence: "an entry with flags \(flags)")
        }
    }

    /// The pages of a value that is larger than one.
    private mutating func visitRun(from first: UInt64, size: Int) throws(Fault) {
        try enter(first)
        let page = try read(first)
        let count = UInt64(page.number(UInt32.self, at: PageLayout.runCountPlace))
        let needed = UInt64((PageLayout.headerSize + size + pageSize - 1) / pageSize)
        guard page.number(UInt16.self, at: PageLayout.flagsPlace) & PageLayout.kindBits == PageLayout.runFlag,
            count >= needed,
            count <= lastPage - first + 1
        else { throw Fault(page: first, sentence: "it is to hold a value of \(size) bytes") }
        for number in first + 1..<first + count { try enter(number) }
    }

    private mutating func enter(_ number: UInt64) throws(Fault) {
        guard number >= 2, number <= lastPage else { throw Fault(page: number, sentence: "there is no such page") }
        let (word, bit) = (Int(number / 64), UInt64(1) << (number % 64))
        guard seen[word] & bit == 0 else { throw Fault(page: number, sentence: "it stands in two places") }
        seen[word] |= bit
    }

    private func read(_ number: UInt64) throws(Fault) -> [UInt8] {
        let bytes = [UInt8](unsafeUninitializedCapacity: pageSize) { buffer, size in
            size = max(0, pread(descriptor, buffer.baseAddress, pageSize, off_t(number) * off_t(pageSize)))
        }
        guard bytes.count == pageSize else { throw Fault(page: number, sentence: "it cannot be read") }
        guard bytes.number(UInt64.self, at: 0) == number else {
            throw Fault(page: number, sentence: "it says another number")
        }
        return bytes
    }
}

extension Environment {
    /// Checks the pages of all trees of the newest commit.
    ///
    /// - Throws: `corrupted`, with the page.
    /// - Complexity: a read of every page.
    func checkTrees() throws(LMDBError) {
        let transaction = try beginRead()
        defer { end(transaction) }
        var descriptor: Int32 = -1
        mdb_env_get_fd(try activeHandle("check the pages"), &descriptor)
        let pageSize = Self.shape(of: try activeHandle("check the pages")).pageSize
        // The page is written over by the next commit but one.
        let place = Int(transaction.number & 1) * pageSize
        guard let meta = DataFileHeader.Meta(descriptor: descriptor, at: place), meta.transaction >= transaction.number
        else { throw failure(.corrupted, "check the pages", detail: "the head of the file") }
        guard meta.transaction == transaction.number else { return try checkTrees() }
        do {
            try TreeCheck.check(meta, descriptor: descriptor, pageSize: pageSize)
        } catch {
            throw failure(.corrupted, "check the pages", detail: "page \(error.page): \(error.sentence)")
        }
    }
}
