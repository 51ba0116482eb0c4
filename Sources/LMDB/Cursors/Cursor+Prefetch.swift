import CLMDB
import Synchronization

// A page is waited for several times when it comes from memory: for its address, and for each place that a search looks
// at. Who goes from page to page knows the next one from the page above.

/// Has the processor fetch the bytes from an address on, as many as it takes at a time. Changes nothing.
package func prefetch(_ address: UnsafeRawPointer) { clmdb_prefetch(address) }

extension Cursor {
    /// Has the processor fetch the leaf page behind the cursor's, where both hang on one page; for scans. Changes nothing.
    package final func prefetchPageBehind() {
        guard let place = leafPlace else { return }
        prefetch(place.index + 1, of: place.above)
    }

    fileprivate struct LeafPlace {
        /// The page that the leaf hangs on.
        let above: UnsafeRawPointer
        let index: Int
    }

    /// Where the cursor's leaf page hangs; nil where it is the root, or LMDB's record of the cursor is not known.
    fileprivate final var leafPlace: LeafPlace? {
        guard let stack = CursorStack(active), stack.depth > 1, let above = stack.page(stack.depth - 2) else {
            return nil
        }
        return LeafPlace(above: above, index: stack.place(stack.depth - 2))
    }

    fileprivate final func prefetch(_ index: Int, of above: UnsafeRawPointer) {
        let lower = bounds.lower.load(ordering: .relaxed)
        let pageSize = 1 &<< Int(bounds.pageShift.load(ordering: .relaxed))
        // A writer's own pages are no part of the map, but LMDB's.
        guard lower != 0, isWriting || bounds.contain(above, count: pageSize),
            let branch = NumberPage(UnsafeRawBufferPointer(start: above, count: pageSize), isLeaf: false),
            index < branch.count, let number = branch.child(index),
            let page = UnsafeRawPointer(bitPattern: lower &+ UInt(number) &* UInt(pageSize)),
            bounds.contain(page, count: pageSize)
        else { return }
        for line in stride(from: 0, to: pageSize, by: Self.cacheLineSize) { clmdb_prefetch(page + line) }
    }

    private static var cacheLineSize: Int { 64 }
}

/// Notices that a cursor goes from one leaf page to one near behind it, and has the processor fetch the one that follows.
package struct RunAhead {
    private var above: UnsafeRawPointer?
    private var index = 0
    /// Pages that are passed over at most from one to the next.
    private static let longestStep = 2

    package init() {}

    /// To be called when the cursor has moved.
    @inline(__always)
    package mutating func note(_ cursor: Cursor) {
        guard let place = cursor.leafPlace, place.above != above || place.index != index else { return }
        let isRun = place.above == above && place.index > index && place.index - index <= Self.longestStep
        (above, index) = (place.above, place.index)
        if isRun { cursor.prefetch(index + 1, of: place.above) }
    }
}
