/// The number of pages and entries of a tree, as in its record (`TreeRecord`) or as they were counted.
struct TreeCounts: Equatable, CustomStringConvertible {
    var branchPages: UInt64 = 0
    var leafPages: UInt64 = 0
    /// Pages of long values.
    var longValuePages: UInt64 = 0
    var entries: UInt64 = 0

    init() {}

    /// Reads the counts from a tree's record.
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        branchPages = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        leafPages = bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
        longValuePages = bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
        entries = bytes.loadUnaligned(fromByteOffset: offset + 32, as: UInt64.self)
    }

    /// All pages.
    var pages: UInt64 { branchPages &+ leafPages &+ longValuePages }

    var description: String {
        "\(branchPages) branch pages, \(leafPages) leaf pages, \(longValuePages) pages of long values and "
            + "\(entries) entries"
    }
}
