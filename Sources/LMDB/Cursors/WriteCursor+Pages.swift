import Synchronization

extension WriteCursor {
    /// The records of the cursor's page from its own on, or from the one behind; nil where there are none, or they cannot
    /// be told.
    ///
    /// Valid until the next call on the transaction.
    package func recordsInPage(isOwnIncluded: Bool) -> PageRecords? {
        guard let stack = CursorStack(active), let start = stack.page(stack.depth - 1) else { return nil }
        let pageSize = 1 << Int(bounds.pageShift.load(ordering: .relaxed))
        guard let page = LeafPage(UnsafeRawBufferPointer(start: start, count: pageSize)) else { return nil }
        return PageRecords(self, page, from: stack.place(stack.depth - 1) + (isOwnIncluded ? 0 : 1))
    }
}
