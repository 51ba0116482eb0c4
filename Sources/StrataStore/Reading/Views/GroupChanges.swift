import LMDB
import StrataModel

/// By how much rows change the groups of views, collected group by group.
///
/// Additions and removals commute, so they may be collected in any order. A write batch carries them out in the tables
/// (`GroupChanges+Writing`); a snapshot lays them over what the tables have. Belongs to one batch or one read, on one
/// thread at a time.
final class GroupChanges {
    /// A group in these changes.
    struct Group {
        let number: Int
        /// The index of its first aggregate in `states`.
        let first: Int
    }

    struct GroupChange {
        let view: PreparedView
        let first: Int
        var rowCount: Int64 = 0
        var changesValues = false
    }

    struct ValueChange {
        let group: Int
        let aggregate: Int
        var delta: Int64 = 0
    }

    /// The whole key of the group to be changed next.
    @exclusivity(unchecked) var key = ByteWriter(capacity: 256)
    /// The changes of aggregates, group by group.
    @exclusivity(unchecked) var states: [AggregateState] = []
    @exclusivity(unchecked) private(set) var table = GroupTable()
    @exclusivity(unchecked) private(set) var groups: [GroupChange] = []
    @exclusivity(unchecked) private(set) var values = GroupTable()
    @exclusivity(unchecked) private(set) var valueChanges: [ValueChange] = []
    @exclusivity(unchecked) private var valueKey = ByteWriter(capacity: 256)
    /// The keys of values that become more, by group; found by `lay`.
    private var added: [Int: [[UInt8]]] = [:]
    /// What comes into the states of projections and leaves them, by their numbers in `states`.
    private var projected: [Int: ProjectedChanges] = [:]
    /// The next states of projections, once they are known.
    private var foreseen: [Int: [UInt8]] = [:]
    private var projectedSize = 0

    /// About the memory taken.
    var sizeInBytes: Int { groups.count * 160 + states.count * 96 + valueChanges.count * 128 + projectedSize }
    var isEmpty: Bool { groups.isEmpty }

    // MARK: Collecting

    /// Begins the key of a group of a view; the caller appends its elements.
    func begin(_ view: PreparedView) {
        key.reset()
        key.append(bigEndian: view.id.rawValue)
    }

    /// The group with the key that was written, with one object more or less.
    func group(_ view: PreparedView, _ sign: Int64) -> Group {
        let (number, isNew) = table.number(of: key.bytes)
        if isNew {
            groups.append(GroupChange(view: view, first: states.count))
            for _ in view.aggregates { states.append(AggregateState()) }
        }
        groups[number].rowCount += sign
        return Group(number: number, first: groups[number].first)
    }

    /// Adds a value to an aggregate, or takes it away.
    ///
    /// - Parameters:
    ///   - id: the object that has the value.
    ///   - keyKind: how the value is encoded where it is kept.
    func add(
        _ value: AttributeValue, of id: ObjectID, _ kind: AggregateKind, _ keyKind: KeyKind, _ aggregate: Int,
        _ sign: Int64, to group: Group
    ) {
        if value.isNull { return }
        let state = group.first + aggregate
        switch kind {
        case .rows, .projected: return
        case .values: states[state].count += sign
        case .integerSum, .decimalSum, .doubleSum:
            switch value {
            case .integer(let number): states[state].add(number, sign)
            case .double(let number): states[state].add(number, sign)
            // As in rows of values: the shortest decimal number that stands for the Float.
            case .float(let number): states[state].add(ExactSum.double(number), sign)
            case .decimal(let number): states[state].add(DecimalParts(number), sign)
            default: return
            }
        case .minimum, .maximum:
            // NaN is no extreme.
            if !value.isNaN { keep(aggregate, sign, to: group) { GroupKey.append(value, keyKind, to: &$0) } }
        case .first, .last:
            if !value.isNaN { keep(aggregate, sign, to: group) { GroupKey.append(value, keyKind, of: id, to: &$0) } }
        case .distinct: keep(aggregate, sign, to: group) { GroupKey.append(value, keyKind, to: &$0) }
        }
    }

