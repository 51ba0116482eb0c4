import LMDB
import StrataModel

extension GroupChanges {
    /// Writes the changes to the tables. A group without objects goes away.
    func write(to tables: ViewTables, _ transaction: WriteTransaction) throws {
        try writeValues(to: tables.values, transaction)
        let cursor = try transaction.writeCursor(tables.groups)
        defer { cursor.close() }
        var stored = ByteWriter(capacity: 256)
        var record = ByteWriter(capacity: 256)
        var orders = OrderChanges()
        for number in table.inKeyOrder() where hasChanged(number) {
            let whole = table.key(number)
            stored.reset()
            ViewKeys.append(group: whole, to: &stored)
            let view = groups[number].view
            var state = GroupState(view)
            let isThere = try cursor.seek(to: stored.bytes)
            let rest = UnsafeRawBufferPointer(rebasing: whole[ViewKeys.numberSize...])
            if isThere {
                state = try GroupState.decode(cursor.key, cursor.value, view).state
                try orders.begin(view, stored.bytes, rest, state)
            }
            try apply(number, to: &state)
            defer { orders.end() }
            if state.rowCount == 0 {
                if isThere { try cursor.delete() }
                continue
            }
            if groups[number].changesValues {
                try findExtremes(of: number, in: &state, tables.values, transaction) { _ in 0 }
            }
            let isCut = stored.count != whole.count
            try orders.put(view, stored.bytes, rest, state)
            state.encode(view, wholeKey: isCut ? rest : nil, into: &record)
            try cursor.put(stored.bytes, record.bytes)
        }
        try orders.write(to: tables.orders, transaction)
    }

    private func hasChanged(_ number: Int) -> Bool {
        let group = groups[number]
        if group.rowCount != 0 || group.changesValues { return true }
        let fresh = AggregateState()
        return group.view.aggregates.indices.contains { !states[group.first + $0].isSame(as: fresh) }
    }

    private func writeValues(to table: Table, _ transaction: WriteTransaction) throws {
        guard !valueChanges.isEmpty else { return }
        let cursor = try transaction.writeCursor(table)
        defer { cursor.close() }
        for number in values.inKeyOrder() where valueChanges[number].delta != 0 {
            let change = valueChanges[number]
            let key = values.key(number)
            let before = try cursor.seek(to: key) ? CounterKey.value(cursor.value) : 0
            let after = before + change.delta
            guard after >= 0 else {
                let view = groups[change.group].view.description
                throw StrataError(
                    .corrupt, "A value of the view \(view.name) would be there less than never.",
                    context: .init(entityName: view.entityName))
            }
            if after > 0 {
                try withUnsafeBytes(of: after.littleEndian) { try cursor.put(key, $0) }
            } else {
                try cursor.delete()
            }
            noteDistinct(change, before, after)
        }
    }
}
