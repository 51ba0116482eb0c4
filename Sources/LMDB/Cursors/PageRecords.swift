import Synchronization

/// The records of one leaf page from a cursor's on, read where they lie, without asking LMDB for each.
///
/// Valid until the cursor's transaction ends or writes. Where the page is not known it is the cursor's record alone.
@usableFromInline package struct PageRecords {
    @usableFromInline unowned(unsafe) let cursor: Cursor
    /// Nil where it is not known.
    @usableFromInline let page: Page?
    /// The index of the cursor's record in the page.
    @usableFromInline let first: Int
    /// The number of records from the cursor's on, at least one.
    package let count: Int

    init(_ cursor: Cursor) {
        self.cursor = cursor
        (page, first, count) = (nil, 0, 1)
    }

    init?(_ cursor: Cursor, _ page: Page, from first: Int) {
        guard first >= 0, first < page.count else { return nil }
        self.cursor = cursor
        (self.page, self.first, count) = (page, first, page.count - first)
    }

    /// The address of the page; nil where it is not known.
    @inlinable package var address: UInt? { page.map { UInt(bitPattern: $0.start) } }

    /// The number of records of the page before these.
    @inlinable package var countBefore: Int { first }

    /// A record, counted from the cursor's; nil where its value has pages of its own.
    @inlinable @inline(__always)
    package func recordInPage(_ index: Int) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        page?.record(first &+ index)
    }

    /// The key of a record, counted from the cursor's, its value, and whether that lies in the page too.
    ///
    /// - Throws: `corrupted` where the page contradicts itself.
    /// - Complexity: a few loads; a search where the value has pages of its own.
    @inlinable @inline(__always)
    package func record(
        _ index: Int
    ) throws -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, isInPage: Bool) {
        if let (key, value) = recordInPage(index) { return (key, value, true) }
        let (key, value) = try cursor.recordAside(index, of: self)
        return (key, value, false)
    }
}

extension Cursor {
    /// The records of the cursor's page from its own on; its own alone where a write transaction has changed the page. The
    /// cursor must be at a record.
    package final func pageRecords() -> PageRecords { restOfPage() ?? PageRecords(self) }

    /// The records of the cursor's page from its own on; nil if the page is not known, as those are not that a write
    /// transaction has changed.
    func restOfPage() -> PageRecords? {
        if usesLMDB { return restOfUnchangedPage() }
        guard leafCount > 0, !isBetween else { return nil }
        return PageRecords(self, leafPage, from: leafIndex)
    }

    private func restOfUnchangedPage() -> PageRecords? {
        let lower = bounds.lower.load(ordering: .relaxed)
        guard lower != 0, let keyStart = key.baseAddress else { return nil }
        let offset = Int(bitPattern: UInt(bitPattern: keyStart) &- lower) & (pageSize - 1)
        let start = UnsafeMutableRawPointer(mutating: keyStart - offset)
        guard bounds.contain(start, count: pageSize),
            let page = Page(UnsafeRawBufferPointer(start: start, count: pageSize), .leaf)
        else { return nil }
        var own = 0
        while own < page.count, page.offset(of: own) != offset - Page.entryHeaderSize { own += 1 }
        return PageRecords(self, page, from: own)
    }

    /// Moves to the record behind those of a page; false behind the last.
    /// - Throws: `corrupted` where the page's last record is not found.
    package final func move(behind records: PageRecords) throws(LMDBError) -> Bool {
        guard let page = records.page else { return try next() }
        if !usesLMDB, page.start == leaf {
            _ = try walkInLeaf(to: page.count - 1)
        } else {
            // A key in the cursor's own page is found without the pages above.
            guard try seek(to: lastKey(of: records)) else { throw damaged("its last record is not found") }
        }
        return try next()
    }

    /// The key of the last of the records.
    func lastKey(of records: PageRecords) throws(LMDBError) -> UnsafeRawBufferPointer {
        guard let page = records.page else { return key }
        guard let last = page.key(page.count - 1) else { throw damaged("its last record lies outside") }
        return last
    }

    /// A record that does not lie in its page as a whole; the cursor moves there.
    @usableFromInline final func recordAside(
        _ index: Int, of records: PageRecords
    ) throws -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer) {
        guard let page = records.page else { return (key, value) }
        let index = records.first + index
        if !usesLMDB, page.start == leaf, index < leafCount, try walkInLeaf(to: index) {
            return (key, value)
        }
        guard let sought = page.key(index), try seek(to: sought), key.baseAddress == sought.baseAddress
        else { throw damaged("its record \(index) lies outside") }
        return (key, value)
    }

    private func damaged(_ detail: String) -> LMDBError {
        LMDBError(
            .corrupted, operation: "read a page", path: transaction.environment.path, detail: detail)
    }
}

extension WriteCursor {
    /// The records of the cursor's page from its own on, or from the one behind; nil where there are none, or the page
    /// is not known.
    ///
    /// Valid until the next call on the transaction.
    package func recordsInPage(isOwnIncluded: Bool) -> PageRecords? {
        guard let stack = CursorStack(active), let start = stack.page(stack.depth - 1) else { return nil }
        let pageSize = 1 << Int(bounds.pageShift.load(ordering: .relaxed))
        guard let page = Page(UnsafeRawBufferPointer(start: start, count: pageSize), .leaf) else { return nil }
        return PageRecords(self, page, from: stack.index(stack.depth - 1) + (isOwnIncluded ? 0 : 1))
    }
}
