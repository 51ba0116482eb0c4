// The entries of a view's orders, in the table `viewOrders`.

import LMDB
import StrataModel

extension PreparedView {
    /// An order of the rows, kept in the table `viewOrders`.
    struct Order: Sendable {
        struct Column: Sendable {
            let index: Int
            let isAscending: Bool
        }

        let number: UInt8
        let columns: [Column]
        /// Whether the entries are counted (`RankLevels.swift`).
        let isRanked: Bool

        init(_ number: Int, _ order: ViewOrder, of view: ViewDescription) {
            self.number = UInt8(truncatingIfNeeded: number)
            isRanked = order.isRanked
            let names = view.columnNames
            columns = order.columns.compactMap { column in
                names.firstIndex(of: column.keyPath).map { Column(index: $0, isAscending: column.isAscending) }
            }
        }

        /// Writes the key of a group's entry.
        ///
        /// - Parameters:
        ///   - stored: the key of the group's record.
        ///   - key: the whole key without the view's number.
        ///   - record: the group's record.
        /// - Returns: the bytes of the columns.
        func append(
            _ view: PreparedView, _ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
            record: UnsafeRawBufferPointer, to writer: inout ByteWriter
        ) throws -> Int {
            try append(view, stored, key, to: &writer) { try GroupState.aggregate($0, of: record, view) }
        }

        /// - Parameter state: the number of objects of the group, and its state of an aggregate.
        private func append(
            _ view: PreparedView, _ stored: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
            to writer: inout ByteWriter, _ state: (Int) throws -> (rowCount: Int64, state: AggregateState)
        ) throws -> Int {
            begin(view, &writer)
            let ends = try columns.contains { $0.index < view.keys.count } ? view.elementEnds(key) : []
            let first = writer.count
            for column in columns {
                let start = writer.count
                if column.index < view.keys.count {
                    let element = (column.index == 0 ? 0 : ends[column.index - 1])..<ends[column.index]
                    writer.append(UnsafeRawBufferPointer(rebasing: key[element]))
                } else {
                    let index = column.index - view.keys.count
                    let aggregate = view.aggregates[index]
                    let found = try state(index)
                    try found.state.appendResult(
                        aggregate.kind, aggregate.function, aggregate.value?.type, rowCount: found.rowCount,
                        to: &writer)
                }
                if !column.isAscending { writer.complement(from: start) }
            }
            let columnsSize = writer.count - first
            writer.append(UnsafeRawBufferPointer(rebasing: stored[ViewKeys.numberSize...]))
            return columnsSize
        }

        /// The entry of a group.
        func entry(_ view: PreparedView, _ group: ViewGroup) throws -> OrderEntry {
            var writer = ByteWriter(capacity: 128)
            let columnsSize = try group.stored.withUnsafeBytes { stored in
                try group.key.withUnsafeBytes { key in
                    try append(view, stored, key, to: &writer) { (group.state.rowCount, group.state.aggregates[$0]) }
                }
            }
            return try OrderEntry(writer.bytes, columnsSize: columnsSize)
        }

        /// Writes the prefix of all keys of the order.
        func begin(_ view: PreparedView, _ writer: inout ByteWriter) {
            writer.reset()
            writer.append(bigEndian: view.id.rawValue)
            writer.append(number)
        }

        /// The size of the prefix of all keys of an order.
        static let prefixSize = ViewKeys.numberSize + 1
    }

    /// Returns the ends of the elements of a whole key.
    private func elementEnds(_ key: UnsafeRawBufferPointer) throws -> [Int] {
        var reader = ByteReader(key)
        var ends: [Int] = []
        for key in keys {
            _ = try GroupKey.value(&reader, key.type)
            ends.append(reader.offset)
        }
        return ends
    }
}

/// An entry of `viewOrders`.
struct OrderEntry {
    /// The values of the columns as in a key.
    let columns: [UInt8]
    /// The key of the group's record.
    let group: [UInt8]

    /// - Parameter isForward: whether the order is read from its beginning; if not, only rows with other values change
    ///   places.
    func precedes(_ other: OrderEntry, isForward: Bool) -> Bool {
        if columns == other.columns { return group.lexicographicallyPrecedes(other.group) }
        return columns.lexicographicallyPrecedes(other.columns) == isForward
    }

    init(_ key: UnsafeRawBufferPointer, columnsSize: Int) throws(CorruptRecord) {
        let size = PreparedView.Order.prefixSize
        guard key.count >= size + columnsSize else { throw CorruptRecord("entry of an order cut short", at: 0) }
        columns = Array(key[size..<size + columnsSize])
        group = Array(key[..<ViewKeys.numberSize]) + Array(key[(size + columnsSize)...])
    }

    /// Reads the entry at a cursor.
    init(at cursor: Cursor) throws(CorruptRecord) {
        var reader = ByteReader(cursor.value)
        try self.init(cursor.key, columnsSize: Int(try reader.readInteger(as: UInt16.self)))
    }
}

extension Cursor {
    /// Calls `body` with the entries of an order that begin with a prefix until it returns false.
    ///
    /// - Parameters:
    ///   - isForward: whether the order is read from its beginning. Entries with the same columns come in the order of
    ///     their groups in any case.
    ///   - start: the key of the first entry; nil for the first one in this direction.
    func forEachEntry(
        after prefix: [UInt8], isForward: Bool, from start: [UInt8]? = nil, _ body: (OrderEntry) throws -> Bool
    ) throws {
        if isForward { return try prefix.withUnsafeBytes { _ = try forEachEntry($0, from: start, body) } }
        var bound = RankReader.end(of: prefix) ?? prefix
        if let start {
            guard try start.withUnsafeBytes({ try seek(to: $0) }) else { return }
            bound = Array(key.prefix(PreparedView.Order.prefixSize + (try OrderEntry(at: self)).columns.count))
            guard try bound.withUnsafeBytes({ try forEachEntry($0, from: start, body) }) else { return }
        }
        while try bound.withUnsafeBytes({ try seek(before: $0) }),
            prefix.withUnsafeBytes({ key.hasPrefix($0) })
        {
            let entry = try OrderEntry(at: self)
            bound = Array(key.prefix(PreparedView.Order.prefixSize + entry.columns.count))
            guard try bound.withUnsafeBytes({ try forEachEntry($0, body) }) else { return }
        }
    }

    /// - Returns: false if `body` has ended the run.
    private func forEachEntry(
        _ prefix: UnsafeRawBufferPointer, from start: [UInt8]? = nil, _ body: (OrderEntry) throws -> Bool
    ) throws -> Bool {
        var found = try start.map { try $0.withUnsafeBytes { try seek(atOrAfter: $0) } } ?? seek(atOrAfter: prefix)
        while found, key.hasPrefix(prefix) {
            guard try body(try OrderEntry(at: self)) else { return false }
            found = try next()
        }
        return true
    }
}
