import Synchronization

// Moves in the pages of a snapshot. Each page was admitted by the guard (`PageGuard`), so entries are not checked again.
extension Cursor {
    // MARK: Steps

    @inline(__always)
    final func walkToNext() throws(LMDBError) -> Bool {
        let index = leafIndex &+ 1
        guard index < leafCount else { return try walkToNextLeaf() }
        leafIndex = index
        return try show()
    }

    @inline(__always)
    final func walkToPrevious() throws(LMDBError) -> Bool {
        guard leafCount > 0, !isBetween, leafIndex > 0 else { return try walkBackSlowly() }
        leafIndex &-= 1
        return try show()
    }

    /// Shows the record at `leafIndex`.
    @inline(__always)
    private func show() throws(LMDBError) -> Bool {
        isBetween = false
        let offset = leaf.loadUnaligned(fromByteOffset: Page.headerSize &+ 2 &* leafIndex, as: UInt16.self)
        let entry = leaf + Int(offset)
        let head = entry.loadUnaligned(as: UInt64.self)
        let keySize = Int(head &>> 48)
        currentKey = UnsafeRawBufferPointer(start: entry + Page.entryHeaderSize, count: keySize)
        guard head & 0xFFFF_0000_0000 == 0 else { return try showValueAside(of: entry) }
        currentValue = UnsafeRawBufferPointer(
            start: entry + (Page.entryHeaderSize &+ keySize), count: Int(head & 0xFFFF_FFFF))
        return true
    }

    @inline(never)
    private func showValueAside(of entry: UnsafeRawPointer) throws(LMDBError) -> Bool {
        currentValue = try pages.value(of: entry)
        return true
    }

    @inline(never)
    private func walkToNextLeaf() throws(LMDBError) -> Bool {
        checkIsOpen()
        guard leafCount > 0 else { return try walkToFirst() }
        var level = path.count - 1
        while level >= 0, path[level].index + 1 >= path[level].page.count { level -= 1 }
        guard level >= 0 else { return stayBetween(after: leafCount - 1) }
        path[level].index += 1
        _ = try descend(from: level, to: .first)
        return try show()
    }

    @inline(never)
    private func walkBackSlowly() throws(LMDBError) -> Bool {
        checkIsOpen()
        guard leafCount > 0 else { return try walkToLast() }
        if isBetween, leafIndex >= 0 { return try show() }
        var level = path.count - 1
        while level >= 0, path[level].index == 0 { level -= 1 }
        guard level >= 0 else { return stayBetween(after: -1) }
        path[level].index -= 1
        _ = try descend(from: level, to: .last)
        return try show()
    }

    /// Puts the cursor between the record at an index and the one behind it.
    private func stayBetween(after index: Int) -> Bool {
        leafIndex = index
        isBetween = true
        clearRecord()
        return false
    }

    // MARK: Ends and keys

    @inline(never)
    final func walkToFirst() throws(LMDBError) -> Bool {
        try descendFromRoot(to: .first) ? try show() : false
    }

    @inline(never)
    final func walkToLast() throws(LMDBError) -> Bool {
        try descendFromRoot(to: .last) ? try show() : false
    }

    final func walk(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        guard let (index, _) = try leafIndex(of: SoughtKey(key)) else { return false }
        leafIndex = index &- 1
        return try walkToNext()
    }

    final func walk(to key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        guard let (index, isFound) = try leafIndex(of: SoughtKey(key)) else { return false }
        leafIndex = index
        return isFound ? try show() : stayBetween(after: index - 1)
    }

    /// The index where a key belongs, in the cursor's own leaf if it can be there; nil in an empty table.
    @inline(__always)
    private func leafIndex(of key: SoughtKey) throws(LMDBError) -> (index: Int, isFound: Bool)? {
        if leafCount > 0 {
            let page = leafPage
            if key.compare(entry: page.entryStart(0)) <= 0, key.compare(entry: page.entryStart(leafCount - 1)) >= 0 {
                return page.leafIndex(of: key)
            }
        }
        guard try descendFromRoot(to: .key(key)) else { return nil }
        return leafPage.leafIndex(of: key)
    }

    // MARK: Going down

    /// Goes from the root to a leaf; false in an empty table.
    private func descendFromRoot(to target: TreeTarget) throws(LMDBError) -> Bool {
        checkIsOpen()
        leafCount = 0
        clearRecord()
        let tree = try pages.tree(of: table)
        guard tree.depth > 0 else { return false }
        path.allocate()
        path.count = Int(tree.depth) - 1
        return try descend(from: -1, tree.root, to: target)
    }

    /// Goes from an entry of a branch page to a leaf. Nowhere after an error.
    private func descend(from level: Int, _ root: UInt64 = 0, to target: TreeTarget) throws(LMDBError) -> Bool {
        leafCount = 0
        clearRecord()
        let contents = PageGuard.Contents(of: table)
        var number = level < 0 ? root : path[level].page.admittedChild(path[level].index)
        var (target, level) = (target, level + 1)
        while level < path.count {
            let page = try pages.page(number, .branch, in: contents)
            let index = target.index(in: page)
            path[level] = TreePath.Level(page: page, index: index)
            number = page.admittedChild(index)
            level += 1
        }
        let page = try pages.page(number, .leaf, in: contents)
        leaf = page.start
        leafCount = page.count
        leafIndex = if case .last = target { page.count - 1 } else { 0 }
        return true
    }

    // MARK: The leaf

    /// The leaf page; only while the cursor has a position.
    final var leafPage: Page { Page(admittedLeaf: UnsafeRawBufferPointer(start: leaf, count: pageSize), leafCount) }

    final var pageSize: Int { 1 &<< Int(bounds.pageShift.load(ordering: .relaxed)) }

    /// Moves to a record of the leaf page.
    final func walkInLeaf(to index: Int) throws(LMDBError) -> Bool {
        leafIndex = index
        return try show()
    }
}
