import LMDB
import StrataModel

extension GroupChanges {
    /// Writes the changes to the tables. A group without objects goes away.
    func write(to tables: ViewTables, _ transaction: WriteTransaction) throws {
        do {
            try writeGroups(to: tables, transaction)
        } catch let error as CorruptRecord {
            throw StrataError.corrupt(error, "viewGroups")
        }
    }

    private func writeGroups(to tables: ViewTables, _ transaction: WriteTransaction) throws {
        let cursor = try transaction.writeCursor(tables.groups)
        defer { cursor.close() }
        var others = StoredValues(tables.values, transaction)
        defer { others.close() }
        var merge = GroupMerge()
        var stored = ByteWriter(capacity: 256)
        // A copy, because the table of values changes meanwhile.
        var before = ByteWriter(capacity: 256)
        var orders = OrderChanges()
        for number in table.inWritingOrder() {
            let view = groups[number].view
            let whole = table.key(number)
            stored.reset()
            ViewKeys.append(group: whole, to: &stored)
            let rest = UnsafeRawBufferPointer(rebasing: whole[ViewKeys.numberSize...])
            let isThere = try cursor.seek(to: stored.bytes)
            before.reset()
            if isThere { before.append(cursor.value) }
            let isCut = stored.count != whole.count
            let rowCount = try merge.merge(
                number, of: self, isThere ? before.bytes : nil, key: stored.bytes, wholeKey: isCut ? rest : nil, &others
            )
            if !view.orders.isEmpty {
                let (old, new) = (isThere ? before.bytes : nil, rowCount > 0 ? merge.record.bytes : nil)
                try orders.change(view, stored.bytes, rest, from: old, to: new)
            }
            if rowCount == 0 {
                if isThere { try cursor.delete() }
            } else if !isThere || !merge.record.bytes.isSame(as: before.bytes) {
                try cursor.put(stored.bytes, merge.record.bytes)
            }
        }
        try orders.write(to: tables.orders, transaction)
    }
}
