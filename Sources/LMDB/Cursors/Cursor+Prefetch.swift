import CLMDB
import Synchronization

// Prefetches the leaf page that a scan comes to next, which the page above it names. A page that is not in the
// processor's caches costs several cache misses: for its address, and for each entry that a search looks at.

/// Prefetches the cache line at an address.
package func prefetch(_ address: UnsafeRawPointer) { clmdb_prefetch(address) }

extension Cursor {
    /// Prefetches the leaf page behind the cursor's, if both are below the same page; for scans.
    package final func prefetchPageBehind() {
        guard let position = leafPosition else { return }
        prefetch(position.index + 1, of: position.above)
    }

    /// The position of a leaf page in its tree.
    fileprivate struct LeafPosition {
        /// The page above the leaf.
        let above: UnsafeRawPointer
        /// The index of the leaf's entry there.
        let index: Int
    }

    /// The position of the cursor's leaf page; nil if it is the root, or if LMDB's record of the cursor is unexpected.
    fileprivate final var leafPosition: LeafPosition? {
        guard usesLMDB else {
            guard leafCount > 0, path.count > 0 else { return nil }
            let level = path[path.count - 1]
            return LeafPosition(above: level.page.start, index: level.index)
        }
        guard let stack = CursorStack(active), stack.depth > 1, let above = stack.page(stack.depth - 2) else {
            return nil
        }
        return LeafPosition(above: above, index: stack.index(stack.depth - 2))
    }

    fileprivate final func prefetch(_ index: Int, of above: UnsafeRawPointer) {
        let lower = bounds.lower.load(ordering: .relaxed)
        let pageSize = 1 &<< Int(bounds.pageShift.load(ordering: .relaxed))
        // A writer's own pages are in LMDB's memory, not in the map.
        guard lower != 0, isWriting || bounds.contain(above, count: pageSize),
            let branch = Page(UnsafeRawBufferPointer(start: above, count: pageSize), .branch),
            index < branch.count, let number = branch.child(index),
            let page = UnsafeRawPointer(bitPattern: lower &+ UInt(number) &* UInt(pageSize)),
            bounds.contain(page, count: pageSize)
        else { return }
        for line in stride(from: 0, to: pageSize, by: Self.cacheLineSize) { clmdb_prefetch(page + line) }
    }

    private static var cacheLineSize: Int { 64 }
}

/// Prefetches the next leaf page while a cursor goes from each leaf page to one shortly behind it.
package struct ReadAhead {
    private var above: UnsafeRawPointer?
    private var index = 0
    /// The longest step that counts as going on, in pages.
    private static let longestStep = 2

    /// Begins without a page.
    package init() {}

    /// Takes note of where the cursor is; to be called after each move.
    @inline(__always)
    package mutating func note(_ cursor: Cursor) {
        guard let position = cursor.leafPosition, position.above != above || position.index != index else { return }
        let isRun = position.above == above && position.index > index && position.index - index <= Self.longestStep
        (above, index) = (position.above, position.index)
        if isRun { cursor.prefetch(index + 1, of: position.above) }
    }
}
