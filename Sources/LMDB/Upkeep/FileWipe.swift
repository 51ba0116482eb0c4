#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds and overwrites the bytes of a data file that belong to no record of the newest commit.
///
/// They are free pages, the gaps of pages in use, the rest of the last page of a long value, outdated keys of branch
/// pages, and bytes behind the last page.
///
/// It reads with plain reads, and only the pages in use below one level are kept in memory. Under the writer's lock.
final class FileWipe {
    /// Bytes to overwrite, at an offset in the file.
    struct Patch {
        let offset: Int
        let count: Int
        let filler: UInt8
    }

    /// The keys at the two ends of a subtree.
    private struct Ends {
        let first: [UInt8]
        let last: [UInt8]
    }

    private enum Kind {
        case free, tables, table
    }

    private let descriptor: Int32
    private let file: PageCopies
    private let meta: MetaPage
    private let pageSize: Int
    /// Pages that commits after this one freed may be read by older transactions.
    private let oldestReader: UInt64
    private(set) var patches: [Patch] = []
    /// The pages in use that the patches change.
    private(set) var changedPages: [UInt64] = []
    /// The free pages that the patches change.
    private(set) var freePages: [UInt64] = []
    /// The number of free pages that older transactions may still read.
    private(set) var waitingPageCount = 0
    private(set) var pageCount = 0

    /// - Parameters:
    ///   - head: the meta page of the newest commit.
    ///   - oldestReader: the commit that the oldest open transaction reads.
    init(
        _ descriptor: Int32, pageSize: Int, head: UnsafeRawBufferPointer, oldestReader: UInt64
    ) throws(PageDamage) {
        self.descriptor = descriptor
        self.pageSize = pageSize
        self.oldestReader = oldestReader
        file = PageCopies(descriptor: descriptor, pageSize: pageSize)
        meta = MetaPage(head)
        try visit(meta.free, depth: 0, .free)
        try visit(meta.main, depth: 0, .tables)
        try findFreePages()
        findTail()
    }

    // MARK: Pages in use

    private func visit(_ tree: TreeRecord, depth: Int, _ kind: Kind) throws(PageDamage) {
        guard tree.root != TreeRecord.noPage else { return }
        guard tree.depth > 0, tree.depth < TreeRecord.maximumDepth else {
            throw PageDamage(tree.root, "a tree of depth \(tree.depth)")
        }
        _ = try visit(tree.root, levels: Int(tree.depth), depth: depth, kind)
    }

    private func visit(
        _ number: UInt64, levels: Int, depth: Int, _ kind: Kind
    ) throws(PageDamage) -> Ends {
        guard number >= 2, number <= meta.lastPage, let bytes = file.page(number, slot: depth),
            Page.number(of: bytes) == number, let page = Page(bytes, levels == 1 ? .leaf : .branch)
        else { throw PageDamage(number, "it is another than the page above says") }
        pageCount += 1
        var parts: [UnusedBytes] = []
        if let gap = page.gap { parts.append(gap) }
        let ends =
            levels == 1
            ? try visitLeaf(page, number, depth: depth, kind)
            : try visitBranch(page, number, levels: levels, depth: depth, kind, &parts)
        note(parts, of: page, number)
        return ends
    }

    private func visitLeaf(_ page: Page, _ number: UInt64, depth: Int, _ kind: Kind) throws(PageDamage) -> Ends {
        for index in 0..<page.count {
            guard let entry = page.entry(index), entry.end <= page.size else {
                throw PageDamage(number, "entry \(index) lies outside the page")
            }
            if entry.hasLongValue {
                try findRest(ofLongValue: page.firstPage(ofLongValue: entry), entry.valueSize, depth: depth + 1)
            } else if kind == .tables, entry.flags & Page.Entry.treeFlag != 0, entry.valueSize == TreeRecord.size {
                let record = TreeRecord(page.bytes(at: entry.valueOffset, count: entry.valueSize))
                try visit(record, depth: depth + 1, .table)
            }
        }
        guard kind != .free, let first = page.key(0), let last = page.key(page.count - 1) else {
            return Ends(first: [], last: [])
        }
        return Ends(first: Array(first), last: Array(last))
    }

    private func visitBranch(
        _ page: Page, _ number: UInt64, levels: Int, depth: Int, _ kind: Kind, _ parts: inout [UnusedBytes]
    ) throws(PageDamage) -> Ends {
        var ends: Ends?
        for index in 0..<page.count {
            guard let child = page.child(index) else { throw PageDamage(number, "entry \(index) is outside") }
            let below = try visit(child, levels: levels - 1, depth: depth + 1, kind)
            // The keys of free lists are numbers, and have another order.
            if kind == .free { continue }
            if let before = ends {
                let part = before.last.withUnsafeBytes { last in
                    below.first.withUnsafeBytes { page.outdatedPart(ofKey: index, between: last, and: $0) }
                }
                if let part { parts.append(part) }
            } else if let entry = page.entry(0), entry.keySize > 0, entry.valueOffset <= page.size {
                // The first entry of a branch page has no key that counts.
                parts.append(UnusedBytes(range: entry.keyOffset..<entry.valueOffset, filler: 0))
            }
            ends = Ends(first: ends?.first ?? below.first, last: below.last)
        }
        return ends ?? Ends(first: [], last: [])
    }

