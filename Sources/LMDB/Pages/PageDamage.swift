/// Where the pages of a file contradict themselves or each other.
struct PageDamage: Error {
    /// The number of the page.
    let page: UInt64
    /// What is wrong with it.
    let sentence: String

    init(_ page: UInt64, _ sentence: String) {
        self.page = page
        self.sentence = sentence
    }
}

extension Page {
    /// Checks everything that LMDB takes for granted of a branch or leaf page: number, kind, bounds, and that each
    /// entry's key, and in a leaf its value, lies in the page behind the list of entries.
    ///
    /// Where entries lead to is not looked at, nor whether their keys ascend.
    ///
    /// - Complexity: O(n) in the entries, a few loads for each.
    init(checking bytes: UnsafeRawBufferPointer, number: UInt64, as kind: Kind) throws(PageDamage) {
        guard Page.number(of: bytes) == number else { throw PageDamage(number, "it has another number") }
        guard Page.kind(of: bytes) == kind else {
            throw PageDamage(number, "it is of another kind than the page above says")
        }
        guard let page = Page(bytes, kind), Page.headerSize + 2 * page.count <= page.upper, page.upper <= page.size
        else {
            throw PageDamage(number, "the bounds of its entries are impossible")
        }
        for index in 0..<page.count {
            guard let entry = page.entry(index), entry.offset >= page.upper,
                (kind == .leaf ? entry.end : entry.valueOffset) <= page.size
            else { throw PageDamage(number, "entry \(index) lies outside the page") }
        }
        self = page
    }
}
