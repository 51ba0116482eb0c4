import StrataModel

// Adds rows to the changes of their groups, and removes them.
extension PreparedView {
    /// Adds a row to the changes of its group, or removes it.
    ///
    /// - Parameters:
    ///   - row: in the newest layout of its entity.
    ///   - sign: 1 or -1.
    ///   - evaluation: needed for a condition, and for values of other rows.
    func add(
        _ row: RowReader, _ id: ObjectID, _ sign: Int64, _ evaluation: Evaluation,
        to changes: GroupChanges
    ) throws {
        if let filter, try !filter.holds(row, id, evaluation) { return }
        guard let membersKey else { return try add(row, id, member: .null, sign, evaluation, to: changes) }
        let members = try evaluation.snapshot?.members(of: membersKey, owner: id) ?? []
        for member in members { try add(row, id, member: .objectID(member), sign, evaluation, to: changes) }
        if members.isEmpty { try add(row, id, member: .null, sign, evaluation, to: changes) }
    }

    /// Replaces a row in a view that depends on no other rows. Aggregates of values that stay are left alone.
    ///
    /// - Parameter changed: the properties that may have another value.
    func replace(
        _ before: RowReader, by after: RowReader, _ id: ObjectID, changing changed: [PropertyID],
        _ evaluation: Evaluation, in changes: GroupChanges
    ) throws {
        guard !isGrouping(by: changed) else {
            try add(before, id, -1, evaluation, to: changes)
            return try add(after, id, 1, evaluation, to: changes)
        }
        if let filter, try !filter.holds(after, id, evaluation) { return }
        let group = try group(of: after, id, member: .null, 0, evaluation, in: changes)
        for index in aggregates.indices where isTouched(index, by: changed) {
            try add(index, of: before, id, -1, evaluation, to: group, changes)
            try add(index, of: after, id, 1, evaluation, to: group, changes)
        }
    }

    /// - Parameter member: the key of a to-many.
    private func add(
        _ row: RowReader, _ id: ObjectID, member: AttributeValue, _ sign: Int64,
        _ evaluation: Evaluation, to changes: GroupChanges
    ) throws {
        let group = try group(of: row, id, member: member, sign, evaluation, in: changes)
        for index in aggregates.indices { try add(index, of: row, id, sign, evaluation, to: group, changes) }
    }

    /// The group of a row, with one object more or less, or as many.
    private func group(
        of row: RowReader, _ id: ObjectID, member: AttributeValue, _ sign: Int64,
        _ evaluation: Evaluation, in changes: GroupChanges
    ) throws -> GroupChanges.Group {
        changes.begin(self)
        for key in keys {
            if key.isInSlot {
                try GroupKey.append(row, key.slot, key.path, key.kind, to: &changes.key)
            } else if let function = key.function {
                let value = function.key(of: try key.value(row, id, evaluation))
                GroupKey.append(value, key.kind, to: &changes.key)
            } else if let far = key.far {
                GroupKey.append(try far.value(row, id, evaluation), key.kind, to: &changes.key)
            } else if key.isObject {
                GroupKey.append(.objectID(id), key.kind, to: &changes.key)
            } else if key.members != nil {
                GroupKey.append(member, key.kind, to: &changes.key)
            } else {
                GroupKey.append(try key.value(row, id, evaluation), key.kind, to: &changes.key)
            }
        }
        return changes.group(self, sign)
    }

    // MARK: Aggregates

    private func add(
        _ index: Int, of row: RowReader, _ id: ObjectID, _ sign: Int64, _ evaluation: Evaluation,
        to group: GroupChanges.Group, _ changes: GroupChanges
    ) throws {
        let cell = group.first + cells.starts[index]
        let kind = kinds[index]
        guard let value = aggregates[index].value else {
            guard case .projected = kind else { return }
            let values = try aggregates[index].inputs.map { try $0.value(row, id, evaluation) }
            return try changes.add(values, of: id, index, sign, to: group)
        }
        guard value.isInSlot else {
            return try add(try value.value(row, id, evaluation), of: id, kind, value.kind, cell, sign, changes)
        }
        if row.isNull(value.slot) { return }
        switch (kind, row.kind(value.slot)) {
        case (.values, _): changes.add(toCountAt: cell, sign)
        case (.integerSum, _):
            if let number = row.integer(value.slot) { changes.add(number, toSumAt: cell, sign) }
        case (.doubleSum, .double):
            if let number = row.double(value.slot) { changes.add(number, toSumAt: cell, sign) }
        case (.decimalSum, .decimal):
            let parts = try DecimalParts(row.base, at: Int(row.entry(value.slot).offset))
            changes.add(parts, toSumAt: cell, sign)
        case (.minimum, _), (.maximum, _), (.distinct, _):
            guard case .integer = value.kind else {
                return try add(try row.value(value.slot), of: id, kind, value.kind, cell, sign, changes)
            }
            try changes.keep(at: cell, sign, isDescending: kind.isDescending) { writer throws(CorruptRecord) in
                try GroupKey.append(row, value.slot, [], .integer, to: &writer)
            }
        default: try add(try row.value(value.slot), of: id, kind, value.kind, cell, sign, changes)
        }
    }

    /// Adds a value to an aggregate, or takes it away.
    ///
    /// - Parameter keyKind: how the value is encoded where it is kept.
    private func add(
        _ value: AttributeValue, of id: ObjectID, _ kind: AggregateKind, _ keyKind: KeyKind, _ cell: Int, _ sign: Int64,
        _ changes: GroupChanges
    ) throws {
        if value.isNull { return }
        switch kind {
        case .rows, .projected: return
        case .values: changes.add(toCountAt: cell, sign)
        case .integerSum, .decimalSum, .doubleSum: add(value, to: kind, cell, sign, changes)
        case .minimum, .maximum:
            // NaN is no extreme.
            if value.isNaN { return }
            try changes.keep(at: cell, sign, isDescending: kind.isDescending) {
                GroupKey.append(value, keyKind, to: &$0)
            }
        case .first, .last:
            if value.isNaN { return }
            try changes.keep(at: cell, sign, isDescending: kind.isDescending) {
                GroupKey.append(value, keyKind, of: id, to: &$0)
            }
        case .distinct:
            try changes.keep(at: cell, sign, isDescending: false) { GroupKey.append(value, keyKind, to: &$0) }
        }
    }

    private func add(
        _ value: AttributeValue, to kind: AggregateKind, _ cell: Int, _ sign: Int64, _ changes: GroupChanges
    ) {
        switch (kind, value) {
        case (.integerSum, .integer(let number)): changes.add(number, toSumAt: cell, sign)
        case (.doubleSum, .double(let number)): changes.add(number, toSumAt: cell, sign)
        // As in rows of values: the shortest decimal number for the Float.
        case (.doubleSum, .float(let number)): changes.add(ExactSum.double(number), toSumAt: cell, sign)
        case (.decimalSum, .decimal(let number)): changes.add(DecimalParts(number), toSumAt: cell, sign)
        default: return
        }
    }
}
