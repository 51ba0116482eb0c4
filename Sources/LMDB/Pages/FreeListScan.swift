/// Looks in the free lists of a data file for pages that the file is too short to hold.
///
/// A sound file may end before the last page that its header counts: a page that is taken and given back in one
/// transaction is never written. Such pages are in the free list of that very commit. If every missing page is, the
/// file is whole; if one is not, the file has been cut.
enum FreeListScan {
    /// More missing pages than this are not believed to be free.
    private static let mostMissingPages = 1 << 22

    /// Whether all pages of the header that lie beyond the end of the file are free.
    static func allAreFree(_ missing: Range<UInt64>, _ free: TreeRecord, in file: PageCopies) -> Bool {
        guard missing.count <= mostMissingPages, free.depth > 0, missing.lowerBound > 0 else { return false }
        var found = Array(repeating: false, count: missing.count)
        do {
            // Every page of the tree must be in the file, and so below the missing ones.
            try TreeCheck.forEachFreeList(free, in: file, lastPage: missing.lowerBound - 1) { list in
                for index in 0..<list.count where missing.contains(list[index]) {
                    found[Int(list[index] - missing.lowerBound)] = true
                }
            }
        } catch {
            return false
        }
        return found.allSatisfy { $0 }
    }
}