    private func findRest(ofLongValue first: UInt64, _ size: Int, depth: Int) throws(PageDamage) {
        guard first >= 2, first <= meta.lastPage, let head = file.page(first, slot: depth),
            Page.kind(of: head) == .longValue
        else { throw PageDamage(first, "it does not hold a long value") }
        let count = Page.pageCount(ofLongValue: head)
        let (start, end) = (Page.headerSize + size, count * pageSize)
        guard count > 0, start <= end, UInt64(count) <= meta.lastPage - first + 1 else {
            throw PageDamage(first, "it does not hold a value of \(size) bytes")
        }
        pageCount += count
        let offset = Int(first) * pageSize + start
        guard start < end, let rest = [UInt8](descriptor, at: offset, count: end - start),
            rest.contains(where: { $0 != 0 })
        else { return }
        patches.append(Patch(offset: offset, count: end - start, filler: 0))
        for page in UInt64(start / pageSize)..<UInt64(count) { changedPages.append(first + page) }
    }

    private func note(_ parts: [UnusedBytes], of page: Page, _ number: UInt64) {
        var isChanged = false
        for part in parts {
            let bytes = page.bytes(at: part.range.lowerBound, count: part.range.count)
            guard bytes.contains(where: { $0 != part.filler }) else { continue }
            let offset = Int(number) * pageSize + part.range.lowerBound
            patches.append(Patch(offset: offset, count: part.range.count, filler: part.filler))
            isChanged = true
        }
        if isChanged { changedPages.append(number) }
    }

    // MARK: Pages out of use

    private func findFreePages() throws(PageDamage) {
        var found: [UInt64] = []
        var waiting = 0
        let oldest = oldestReader
        try TreeCheck.forEachFreeList(meta.free, in: file, lastPage: meta.lastPage) { list in
            if list.commit > oldest {
                waiting += list.count
            } else {
                for index in 0..<list.count { found.append(list[index]) }
            }
        }
        waitingPageCount = waiting
        found.sort()
        for number in found {
            // The file may end before pages that were never written.
            guard let bytes = file.page(number, slot: 0), bytes.isAnyNonZero else { continue }
            freePages.append(number)
            addFreePage(at: Int(number) * pageSize)
        }
    }

    private func addFreePage(at offset: Int) {
        if let last = patches.last, last.filler == 0, last.offset + last.count == offset,
            last.count < Self.largestPatch, last.count % pageSize == 0
        {
            patches[patches.count - 1] = Patch(offset: last.offset, count: last.count + pageSize, filler: 0)
        } else {
            patches.append(Patch(offset: offset, count: pageSize, filler: 0))
        }
    }

    /// Pages behind the last belong to no commit; a process that was killed leaves them there.
    private func findTail() {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        var offset = Int(meta.lastPage + 1) * pageSize
        while offset < Int(status.st_size) {
            let count = min(Self.largestPatch, Int(status.st_size) - offset)
            let bytes = [UInt8](descriptor, at: offset, count: count)
            if bytes?.contains(where: { $0 != 0 }) ?? false {
                patches.append(Patch(offset: offset, count: count, filler: 0))
            }
            offset += count
        }
    }

    private static let largestPatch = 1 << 20

    // MARK: Writing

    /// Overwrites the bytes that were found.
    ///
    /// - Returns: the number of the system's error; 0 where there was none.
    func write() -> Int32 {
        let zeros = [UInt8](repeating: 0, count: Self.largestPatch + pageSize)
        let ones = [UInt8](repeating: 0xFF, count: pageSize)
        for patch in patches {
            var done = 0
            while done < patch.count {
                let count = pwrite(
                    descriptor, patch.filler == 0 ? zeros : ones, patch.count - done, off_t(patch.offset + done))
                guard count > 0 else { return count < 0 ? errno : EIO }
                done += count
            }
        }
        return 0
    }

    /// The sum of a page as it is now.
    func sum(of number: UInt64) -> UInt32? {
        file.page(number, slot: 0).flatMap { PageSums.sum(of: $0, number) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a byte of a page, whose size is a multiple of eight, is not zero.
    fileprivate var isAnyNonZero: Bool {
        var offset = 0
        while offset + 8 <= count {
            if loadUnaligned(fromByteOffset: offset, as: UInt64.self) != 0 { return true }
            offset += 8
        }
        return false
    }
}
