// Reads the rows of a view in one of its orders.

import LMDB
import StrataModel

extension Snapshot {
    /// Reads rows in an order until there are enough. In a ranked order, rows before the offset are not read.
    func readFirst(
        _ ordered: ViewAccess.Ordered, _ tables: ViewTables, _ kept: KeptView, _ reading: inout ViewRowReading
    ) throws {
        let view = reading.view
        let rows = try OrderedRows(ordered, view, tables, kept, self)
        var next = rows.waiting[...]
        var start: [UInt8]?
        if ordered.order.isRanked, ordered.coversCondition, reading.request.offset > 0 {
            let found = try rows.start(at: reading.request.offset)
            next = next.dropFirst(found.waiting)
            reading.skipped = reading.request.offset
            start = found.entry
            if start == nil { return try reading.take(rest: next, of: rows) }
        }
        var isEnough = false
        try transaction.withCursor(tables.orders) { cursor in
            let prefix = rows.orderStart + ordered.prefix
            try cursor.forEachEntry(after: prefix, isForward: ordered.isForward, from: start) { entry in
                try spend(rows: 1)
                while let first = next.first, first.precedes(entry, isForward: ordered.isForward) {
                    next.removeFirst()
                    if let group = rows.touched[first.group] { try reading.take(group) }
                    if reading.hasEnough { break }
                }
                if !reading.hasEnough, rows.touched[entry.group] == nil {
                    try entry.group.withUnsafeBytes { stored in
                        guard let record = try transaction.get(tables.groups, stored) else {
                            throw StrataError(
                                .corrupt, "An order of the view \(view.description.name) has a group that is missing.",
                                context: view.context)
                        }
                        try reading.take(stored: stored, record)
                    }
                }
                isEnough = reading.hasEnough
                return !isEnough
            }
        }
        try reading.take(rest: next, of: rows)
    }
}

extension ViewRowReading {
    /// Takes rows that the tables do not have.
    fileprivate mutating func take(rest: ArraySlice<OrderEntry>, of rows: OrderedRows) throws {
        for entry in rest where !hasEnough {
            if let group = rows.touched[entry.group] { try take(group) }
        }
    }
}

/// The rows of a view in an order: the entries of the table, without those of groups that are another in this state, and
/// the entries that these have now.
struct OrderedRows {
    let ordered: ViewAccess.Ordered
    let view: PreparedView
    let tables: ViewTables?
    let transaction: ReadTransaction
    /// The prefix of the keys of all entries of the order.
    let orderStart: [UInt8]
    /// The groups that are another in this state than in the tables, by the keys of their records.
    private(set) var touched: [[UInt8]: ViewGroup] = [:]
    /// The entries of these groups in this state, in the order of the request.
    private(set) var waiting: [OrderEntry] = []
    /// The entries of these groups in the table, in the order of the request.
    private(set) var gone: [OrderEntry] = []

    /// - Complexity: O(1) if the tables have this state; O(touched groups) if they have another one; O(groups) without
    ///   tables.
    init(
        _ ordered: ViewAccess.Ordered, _ view: PreparedView, _ tables: ViewTables?, _ kept: KeptView,
        _ snapshot: Snapshot
    ) throws {
        (self.ordered, self.view, self.tables) = (ordered, view, tables)
        transaction = snapshot.transaction
        orderStart = ordered.start(view)
        guard let tables else {
            try snapshot.forEachGroup(of: view, ViewAccess()) { touched[$0.stored] = $0 }
            try sort()
            return
        }
        guard let changes = try snapshot.changes(of: view, since: kept) else { return }
        for group in try snapshot.touchedGroups(of: view, ViewAccess(), tables, changes) {
            touched[group.stored] = group
            if ordered.order.isRanked, let before = try snapshot.storedGroup(of: view, group.stored, tables) {
                try add(before, to: &gone)
            }
        }
        try sort()
    }

    private mutating func sort() throws {
        for group in touched.values where group.state.rowCount > 0 { try add(group, to: &waiting) }
        let isForward = ordered.isForward
        waiting.sort { $0.precedes($1, isForward: isForward) }
        gone.sort { $0.precedes($1, isForward: isForward) }
    }

