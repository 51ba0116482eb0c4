#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One page of a data file, read where it lies: its kind, and its entries in key order.
///
/// The layout is that of LMDB 0.9 on 64-bit machines, in the byte order of the host; offsets are in bytes:
///
///     page   0   number u64
///            8   u16, of use in pages of equal keys only
///            10  flags u16: the kind of page, and bits that count in memory only
///            12  lower u16: where the list of entries ends (in a long value's first page, u32: how many pages it has)
///            14  upper u16: where the entries begin
///            16  u16 for each entry, in key order: its offset
///     entry  0   in a leaf the size of the value u32
///            4   flags u16
///            6   size of the key u16
///            8   the key, and in a leaf the value
///
/// In a branch page the first six bytes of an entry are the number of the page below. Flag 1 of a leaf's entry says
/// that the value is the u64 number of the first of the pages that hold the long value, flag 2 that it is a
/// `TreeRecord`. Pages of tables with duplicate keys (LMDB's LEAF2 pages and sub-pages) are of none of the kinds:
/// Strata has no such tables. (Source: `struct MDB_page` and `struct MDB_node` of LMDB's mdb.c.)
///
/// The bytes may be damaged. The list of entries is known to lie in the page; everything that an entry says of itself
/// is checked where it is used, and nil if it leads out of the page. `init(checking:number:as:)` checks all of it at
/// once. The memory must outlive the page.
@usableFromInline struct Page {
    /// The whole page. Not a pointer: Swift 6.3 misreads a nil `Page?` that generic code has made of a pointer and
    /// numbers.
    @usableFromInline let bytes: UnsafeRawBufferPointer
    /// The number of entries, at least one.
    @usableFromInline let count: Int

    /// The address of the page.
    @inlinable var start: UnsafeRawPointer {
        @inline(__always) get { bytes.baseAddress.unsafelyUnwrapped }
    }

    @inlinable var size: Int {
        @inline(__always) get { bytes.count }
    }

    /// The kind of a page, by LMDB's flags.
    struct Kind: Equatable {
        let flags: UInt16

        static var branch: Kind { Kind(flags: 0x01) }
        static var leaf: Kind { Kind(flags: 0x02) }
        /// The first page of a long value.
        static var longValue: Kind { Kind(flags: 0x04) }
        static var meta: Kind { Kind(flags: 0x08) }
    }

    @usableFromInline static let headerSize = 16
    @usableFromInline static let entryHeaderSize = 8
    /// The flags of a page's kind, without those that count in memory only.
    private static let kindFlags: UInt16 = 0x6F
    /// The size of pages where nothing else is known.
    static let usualSize = 4096

    static func isSize(_ size: UInt32) -> Bool { size >= 512 && size <= 32_768 && size.nonzeroBitCount == 1 }

