/// Checks that a page's entries lie side by side behind its list of entries, as LMDB leaves them.
///
/// LMDB moves entries together whenever one goes, so that an entry begins where the one before it ends. A page whose
/// list of entries was cut, or leads to one entry twice, is found by that.
struct PageShape {
    /// A bit for each even offset of a page: whether an entry begins there.
    private var starts: [UInt64]

    init(pageSize: Int) { starts = Array(repeating: 0, count: (pageSize / 2 + 63) / 64) }

    /// - Parameter page: a page that `Page(checking:number:as:)` accepted.
    mutating func check(_ page: Page, _ number: UInt64, as kind: Page.Kind) throws(PageDamage) {
        guard page.start.loadUnaligned(fromByteOffset: 8, as: UInt16.self) == 0,
            page.start.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == kind.flags
        else { throw PageDamage(number, "its header has bits that no page in a file has") }
        for word in starts.indices { starts[word] = 0 }
        for index in 0..<page.count {
            let offset = page.offset(of: index)
            guard offset & 1 == 0 else { throw PageDamage(number, "entry \(index) begins at an odd place") }
            starts[offset / 128] |= 1 << UInt64(offset / 2 % 64)
        }
        var (offset, count) = (page.upper, 0)
        while offset < page.size {
            guard starts[offset / 128] & (1 << UInt64(offset / 2 % 64)) != 0 else { break }
            let entry = Page.Entry(
                offset: offset, head: page.start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let end = kind == .leaf ? entry.end : entry.valueOffset
            offset = (end + 1) & ~1
            count += 1
        }
        guard offset == page.size, count == page.count else {
            throw PageDamage(number, "its entries do not lie side by side")
        }
    }
}