    /// Adds what a projection reads of an object, or takes it away.
    func add(
        _ values: [AttributeValue], of id: ObjectID, _ aggregate: Int, _ sign: Int64, to group: Group
    ) throws {
        var own = projected.removeValue(forKey: group.first + aggregate) ?? ProjectedChanges()
        let before = own.sizeInBytes
        try own.add(id, values, sign)
        projectedSize += own.sizeInBytes - before
        projected[group.first + aggregate] = own
        groups[group.number].changesValues = true
    }

    /// Adds a value to those that the group keeps, or takes it away.
    private func keep(_ aggregate: Int, _ sign: Int64, to group: Group, _ append: (inout ByteWriter) -> Void) {
        beginValues(of: group.number, aggregate)
        let start = valueKey.count
        append(&valueKey)
        // The largest value comes first, so that it is found like the smallest.
        if groups[group.number].view.kinds[aggregate].isDescending { valueKey.complement(from: start) }
        ViewKeys.shortenValue(from: start, in: &valueKey)
        let (number, isNew) = values.number(of: valueKey.bytes)
        if isNew { valueChanges.append(ValueChange(group: group.number, aggregate: aggregate)) }
        valueChanges[number].delta += sign
        groups[group.number].changesValues = true
    }

    /// Writes the beginning of the keys of all values of a group's aggregate.
    private func beginValues(of group: Int, _ aggregate: Int) {
        valueKey.reset()
        ViewKeys.append(group: table.key(group), to: &valueKey)
        valueKey.append(UInt8(truncatingIfNeeded: aggregate))
    }

    // MARK: States

    /// Adds the changes of a group to what the table has.
    func apply(_ number: Int, to state: inout GroupState) throws {
        let group = groups[number]
        state.rowCount += group.rowCount
        guard state.rowCount >= 0 else {
            throw StrataError(
                .corrupt,
                "A group of the view \(group.view.description.name) would count its objects below zero. Rebuild the view.",
                context: .init(entityName: group.view.description.entityName))
        }
        for index in state.aggregates.indices { state.aggregates[index].add(states[group.first + index]) }
        if projected.isEmpty || state.rowCount == 0 { return }
        for (index, kind) in group.view.kinds.enumerated() where kind == .projected {
            let number = group.first + index
            if let known = foreseen[number] {
                state.aggregates[index].extremes = [known]
            } else if let changes = projected[number] {
                let before = state.aggregates[index].extremes.first
                state.aggregates[index].extremes = [try group.view.advance(index, before, by: changes)]
            }
        }
    }

    /// Makes the next states of projections ahead of their writing, so that what they cannot follow is known before.
    ///
    /// - Parameter tables: what has the states before; nil for none.
    /// - Throws: `ViewFault`; `viewFailed` if the process does not have the type.
    func foresee(over tables: ViewTables?, _ transaction: ReadTransaction) throws {
        if projected.isEmpty { return }
        var stored = ByteWriter(capacity: 256)
        for number in groups.indices where groups[number].view.hasProjections {
            let view = groups[number].view
            stored.reset()
            ViewKeys.append(group: table.key(number), to: &stored)
            var state = GroupState(view)
            if let record = try tables.flatMap({ try transaction.get($0.groups, stored.bytes) }) {
                state = try GroupState.decode(stored.bytes, record, view).state
            }
            try apply(number, to: &state)
            for (index, kind) in view.kinds.enumerated() where kind == .projected {
                foreseen[groups[number].first + index] = state.aggregates[index].extremes.first
            }
        }
    }

