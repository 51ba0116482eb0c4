/// A contradiction within a page of a file, or between pages.
struct PageDamage: Error {
    /// The number of the page.
    let page: UInt64
    /// The damage, as a sentence.
    let sentence: String
    /// The sentence for a page that has another sum than was written.
    static let otherPage = "it is not the page that was written"

    init(_ page: UInt64, _ sentence: String) {
        self.page = page
        self.sentence = sentence
    }
}

extension Page {
    /// Checks everything that LMDB takes for granted of a branch or leaf page: number, kind, bounds, that each entry's
    /// key, and in a leaf its value, lies in the page behind the list of entries, and that entries fill the page's end
    /// without gaps.
    ///
    /// Where entries lead to is not looked at, nor whether their keys ascend.
    ///
    /// - Complexity: O(n) in the entries, a few loads for each.
    init(checking bytes: UnsafeRawBufferPointer, number: UInt64, as kind: Kind) throws(PageDamage) {
        guard Page.number(of: bytes) == number else { throw PageDamage(number, "it has another number") }
        guard Page.flags(of: bytes) == kind.flags else {
            throw PageDamage(number, "it is of another kind than the page above says")
        }
        guard let page = Page(bytes, kind), Page.headerSize + 2 * page.count <= page.upper, page.upper <= page.size
        else {
            throw PageDamage(number, "the bounds of its entries are impossible")
        }
        var used = 0
        for index in 0..<page.count {
            guard let entry = page.entry(index), entry.offset >= page.upper, entry.offset & 1 == 0 else {
                throw PageDamage(number, "entry \(index) lies outside the page")
            }
            let end = kind == .leaf ? entry.end : entry.valueOffset
            guard end <= page.size else { throw PageDamage(number, "entry \(index) lies outside the page") }
            used += (end - entry.offset + 1) & ~1
        }
        guard used == page.size - page.upper else { throw PageDamage(number, "its entries overlap or leave gaps") }
        self = page
    }
}