    private func add(_ group: ViewGroup, to entries: inout [OrderEntry]) throws {
        let entry = try ordered.order.entry(view, group)
        if entry.columns.starts(with: ordered.prefix) { entries.append(entry) }
    }

    // MARK: Ranks

    private var reader: RankReader? {
        tables.map { RankReader(order: orderStart, transaction: transaction, table: $0.orders) }
    }

    /// The number of entries of the table that begin with the prefix, and how many are before these.
    private func bounds() throws -> Range<Int> {
        guard let reader else { return 0..<0 }
        let first = try reader.count(below: ordered.prefix)
        return first..<(try reader.count(below: RankReader.end(of: ordered.prefix)))
    }

    /// The number of rows.
    ///
    /// - Complexity: as `index(of:)`.
    func count() throws -> Int { try bounds().count - gone.count + waiting.count }

    /// The number of rows before an entry.
    ///
    /// - Complexity: O(log n + touched groups).
    func index(of entry: OrderEntry) throws -> Int {
        func isBefore(_ other: OrderEntry) -> Bool { other.precedes(entry, isForward: ordered.isForward) }
        return try tableIndex(of: entry) - gone.count(where: isBefore) + waiting.count(where: isBefore)
    }

    /// The number of rows whose columns come before those of an entry.
    func betterCount(than entry: OrderEntry) throws -> Int {
        func isBetter(_ other: OrderEntry) -> Bool {
            entry.columns != other.columns && other.precedes(entry, isForward: ordered.isForward)
        }
        var count = 0
        if let reader {
            let bounds = try bounds()
            count =
                ordered.isForward
                ? try reader.count(below: entry.columns) - bounds.lowerBound
                : try bounds.upperBound - reader.count(below: RankReader.end(of: entry.columns))
        }
        return count - gone.count(where: isBetter) + waiting.count(where: isBetter)
    }

    /// The number of entries of the table before an entry, which may be missing.
    private func tableIndex(of entry: OrderEntry) throws -> Int {
        guard let reader else { return 0 }
        let bounds = try bounds()
        let own = try reader.count(below: entry.columns + entry.group[ViewKeys.numberSize...])
        if ordered.isForward { return own - bounds.lowerBound }
        // Equal rows are in the order of their groups in both directions.
        return try bounds.upperBound - reader.count(below: RankReader.end(of: entry.columns))
            + (own - reader.count(below: entry.columns))
    }

    /// The whole key of the entry of the table at an index.
    private func tableEntry(at index: Int) throws -> [UInt8]? {
        guard let reader, index >= 0 else { return nil }
        let bounds = try bounds()
        guard index < bounds.count else { return nil }
        if ordered.isForward { return try reader.entry(at: bounds.lowerBound + index).map { orderStart + $0 } }
        guard let found = try reader.entry(at: bounds.upperBound - 1 - index).map({ orderStart + $0 }),
            let size = try columnsSize(of: found)
        else { return nil }
        // It is right up to the order of equal rows.
        let columns = Array(found[orderStart.count..<orderStart.count + size])
        let end = try reader.count(below: RankReader.end(of: columns))
        return try reader.entry(at: reader.count(below: columns) + index - (bounds.upperBound - end))
            .map { orderStart + $0 }
    }

    private func columnsSize(of key: [UInt8]) throws -> Int? {
        guard let tables else { return nil }
        return try key.withUnsafeBytes { key in
            try transaction.get(tables.orders, key).map { value in
                var reader = ByteReader(value)
                return Int(try reader.readInteger(as: UInt16.self))
            }
        }
    }

    /// Finds the row at an offset.
    ///
    /// - Returns: how many of `waiting` are before it, and the key of the first entry of the table; nil if there is
    ///   none.
    /// - Complexity: O(touched groups * log n).
    func start(at offset: Int) throws -> (waiting: Int, entry: [UInt8]?) {
        // Of the entries that wait, those before the offset come first.
        var (low, high) = (0, waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if try index(of: waiting[middle]) < offset { low = middle + 1 } else { high = middle }
        }
        var index = offset - low
        for (number, entry) in gone.enumerated() {
            guard try tableIndex(of: entry) - number <= offset - low else { break }
            index += 1
        }
        return (low, try tableEntry(at: index))
    }
}