    /// Counts a value that is new in its group, or no longer there.
    func noteDistinct(_ change: ValueChange, _ before: Int64, _ after: Int64) {
        guard (before > 0) != (after > 0) else { return }
        let group = groups[change.group]
        guard group.view.kinds[change.aggregate] == .distinct else { return }
        states[group.first + change.aggregate].count += after > 0 ? 1 : -1
    }

    /// Sets the extremes of an aggregate of a group to its first values.
    ///
    /// - Parameter delta: by how much these changes change the number of a value that the table has.
    func findExtremes(
        of number: Int, _ aggregate: Int, in state: inout GroupState, _ table: Table?, _ transaction: ReadTransaction,
        others: [[UInt8]] = [], _ delta: (UnsafeRawBufferPointer) -> Int64
    ) throws {
        let kind = groups[number].view.kinds[aggregate]
        beginValues(of: number, aggregate)
        let prefix = valueKey.bytes
        var first: [[UInt8]] = []
        if let table { first = try firstValues(kind.extremeCount, prefix, table, transaction, delta) }
        let added = others.filter { $0.withUnsafeBytes { $0.hasPrefix(prefix) } }
        if !added.isEmpty {
            let all = Set(first + added.map { Array($0.dropFirst(prefix.count)) })
            first = Array(all.sorted { $0.lexicographicallyPrecedes($1) }.prefix(kind.extremeCount))
        }
        state.aggregates[aggregate].extremes = kind.isDescending ? first.map { $0.map { ~$0 } } : first
    }

    /// The first values in the table, after a prefix, that are there with the changes.
    private func firstValues(
        _ count: Int, _ prefix: UnsafeRawBufferPointer, _ table: Table, _ transaction: ReadTransaction,
        _ delta: (UnsafeRawBufferPointer) -> Int64
    ) throws -> [[UInt8]] {
        try transaction.withCursor(table) { cursor in
            var values: [[UInt8]] = []
            var found = try cursor.seek(atOrAfter: prefix)
            while found, values.count < count, cursor.key.hasPrefix(prefix) {
                if try CounterKey.value(cursor.value) + delta(cursor.key) > 0 {
                    values.append(Array(cursor.key.dropFirst(prefix.count)))
                }
                found = try cursor.next()
            }
            return values
        }
    }

    // MARK: Laying over

    /// The group with a whole key, if these changes have one, with what the tables have.
    ///
    /// - Returns: nil for a group that these changes do not touch.
    func laid(
        over base: GroupState?, key: [UInt8], _ view: PreparedView, _ tables: ViewTables?,
        _ transaction: ReadTransaction
    ) throws -> GroupState? {
        begin(view)
        key.withUnsafeBytes { self.key.append($0) }
        guard let number = table.knownNumber(of: self.key.bytes) else { return nil }
        var state = base ?? GroupState(view)
        try apply(number, to: &state)
        if groups[number].changesValues {
            let others = added[number] ?? []
            for (index, kind) in view.kinds.enumerated() where kind.extremeCount > 0 {
                try findExtremes(of: number, index, in: &state, tables?.values, transaction, others: others) { key in
                    self.values.knownNumber(of: key).map { self.valueChanges[$0].delta } ?? 0
                }
            }
        }
        return state
    }

    /// Compares the values with those of the tables, once, before `laid`.
    func lay(over tables: ViewTables?, _ transaction: ReadTransaction) throws {
        for (number, change) in valueChanges.enumerated() where change.delta != 0 {
            let key = values.key(number)
            var before: Int64 = 0
            if let tables { before = try transaction.get(tables.values, key).map(CounterKey.value) ?? 0 }
            noteDistinct(change, before, before + change.delta)
            if change.delta > 0 { added[change.group, default: []].append(Array(key)) }
        }
    }

    /// The whole keys of the touched groups without the view's number, in key order.
    var keys: [[UInt8]] {
        table.inKeyOrder().map { Array(table.key($0).dropFirst(ViewKeys.numberSize)) }
    }
}
