import CLMDB

/// A named table of one environment: byte-string keys in lexical order, one value a key.
///
/// Handles come from `Environment.openTables(_:)` and stay valid until the environment closes.
package struct Table: Sendable, Hashable {
    /// The longest key that LMDB stores.
    package static let maximumKeySizeInBytes = 511

    let handle: UInt32

    init(handle: UInt32) {
        self.handle = handle
    }
}

/// The shape of one table's tree.
package struct TableStatistics: Sendable, Equatable {
    /// Records in the table.
    package let entryCount: Int
    /// Levels of the tree; 0 when the table is empty.
    package let depth: Int
    /// Inner pages.
    package let branchPageCount: Int
    /// Pages that hold records.
    package let leafPageCount: Int
    /// Pages that hold long values.
    package let overflowPageCount: Int

    init(_ tree: TreeRecord) {
        entryCount = Int(clamping: tree.entries)
        depth = Int(tree.depth)
        branchPageCount = Int(clamping: tree.branchPages)
        leafPageCount = Int(clamping: tree.leafPages)
        overflowPageCount = Int(clamping: tree.longValuePages)
    }

    init(_ stat: MDB_stat) {
        entryCount = Int(stat.ms_entries)
        depth = Int(stat.ms_depth)
        branchPageCount = Int(stat.ms_branch_pages)
        leafPageCount = Int(stat.ms_leaf_pages)
        overflowPageCount = Int(stat.ms_overflow_pages)
    }
}
