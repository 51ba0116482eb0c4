/// The root and the shape of a tree: a record of 48 bytes in the meta pages, and for each table in LMDB's main table.
///
///     0   u32; its meaning depends on where the record is
///     4   flags u16
///     6   depth u16
///     8   branch pages u64
///     16  leaf pages u64
///     24  pages of long values u64
///     32  entries u64
///     40  root u64
struct TreeRecord {
    let flags: UInt16
    /// Levels of the tree; 0 when it is empty.
    let depth: UInt16
    /// The number of the root page; `noPage` when the tree is empty.
    let root: UInt64
    /// About how many entries a branch page has.
    let branchCount: Int
    /// Inner pages.
    let branchPages: UInt64
    /// Pages that hold records.
    let leafPages: UInt64
    /// Pages that hold long values.
    let longValuePages: UInt64
    /// Records of the table.
    let entries: UInt64

    static let size = 48
    static let noPage = UInt64.max
    /// LMDB's cursors hold no more levels.
    static let maximumDepth = 32

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        flags = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
        depth = bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self)
        branchPages = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        leafPages = bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
        longValuePages = bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
        entries = bytes.loadUnaligned(fromByteOffset: offset + 32, as: UInt64.self)
        branchCount = branchPages == 0 ? 0 : Int(clamping: (leafPages &+ branchPages &- 1) / branchPages)
        root = bytes.loadUnaligned(fromByteOffset: offset + 40, as: UInt64.self)
    }

    /// The record of a table without records.
    init() {
        (flags, depth, root, branchCount) = (0, 0, Self.noPage, 0)
        (branchPages, leafPages, longValuePages, entries) = (0, 0, 0, 0)
    }

    /// Whether the record can be that of a tree.
    ///
    /// - Parameter allowedFlags: the flags that it may have.
    func isPlausible(allowedFlags: UInt16 = 0) -> Bool {
        guard flags & ~allowedFlags == 0, depth < Self.maximumDepth else { return false }
        return root == Self.noPage ? depth == 0 : depth > 0 && root >= 2
    }
}
