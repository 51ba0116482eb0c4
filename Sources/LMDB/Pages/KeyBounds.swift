/// The keys between which all keys of a page must lie, as the pages above it say.
struct KeyBounds {
    /// No key is below it; nil for the first page of a tree.
    var lower: UnsafeRawBufferPointer?
    /// All keys are below it; nil for the last page of a tree.
    var upper: UnsafeRawBufferPointer?

    static var none: KeyBounds { KeyBounds(lower: nil, upper: nil) }

    /// Checks that the keys of a page ascend and lie within the bounds.
    ///
    /// - Parameter areNumbers: whether the keys are the numbers of commits, in the byte order of the host.
    func check(_ page: Page, _ number: UInt64, as kind: Page.Kind, areNumbers: Bool) throws(PageDamage) {
        // The first entry of a branch page has no key that counts.
        let first = kind == .leaf ? 0 : 1
        var before = lower
        for index in first..<max(first, page.count) {
            guard let key = page.key(index), !areNumbers || key.count == 8, !key.isEmpty else {
                throw PageDamage(number, "the key of entry \(index) is impossible")
            }
            if let before {
                let order = Self.order(before, key, areNumbers)
                // The first key of a leaf may be the one by which the page above leads to it.
                guard order < 0 || order == 0 && index == 0 else {
                    throw PageDamage(number, "the key of entry \(index) is not behind the one before")
                }
            }
            before = key
        }
        if let upper, let before, page.count > first, Self.order(before, upper, areNumbers) >= 0 {
            throw PageDamage(number, "its last key is not before those of the next page")
        }
    }

    /// The bounds of the page below an entry of a branch page, whose keys were checked.
    func below(_ index: Int, of page: Page) -> KeyBounds {
        KeyBounds(
            lower: index == 0 ? lower : page.key(index), upper: index + 1 < page.count ? page.key(index + 1) : upper)
    }

    private static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ areNumbers: Bool)
        -> Int
    {
        guard areNumbers else { return left.compare(with: right) }
        let (left, right) = (left.loadUnaligned(as: UInt64.self), right.loadUnaligned(as: UInt64.self))
        return left < right ? -1 : left == right ? 0 : 1
    }
}
