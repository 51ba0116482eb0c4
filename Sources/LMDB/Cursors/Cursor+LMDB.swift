import CLMDB
import Synchronization

// Moves by LMDB's cursor, in a write transaction. The pages that LMDB meets are admitted before (`WriteAdmission`).
extension Cursor {
    final func moveToEnd(_ operation: MDB_cursor_op, _ end: TreeTarget) throws(LMDBError) -> Bool {
        try transaction.admission?.admit(table, end)
        return try move(operation)
    }

    final func search(_ operation: MDB_cursor_op, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        if let admission = transaction.admission {
            if operation == MDB_SET_RANGE {
                try admission.admit(table, atOrAfter: key)
            } else {
                try admission.admit(table, key)
            }
        }
        return try move(operation, MDB_val(key))
    }

    final func step(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
        if let admission = transaction.admission { try admitStep(operation, admission) }
        return try move(operation)
    }

    /// Admits the leaf beside the cursor's, if the step leads there.
    private func admitStep(_ operation: MDB_cursor_op, _ admission: WriteAdmission) throws(LMDBError) {
        let isForward = operation == MDB_NEXT
        guard let stack = CursorStack(active) else { return try admission.admit(table, isForward ? .first : .last) }
        let leaf = stack.depth - 1
        guard let page = stack.page(leaf, pageSize) else { return }
        if isForward ? stack.index(leaf) + 1 < page.count : stack.index(leaf) > 0 { return }
        if isForward, let upper = stack.upperEntry(of: leaf, pageSize) {
            try admission.admit(table, .key(SoughtKey(entry: upper)))
        } else if !isForward, let lower = stack.lowerEntry(of: leaf, pageSize) {
            try admission.admit(table, .before(SoughtKey(entry: lower)))
        }
    }

    private func move(
        _ operation: MDB_cursor_op, _ sought: MDB_val = MDB_val()
    ) throws(LMDBError) -> Bool {
        var foundKey = sought
        var foundValue = MDB_val()
        let result = clmdb_cursor_get(active, &foundKey, &foundValue, operation)
        guard result == 0 else { return try stayNowhere(result) }
        if !bounds.contain(foundValue.mv_data, count: foundValue.mv_size)
            || !bounds.contain(foundKey.mv_data, count: foundKey.mv_size)
        {
            try checkSlowly(foundKey, foundValue)
        }
        try admitLongValue(foundValue)
        currentKey = UnsafeRawBufferPointer(start: foundKey.mv_data, count: foundKey.mv_size)
        currentValue = UnsafeRawBufferPointer(start: foundValue.mv_data, count: foundValue.mv_size)
        return true
    }

    /// Admits the pages of a value in the map that begins where only long values do: behind the head of a page. LMDB
    /// has not read them.
    @inline(__always)
    private func admitLongValue(_ value: MDB_val) throws(LMDBError) {
        guard transaction.admission != nil, bounds.contain(value.mv_data, count: value.mv_size) else { return }
        let offset = UInt(bitPattern: value.mv_data) &- bounds.lower.load(ordering: .relaxed)
        guard offset & UInt(pageSize &- 1) == UInt(Page.headerSize) else { return }
        let number = UInt64(offset &>> bounds.pageShift.load(ordering: .relaxed))
        _ = try pages.longValue(from: number, sizeInBytes: value.mv_size)
    }

    @inline(never)
    private func stayNowhere(_ result: Int32) throws(LMDBError) -> Bool {
        clearRecord()
        if result == MDB_NOTFOUND { return false }
        throw transaction.failure(result, "move a cursor")
    }

    @inline(never)
    private func checkSlowly(_ key: MDB_val, _ value: MDB_val) throws(LMDBError) {
        // A writer's own pages are not in the map. The transaction checks that too, but costs a reference count.
        if isWriting, bounds.areOutside(key.mv_data), bounds.areOutside(value.mv_data) { return }
        try transaction.checkSlowly(key)
        try transaction.checkSlowly(value)
    }
}
