import LMDB
import StrataModel

/// By how much rows change the groups of views, collected group by group.
///
/// Additions and removals commute, so they may be collected in any order. A write batch carries them out in the tables
/// (`GroupChanges+Writing`); a snapshot lays them over what the tables have. Both make the records of groups again
/// (`GroupMerge`). Belongs to one batch or one read, on one thread at a time.
final class GroupChanges {
    /// A group in these changes.
    struct Group {
        let number: Int
        /// The index of its first cell.
        let first: Int
    }

    struct GroupChange {
        let view: PreparedView
        /// The index of its first cell.
        let first: Int
        var rowCount: Int64 = 0
    }

    /// A value that comes or goes.
    struct ValueChange {
        /// The value that came before it to the same aggregate of the group, counted from 1; 0 for none.
        let next: UInt32
        let size: UInt16
        /// 1 or -1.
        let delta: Int8
        let offset: Int
    }

    private struct ProjectedState: Hashable {
        let group: Int
        let aggregate: Int
    }

    /// The whole key of the group to be changed next.
    @exclusivity(unchecked) var key = ByteWriter(capacity: 256)
    /// The changes of aggregates, group by group (`AggregateCells`).
    @exclusivity(unchecked) private(set) var cells: [Int64] = []
    @exclusivity(unchecked) private(set) var table = GroupTable()
    @exclusivity(unchecked) private(set) var groups: [GroupChange] = []
    @exclusivity(unchecked) private(set) var doubles: [DoubleSum] = []
    @exclusivity(unchecked) private(set) var decimals: [DecimalSum] = []
    @exclusivity(unchecked) private(set) var values: [ValueChange] = []
    @exclusivity(unchecked) private var valueBytes = ByteWriter(capacity: 1024)
    /// The changed values to add to the states of projections, and to remove from them.
    private var projected: [ProjectedState: ProjectedChanges] = [:]
    /// The next states of projections, once they are known.
    private var foreseen: [ProjectedState: [UInt8]] = [:]
    private var projectedSize = 0
    @exclusivity(unchecked) private var merge = GroupMerge()

    /// About the memory taken.
    var sizeInBytes: Int {
        let sums = doubles.count * MemoryLayout<DoubleSum>.stride + decimals.count * 96
        return groups.count * 160 + cells.count * 8 + sums + values.count * 16 + valueBytes.count + projectedSize
    }
    var isEmpty: Bool { groups.isEmpty }

    // MARK: Collecting

    /// Begins the key of a group of a view; the caller appends its elements.
    func begin(_ view: PreparedView) {
        key.reset()
        key.append(bigEndian: view.id.rawValue)
    }

    /// The group with the key that was written, with one object more or less, or as many.
    func group(_ view: PreparedView, _ sign: Int64) -> Group {
        let (number, isNew) = table.number(of: key.bytes)
        if isNew { addGroup(view) }
        groups[number].rowCount += sign
        return Group(number: number, first: groups[number].first)
    }

    private func addGroup(_ view: PreparedView) {
        let first = cells.count
        groups.append(GroupChange(view: view, first: first))
        for _ in 0..<view.cells.count { cells.append(0) }
        for index in view.cells.doubles {
            cells[first + index] = Int64(doubles.count)
            doubles.append(DoubleSum())
        }
        for index in view.cells.decimals {
            cells[first + index] = Int64(decimals.count)
            decimals.append(DecimalSum())
        }
    }

    /// Counts a value.
    @inline(__always)
    func add(toCountAt cell: Int, _ sign: Int64) { cells[cell] += sign }

    /// Adds a number to a sum, or takes it away.
    @inline(__always)
    func add(_ value: Int64, toSumAt cell: Int, _ sign: Int64) {
        cells[cell] += sign
        set(sumAt: cell, sum(at: cell) &+ Int128(value) &* Int128(sign))
    }

    @inline(__always)
    func add(_ value: Double, toSumAt cell: Int, _ sign: Int64) {
        cells[cell] += sign
        doubles[Int(cells[cell + 1])].add(value, sign)
    }

    @inline(__always)
    func add(_ value: DecimalParts, toSumAt cell: Int, _ sign: Int64) {
        cells[cell] += sign
        decimals[Int(cells[cell + 1])].add(value, sign)
    }

    /// The sum of integers whose count is in a cell.
    func sum(at cell: Int) -> Int128 {
        Int128(cells[cell + 2]) << 64 | Int128(UInt64(bitPattern: cells[cell + 1]))
    }

    private func set(sumAt cell: Int, _ sum: Int128) {
        cells[cell + 1] = Int64(truncatingIfNeeded: sum)
        cells[cell + 2] = Int64(truncatingIfNeeded: sum >> 64)
    }

