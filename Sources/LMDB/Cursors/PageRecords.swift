import Synchronization

/// The records of one leaf page from a cursor's on, read where they lie, without asking LMDB for each.
///
/// Valid until the cursor's transaction ends or writes. Where the page cannot be told it is the cursor's record alone.
@usableFromInline package struct PageRecords {
    @usableFromInline unowned(unsafe) let cursor: Cursor
    /// The whole page; empty where it cannot be told.
    @usableFromInline let bytes: UnsafeRawBufferPointer
    /// The place of the cursor's record in the page.
    @usableFromInline let first: Int
    /// The number of records from the cursor's on, at least one.
    package let count: Int

    init(_ cursor: Cursor) {
        self.cursor = cursor
        (bytes, first, count) = (UnsafeRawBufferPointer(start: nil, count: 0), 0, 1)
    }

    init?(_ cursor: Cursor, _ page: LeafPage, from first: Int) {
        guard first >= 0, first < page.count else { return nil }
        self.cursor = cursor
        (bytes, self.first, count) = (page.bytes, first, page.count - first)
    }

    /// The address of the page; nil where it cannot be told.
    @inlinable package var address: UInt? { bytes.baseAddress.map { UInt(bitPattern: $0) } }

    /// How many records the page has before these.
    @inlinable package var countBefore: Int { first }

    /// A record, counted from the cursor's; nil where its value has pages of its own.
    @inlinable @inline(__always)
    package func recordInPage(_ index: Int) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        LeafPage.record(first &+ index, of: bytes)
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

/// A leaf page in memory: its records by their place in key order.
@usableFromInline struct LeafPage {
    let bytes: UnsafeRawBufferPointer
    /// The number of records.
    let count: Int

    /// - Returns: nil where the page is another kind, or its head contradicts itself.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > PageLayout.headerSize else { return nil }
        let lower = Int(bytes.number(UInt16.self, at: PageLayout.lowerPlace))
        guard bytes.number(UInt16.self, at: PageLayout.flagsPlace) & PageLayout.kindBits == PageLayout.leafFlag,
            lower > PageLayout.headerSize, lower % 2 == 0, lower <= bytes.count
        else { return nil }
        self.bytes = bytes
        count = (lower - PageLayout.headerSize) / 2
    }

    /// Where an entry stands in the page.
    func place(_ index: Int) -> Int {
        Int(bytes.number(UInt16.self, at: PageLayout.headerSize + 2 * index))
    }

    /// A record's key; nil where it does not lie in the page.
    func key(_ index: Int) -> UnsafeRawBufferPointer? {
        let start = place(index) + PageLayout.entryHeaderSize
        guard start <= bytes.count else { return nil }
        let end =
            start + Int(bytes.number(UInt16.self, at: start - PageLayout.entryHeaderSize + PageLayout.keySizePlace))
        return end <= bytes.count ? UnsafeRawBufferPointer(rebasing: bytes[start..<end]) : nil
    }

    /// A record's key and value; nil where they do not lie in the page. The record must be in the page's list.
    @inlinable @inline(__always)
    static func record(
        _ index: Int, of bytes: UnsafeRawBufferPointer
    ) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let start = bytes.baseAddress else { return nil }
        let slot = PageLayout.headerSize &+ 2 &* index
        let place = Int(start.loadUnaligned(fromByteOffset: slot, as: UInt16.self))
        guard place &+ PageLayout.entryHeaderSize <= bytes.count else { return nil }
        let head = start.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        // Sizes of value and key; a flag says that the value is not here.
        let (valueSize, keySize) = (Int(head & 0xFFFF_FFFF), Int(head &>> 48))
        let key = place &+ PageLayout.entryHeaderSize
        guard head &>> 32 & 0xFFFF == 0, key &+ keySize &+ valueSize <= bytes.count else { return nil }
        return (
            UnsafeRawBufferPointer(start: start + key, count: keySize),
            UnsafeRawBufferPointer(start: start + key + keySize, count: valueSize)
        )
    }
}

extension Cursor {
    /// The records of the cursor's page from its own on; its own alone in a write transaction, or where the page
    /// contradicts itself. The cursor must stand on a record.
    package final func pageRecords() -> PageRecords { restOfPage() ?? PageRecords(self) }

    func restOfPage() -> PageRecords? {
        let lower = bounds.lower.load(ordering: .relaxed)
        let pageSize = 1 << Int(bounds.pageShift.load(ordering: .relaxed))
        guard lower != 0, let keyStart = key.baseAddress else { return nil }
        let offset = Int(bitPattern: UInt(bitPattern: keyStart) &- lower) & (pageSize - 1)
        let start = UnsafeMutableRawPointer(mutating: keyStart - offset)
        guard bounds.contain(start, count: pageSize),
            let page = LeafPage(UnsafeRawBufferPointer(start: start, count: pageSize))
        else { return nil }
        var own = 0
        while own < page.count, page.place(own) != offset - PageLayout.entryHeaderSize { own += 1 }
        return PageRecords(self, page, from: own)
    }

    /// Moves to the record behind those of a page; false behind the last.
    /// - Throws: `corrupted` where the page's last record is not found.
    package final func move(behind records: PageRecords) throws(LMDBError) -> Bool {
        if records.bytes.isEmpty { return try next() }
        // LMDB finds the last key of the page that it stands in without the pages above.
        guard try seek(to: lastKey(of: records)) else { throw damaged("its last record is not found") }
        return try next()
    }

    /// The key of the last of the records.
    func lastKey(of records: PageRecords) throws(LMDBError) -> UnsafeRawBufferPointer {
        guard let page = LeafPage(records.bytes) else { return key }
        guard let last = page.key(page.count - 1) else { throw damaged("its last record lies outside") }
        return last
    }

    /// A record that does not lie in its page as a whole: the cursor goes there.
    @usableFromInline final func recordAside(
        _ index: Int, of records: PageRecords
    ) throws -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer) {
        if records.bytes.isEmpty { return (key, value) }
        guard let page = LeafPage(records.bytes), let sought = page.key(records.first + index), try seek(to: sought),
            key.baseAddress == sought.baseAddress
        else { throw damaged("record \(records.first + index) of it") }
        return (key, value)
    }

    private func damaged(_ detail: String) -> LMDBError {
        LMDBError(
            .corrupted, operation: "read a page", path: transaction.environment.path, detail: detail)
    }
}
