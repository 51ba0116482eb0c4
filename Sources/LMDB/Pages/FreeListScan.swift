#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Looks in the free list of a data file for pages that the file is too short to hold, with plain reads only.
///
/// A sound file may end before the last page that its header counts: a page that is taken and given back in one
/// transaction is never written. Such pages are in the free list of that very commit. If every missing page is, the
/// file is whole; if one is not, the file has been cut.
///
/// A value of the free list is a count u64 and page numbers u64.
struct FreeListScan {
    private let descriptor: Int32
    private let pageSize: Int
    private let missing: Range<UInt64>
    /// Whether each missing page was found.
    private var found: [Bool]
    /// Pages that may still be read, so that a damaged tree with a circle comes to an end.
    private var budget: Int

    /// More missing pages than this are not believed to be free.
    private static let mostMissingPages: UInt64 = 1 << 22

    /// Whether all pages of the header that lie beyond the end of the file are free.
    static func allAreFree(
        _ missing: Range<UInt64>, root: UInt64, depth: Int, pageSize: Int, descriptor: Int32
    ) -> Bool {
        guard UInt64(missing.count) <= mostMissingPages, depth > 0 else { return false }
        var scan = FreeListScan(missing: missing, pageSize: pageSize, descriptor: descriptor)
        return scan.visit(root, levels: depth) && scan.found.allSatisfy { $0 }
    }

    private init(missing: Range<UInt64>, pageSize: Int, descriptor: Int32) {
        self.missing = missing
        self.pageSize = pageSize
        self.descriptor = descriptor
        found = Array(repeating: false, count: missing.count)
        budget = 1 << 20
    }

    /// Visits a page of the tree; false when it is damaged or itself missing.
    private mutating func visit(_ number: UInt64, levels: Int) -> Bool {
        guard levels > 0, budget > 0, let page = read(at: number, offset: 0, count: pageSize) else { return false }
        budget -= 1
        let flags = page.number(UInt16.self, at: PageLayout.flagsPlace)
        let lower = Int(page.number(UInt16.self, at: PageLayout.lowerPlace))
        guard lower >= PageLayout.headerSize, lower <= pageSize else { return false }
        for slot in stride(from: PageLayout.headerSize, to: lower - 1, by: 2) {
            let node = Int(page.number(UInt16.self, at: slot))
            guard node >= lower, node + PageLayout.entryHeaderSize <= pageSize else { return false }
            let isSound =
                flags & PageLayout.branchFlag != 0
                ? visit(Self.child(of: page, at: node), levels: levels - 1)
                : flags & PageLayout.leafFlag != 0 && note(valueOf: page, at: node)
            guard isSound else { return false }
        }
        return true
    }

    private static func child(of page: [UInt8], at node: Int) -> UInt64 {
        UInt64(page.number(UInt16.self, at: node)) | UInt64(page.number(UInt16.self, at: node + 2)) << 16
            | UInt64(page.number(UInt16.self, at: node + 4)) << 32
    }

    private mutating func note(valueOf page: [UInt8], at node: Int) -> Bool {
        let size = Int(page.number(UInt16.self, at: node)) | Int(page.number(UInt16.self, at: node + 2)) << 16
        let isBig = page.number(UInt16.self, at: node + PageLayout.entryFlagsPlace) & PageLayout.bigDataFlag != 0
        let start =
            node + PageLayout.entryHeaderSize + Int(page.number(UInt16.self, at: node + PageLayout.keySizePlace))
        guard start + (isBig ? 8 : size) <= pageSize else { return false }
        if !isBig { return note(numbersIn: page, from: start, size: size) }
        let first = page.number(UInt64.self, at: start)
        guard let bytes = read(at: first, offset: PageLayout.headerSize, count: size) else { return false }
        return note(numbersIn: bytes, from: 0, size: size)
    }

    private mutating func note(numbersIn bytes: [UInt8], from start: Int, size: Int) -> Bool {
        guard size >= 8 else { return false }
        let count = bytes.number(UInt64.self, at: start)
        guard count <= UInt64(size / 8 - 1) else { return false }
        for index in 0..<Int(count) {
            let number = bytes.number(UInt64.self, at: start + 8 * (index + 1))
            if missing.contains(number) { found[Int(number - missing.lowerBound)] = true }
        }
        return true
    }

    private func read(at page: UInt64, offset: Int, count: Int) -> [UInt8]? {
        // Every page of the tree must be in the file, and so below the missing ones.
        guard page >= 2, page < missing.lowerBound, count <= 1 << 30 else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
            size = max(0, pread(descriptor, buffer.baseAddress, count, off_t(page) * off_t(pageSize) + off_t(offset)))
        }
        return bytes.count == count ? bytes : nil
    }
}