    /// Adds a value to those that an aggregate keeps, or takes it away.
    ///
    /// - Parameter append: writes the value as in a key.
    @inline(__always)
    func keep(
        at cell: Int, _ sign: Int64, isDescending: Bool,
        _ append: (inout ByteWriter) throws(CorruptRecord) -> Void
    ) throws(CorruptRecord) {
        let start = valueBytes.count
        try append(&valueBytes)
        // The largest value comes first, so that it is found like the smallest.
        if isDescending { valueBytes.complement(from: start) }
        ViewKeys.shortenValue(from: start, in: &valueBytes)
        values.append(
            ValueChange(
                next: UInt32(truncatingIfNeeded: cells[cell]),
                size: UInt16(truncatingIfNeeded: valueBytes.count - start),
                delta: Int8(truncatingIfNeeded: sign), offset: start))
        cells[cell] = Int64(values.count)
    }

    /// Adds the values of an object that a projection reads, or removes them.
    func add(
        _ values: [AttributeValue], of id: ObjectID, _ aggregate: Int, _ sign: Int64, to group: Group
    ) throws {
        let state = ProjectedState(group: group.number, aggregate: aggregate)
        var own = projected.removeValue(forKey: state) ?? ProjectedChanges()
        let before = own.sizeInBytes
        try own.add(id, values, sign)
        projectedSize += own.sizeInBytes - before
        projected[state] = own
    }

    func bytes(of change: ValueChange) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: valueBytes.bytes[change.offset..<change.offset + Int(change.size)])
    }

    // MARK: States

    /// The next state of a projection.
    ///
    /// - Parameter before: nil for none yet.
    func nextState(_ aggregate: Int, ofGroup number: Int, _ before: [UInt8]?) throws -> [UInt8]? {
        let state = ProjectedState(group: number, aggregate: aggregate)
        if let known = foreseen[state] { return known }
        guard let changes = projected[state] else { return before }
        return try groups[number].view.advance(aggregate, before, by: changes)
    }

    /// Makes the next states of projections ahead of their writing, so that changes which they cannot follow are known
    /// before.
    ///
    /// - Parameter tables: the tables with the states before; nil for none.
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
            let rowCount = try Self.sum(state.rowCount, groups[number].rowCount, in: view)
            if rowCount == 0 { continue }
            for (index, kind) in view.kinds.enumerated() where kind == .projected {
                let before = state.aggregates[index].extremes.first
                foreseen[ProjectedState(group: number, aggregate: index)] = try nextState(
                    index, ofGroup: number, before)
            }
        }
    }

    /// A number of objects with a change.
    static func sum(_ count: Int64, _ delta: Int64, in view: PreparedView) throws(StrataError) -> Int64 {
        guard count + delta >= 0 else {
            throw StrataError(
                .corrupt,
                "A group of the view \(view.description.name) would count its objects below zero. Rebuild the view.",
                context: .init(entityName: view.description.entityName))
        }
        return count + delta
    }

    // MARK: Laying over

    /// The group with a whole key, if these changes have one, merged with its record in the tables.
    ///
    /// - Parameters:
    ///   - stored: the key of the group's record.
    ///   - key: the whole key without the view's number.
    /// - Returns: nil for a group that these changes do not touch.
    func laid(
        over tables: ViewTables?, _ stored: [UInt8], key: [UInt8], _ view: PreparedView, _ transaction: ReadTransaction
    ) throws -> GroupState? {
        begin(view)
        key.withUnsafeBytes { self.key.append($0) }
        guard let number = table.knownNumber(of: self.key.bytes) else { return nil }
        return try stored.withUnsafeBytes { stored in
            let base = try tables.flatMap { try transaction.get($0.groups, stored) }
            var others = LaidValues(over: tables?.values, transaction)
            try merge.merge(number, of: self, base, key: stored, &others)
            return try GroupState.decode(stored, merge.record.bytes, view).state
        }
    }

    /// The whole keys of the touched groups without the view's number, in key order.
    var keys: [[UInt8]] {
        table.inKeyOrder().map { Array(table.key($0).dropFirst(ViewKeys.numberSize)) }
    }
}

/// The cells with the changes of a view's aggregates, counted from the first cell of a group:
///
///     count of values           their number
///     sum of integers           their number; two cells with the sum
///     sum of other numbers      their number; which of the sums it is
///     values that are kept      the last one that came or went, counted from 1; 0 for none
struct AggregateCells: Sendable {
    /// The first cell of each aggregate.
    private(set) var starts: [Int] = []
    private(set) var count = 0
    /// The cells that say which sum of doubles it is.
    private(set) var doubles: [Int] = []
    private(set) var decimals: [Int] = []

    init(_ kinds: [AggregateKind]) {
        for kind in kinds {
            starts.append(count)
            switch kind {
            case .rows, .projected: break
            case .values, .distinct, .minimum, .maximum, .first, .last: count += 1
            case .integerSum: count += 3
            case .doubleSum:
                doubles.append(count + 1)
                count += 2
            case .decimalSum:
                decimals.append(count + 1)
                count += 2
            }
        }
    }
}
