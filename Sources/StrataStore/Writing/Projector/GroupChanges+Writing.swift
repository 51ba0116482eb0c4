import LMDB
import StrataModel

extension GroupChanges {
    /// Writes the changes to the tables. A group without objects goes away.
    ///
    /// - Parameter making: what makes records of these changes on another thread; nil to make all here.
    func write(to tables: ViewTables, _ transaction: WriteTransaction, _ making: GroupMaking? = nil) throws {
        do {
            try writeGroups(to: tables, transaction, making)
        } catch let error as CorruptRecord {
            throw StrataError.corrupt(error, "viewGroups")
        }
    }

    private func writeGroups(to tables: ViewTables, _ transaction: WriteTransaction, _ making: GroupMaking?) throws {
        let cursor = try transaction.writeCursor(tables.groups)
        defer { cursor.close() }
        let numbers = try making.map { try Self.write($0, with: cursor) } ?? table.inWritingOrder()
        var orders = making?.takeOrders() ?? OrderChanges()
        try writeGroups(numbers, to: tables, transaction, with: cursor, &orders)
        try orders.write(to: tables.orders, transaction)
    }

    /// Writes the records that another thread makes, as soon as they are made.
    ///
    /// - Returns: the groups that it has left.
    private static func write(_ making: GroupMaking, with cursor: WriteCursor) throws -> [Int] {
        var left: [Int] = []
        var next = 0
        while let stretch = making.stretch(next) {
            next += 1
            for group in stretch.groups {
                switch group.outcome {
                case .same: break
                case .put: try cursor.put(stretch.key(group), stretch.record(group))
                case .removal: if try cursor.seek(to: stretch.key(group)) { try cursor.delete() }
                case .left: left.append(group.number)
                }
            }
        }
        return left
    }

    private func writeGroups(
        _ numbers: [Int], to tables: ViewTables, _ transaction: WriteTransaction, with cursor: WriteCursor,
        _ orders: inout OrderChanges
    ) throws {
        var others = StoredValues(tables.values, transaction)
        defer { others.close() }
        var merge = GroupMerge()
        var stored = ByteWriter(capacity: 256)
        // A copy, because the table of values changes meanwhile.
        var before = ByteWriter(capacity: 256)
        for number in numbers {
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
    }
}
