import LMDB
import StrataModel

extension GroupChanges {
    /// Writes the changes to the tables. A group without objects goes away.
    func write(to tables: ViewTables, _ transaction: WriteTransaction) throws {
        let moved = try writeValues(to: tables.values, transaction)
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
            defer { orders.end(view) }
            if state.rowCount == 0 {
                if isThere { try cursor.delete() }
                continue
            }
            if groups[number].changesValues {
                try setExtremes(of: number, in: &state, moved, stored.count, tables.values, transaction)
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

    /// The first value of an aggregate that came, and the first that went, as numbers in `values`.
    private struct MovedValues {
        var came: Int?
        var went: Int?
    }

    /// Sets the extremes of a group. The table is searched only where the present one may have gone.
    ///
    /// - Parameter keySize: how many bytes of a value's key are that of its group.
    private func setExtremes(
        of number: Int, in state: inout GroupState, _ moved: [Int: MovedValues], _ keySize: Int, _ table: Table,
        _ transaction: ReadTransaction
    ) throws {
        let group = groups[number]
        for (index, kind) in group.view.kinds.enumerated() where kind.extremeCount > 0 {
            guard let values = moved[group.first + index] else { continue }
            guard kind.extremeCount == 1 else {
                try findExtremes(of: number, index, in: &state, table, transaction) { _ in 0 }
                continue
            }
            func value(_ number: Int) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: self.values.key(number)[(keySize + 1)...])
            }
            // As the table has it: the largest value comes first.
            let now = state.aggregates[index].extremes.first.map { kind.isDescending ? $0.map { ~$0 } : $0 }
            if let came = values.came.map(value), now.map({ $0.withUnsafeBytes { came.compare(with: $0) < 0 } }) ?? true
            {
                state.aggregates[index].extremes = [kind.isDescending ? came.map { ~$0 } : Array(came)]
            } else if let went = values.went.map(value), now.map({ went.elementsEqual($0) }) ?? true {
                try findExtremes(of: number, index, in: &state, table, transaction) { _ in 0 }
            }
        }
    }

    /// Writes how often each value is there.
    ///
    /// - Returns: by the number of an aggregate's state, the first values that came and went.
    private func writeValues(to table: Table, _ transaction: WriteTransaction) throws -> [Int: MovedValues] {
        var moved: [Int: MovedValues] = [:]
        guard !valueChanges.isEmpty else { return moved }
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
                    .corrupt, "A value of the view \(view.name) would be counted below zero. Rebuild the view.",
                    context: .init(entityName: view.entityName))
            }
            if after > 0 {
                try withUnsafeBytes(of: after.littleEndian) { try cursor.put(key, $0) }
            } else {
                try cursor.delete()
            }
            noteDistinct(change, before, after)
            guard (before > 0) != (after > 0) else { continue }
            let state = groups[change.group].first + change.aggregate
            // Values come in key order, so the first one of a state is the smallest.
            if after > 0 {
                if moved[state]?.came == nil { moved[state, default: MovedValues()].came = number }
            } else if moved[state]?.went == nil {
                moved[state, default: MovedValues()].went = number
            }
        }
        return moved
    }
}