    /// - Parameter bytes: a whole page.
    /// - Returns: nil for a page of another kind, one without entries, or one whose list of entries does not lie in it.
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer, _ kind: Kind) {
        guard let start = bytes.baseAddress, Self.kind(of: bytes) == kind else { return nil }
        let lower = Int(start.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        guard lower > Self.headerSize, lower & 1 == 0, lower <= bytes.count else { return nil }
        self.bytes = bytes
        count = (lower &- Self.headerSize) / 2
    }

    /// The offset at which the entries begin.
    var upper: Int { Int(start.loadUnaligned(fromByteOffset: 14, as: UInt16.self)) }

    /// The offset of an entry in the page. The index must be below `count`.
    @inlinable @inline(__always)
    func offset(of index: Int) -> Int {
        Int(start.loadUnaligned(fromByteOffset: Self.headerSize &+ 2 &* index, as: UInt16.self))
    }

    // MARK: Heads of pages

    /// The number that a page says it has.
    @inline(__always)
    static func number(of page: UnsafeRawBufferPointer) -> UInt64 { page.loadUnaligned(as: UInt64.self) }

    @inline(__always)
    static func kind(of page: UnsafeRawBufferPointer) -> Kind {
        Kind(flags: page.loadUnaligned(fromByteOffset: 10, as: UInt16.self) & kindFlags)
    }

    /// All flags of a page.
    @inline(__always)
    static func flags(of page: UnsafeRawBufferPointer) -> UInt16 {
        page.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
    }

    /// The number of pages of a long value, by its first page.
    static func pageCount(ofLongValue page: UnsafeRawBufferPointer) -> Int {
        Int(page.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    }
}

// MARK: - Entries

extension Page {
    /// One entry of a page, whose head lies in the page; its key and value may not.
    @usableFromInline struct Entry {
        /// The offset of the entry in the page.
        @usableFromInline let offset: Int
        @usableFromInline let head: UInt64

        static let longValueFlag: UInt16 = 0x01
        static let treeFlag: UInt16 = 0x02

        @inlinable @inline(__always)
        init(offset: Int, head: UInt64) {
            self.offset = offset
            self.head = head
        }

        @inlinable var flags: UInt16 { UInt16(truncatingIfNeeded: head &>> 32) }
        @inlinable var keySize: Int { Int(head &>> 48) }
        @inlinable var keyOffset: Int { offset &+ Page.entryHeaderSize }
        /// The size of the value, wherever it is.
        @inlinable var valueSize: Int { Int(head & 0xFFFF_FFFF) }
        @inlinable var valueOffset: Int { keyOffset &+ keySize }
        /// Whether the value has pages of its own.
        var hasLongValue: Bool { flags & Self.longValueFlag != 0 }
        /// The offset of the end of the value's bytes in the page.
        var end: Int { valueOffset &+ (hasLongValue ? 8 : valueSize) }
        /// In a branch page, the number of the page below.
        var child: UInt64 { head & 0xFFFF_FFFF_FFFF }
    }

    /// An entry; nil where its head lies outside the page. The index must be below `count`.
    @inlinable @inline(__always)
    func entry(_ index: Int) -> Entry? {
        let offset = offset(of: index)
        guard offset &+ Self.entryHeaderSize <= size else { return nil }
        return Entry(offset: offset, head: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Bytes of the page, which must lie in it.
    @inlinable @inline(__always)
    func bytes(at offset: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + offset, count: count)
    }

    /// The key of an entry; nil where it does not lie in the page.
    func key(_ index: Int) -> UnsafeRawBufferPointer? {
        guard let entry = entry(index), entry.valueOffset <= size else { return nil }
        return bytes(at: entry.keyOffset, count: entry.keySize)
    }

    /// The key and the value of a leaf's entry; nil where they do not lie in the page, as long values do not.
    @inlinable @inline(__always)
    func record(_ index: Int) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let entry = entry(index), entry.flags == 0, entry.valueOffset &+ entry.valueSize <= size else {
            return nil
        }
        return (
            bytes(at: entry.keyOffset, count: entry.keySize), bytes(at: entry.valueOffset, count: entry.valueSize)
        )
    }

    /// The number of the page that an entry of a branch page leads to; nil where there can be none.
    @inline(__always)
    func child(_ index: Int) -> UInt64? {
        guard let number = entry(index)?.child, number < 1 << 40 else { return nil }
        return number
    }

    /// The number of the first page of a long value. The entry must end in the page.
    func firstPage(ofLongValue entry: Entry) -> UInt64 {
        start.loadUnaligned(fromByteOffset: entry.valueOffset, as: UInt64.self)
    }
}

extension UnsafeRawBufferPointer {
    /// Negative, zero or positive, as the bytes compare; a prefix comes first.
    package func compare(with other: UnsafeRawBufferPointer) -> Int {
        guard let left = baseAddress, let right = other.baseAddress else { return count - other.count }
        let order = Int(memcmp(left, right, Swift.min(count, other.count)))
        return order != 0 ? order : count - other.count
    }
}
