#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How LMDB 0.9 lays out the pages of a file, 64-bit, in the byte order of the host.
///
///     page   0   number u64
///            8   pad u16
///            10  flags u16: what the page is, and bits of its life in memory
///            12  lower u16: where the list of entries ends (in the first page of a run, u32: how many pages it has)
///            14  upper u16: where the entries begin
///            16  u16 for each entry, in key order: where it stands
///     entry  0   low u16, high u16: in a leaf the size of the value
///            4   flags u16
///            6   size of the key u16
///            8   the key, and in a leaf the value
///
/// In a branch page low, high and flags are the 48 bits of a page's number. In a leaf flag 1 says that the value is the
/// u64 number of the first of a run of pages that hold it, flag 2 that it is the record of a table's tree.
/// (Source: `struct MDB_page` and `struct MDB_node` of LMDB's mdb.c.)
@usableFromInline enum PageLayout {
    @usableFromInline static let headerSize = 16
    @usableFromInline static let entryHeaderSize = 8

    static let flagsPlace = 10
    static let lowerPlace = 12
    static let upperPlace = 14
    /// Of a run of pages: the number of pages, u32.
    static let runCountPlace = 12
    /// Within an entry.
    static let entryFlagsPlace = 4
    static let keySizePlace = 6

    static let branchFlag: UInt16 = 0x01
    static let leafFlag: UInt16 = 0x02
    static let runFlag: UInt16 = 0x04
    static let metaFlag: UInt16 = 0x08
    /// Bits of what a page is, without those of its life in memory.
    static let kindBits: UInt16 = 0x6F

    static let bigDataFlag: UInt16 = 0x01
    static let tableFlag: UInt16 = 0x02

    static let usualPageSize = 4096

    static func isPageSize(_ size: UInt32) -> Bool { size >= 512 && size <= 32_768 && size.nonzeroBitCount == 1 }
}

extension UnsafeRawBufferPointer {
    /// The number at an offset, in the byte order of the host. The bytes must be there.
    @inlinable @inline(__always)
    func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type, at offset: Int) -> Number {
        loadUnaligned(fromByteOffset: offset, as: Number.self)
    }
}

extension [UInt8] {
    /// The number at an offset, in the byte order of the host. The bytes must be there.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type, at offset: Int) -> Number {
        withUnsafeBytes { $0.number(Number.self, at: offset) }
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
