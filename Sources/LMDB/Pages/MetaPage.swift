#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One of the two meta pages at the beginning of a data file: the roots of the trees as one commit left them.
///
/// Layout (LMDB 0.9, 64-bit, byte order of the host), offsets from the page's start:
///
///     0   page header   16 bytes (`Page`)
///     16  magic         u32 0xBEEFC0DE
///     20  version       u32 1
///     24  address       u64, for fixed maps
///     32  map size      u64
///     40  free list     TreeRecord, whose first field is the page size u32
///     88  main table    TreeRecord
///     136 last page     u64
///     144 transaction   u64
struct MetaPage {
    let kind: Page.Kind
    let magic: UInt32
    let version: UInt32
    let pageSize: UInt32
    let free: TreeRecord
    let main: TreeRecord
    let lastPage: UInt64
    let transaction: UInt64

    static let size = 152
    static let freeOffset = 40
    static let mainOffset = 88
    static let magic: UInt32 = 0xBEEF_C0DE
    /// The table of free lists has integer keys (0x08). Its flags also tell how the environment was made (0x4000:
    /// without a directory).
    static let flagsOfFreeLists: UInt16 = 0x4008
    static let version: UInt32 = 1

    init(_ bytes: UnsafeRawBufferPointer) {
        kind = Page.kind(of: bytes)
        magic = bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        version = bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
        pageSize = bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self)
        free = TreeRecord(bytes, at: Self.freeOffset)
        main = TreeRecord(bytes, at: Self.mainOffset)
        lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
        transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
    }

    /// Reads the meta page at an offset in a file; nil where the file has none of its length.
    init?(descriptor: Int32, at offset: Int) {
        guard let bytes = [UInt8](descriptor, at: offset, count: Self.size) else { return nil }
        self = bytes.withUnsafeBytes { MetaPage($0) }
    }

    /// Whether the page says that it is a meta page of this format.
    var isOfThisFormat: Bool { magic == Self.magic && version == Self.version && kind == .meta }
}
