/// The branch pages from the root of a tree to a leaf, and the index of the entry that was followed in each.
struct TreePath {
    struct Level {
        var page: Page
        var index: Int
    }

    /// Room for as many levels as a tree may have; nil before the first search.
    private var levels: UnsafeMutablePointer<Level>?
    /// The number of branch pages.
    var count = 0

    subscript(_ level: Int) -> Level {
        @inline(__always) get { levels.unsafelyUnwrapped[level] }
        @inline(__always) nonmutating set { levels.unsafelyUnwrapped[level] = newValue }
    }

    /// Gets the memory for the levels. Comes before the first use of one.
    @inline(__always)
    mutating func allocate() {
        if levels == nil { levels = .allocate(capacity: TreeRecord.maximumDepth) }
    }

    mutating func deallocate() {
        levels?.deallocate()
        levels = nil
    }
}
