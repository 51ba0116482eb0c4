/// The leaf that a descent from the root of a tree is to reach.
enum TreeTarget {
    case first
    case last
    /// The leaf where a key belongs.
    case key(SoughtKey)
    /// The leaf where the last key before another one is.
    case before(SoughtKey)

    /// The index of the entry to follow in a branch page.
    @inline(__always)
    mutating func index(in page: Page) -> Int {
        switch self {
        case .first: return 0
        case .last: return page.count &- 1
        case .key(let key): return page.branchIndex(of: key)
        case .before(let key):
            let index = page.branchIndex(of: key)
            guard index > 0, key.compare(entry: page.entryStart(index)) == 0 else { return index }
            self = .last
            return index &- 1
        }
    }
}
