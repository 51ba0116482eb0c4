import LMDB
package import StrataModel

/// Rows of one state by id, valid inside the read that made it.
///
/// Nearly always the state is that of the head, without layers and through the newest model; then no snapshot is made, and
/// nothing is counted for a row but the row itself.
package struct RowReading {
    private let transaction: Unmanaged<ReadTransaction>
    private let histories: Unmanaged<SchemaHistory>
    private let objects: Table
    /// Where layers lie above, or the model is another.
    private let snapshot: Snapshot?

    fileprivate init(
        _ transaction: ReadTransaction, _ objects: Table, _ histories: SchemaHistory, _ snapshot: Snapshot?
    ) {
        self.transaction = Unmanaged.passUnretained(transaction)
        self.histories = Unmanaged.passUnretained(histories)
        self.objects = objects
        self.snapshot = snapshot
    }

    /// The object's row, valid until thirty more have been read; nil when there is no such object.
    ///
    /// - Throws: `corrupt` when the stored row does not match its checksum.
    package func row(_ id: ObjectID) throws -> SnapshotRow? {
        if let snapshot { return try snapshot.row(id) }
        return try transaction._withUnsafeGuaranteedRef { transaction in
            try histories._withUnsafeGuaranteedRef { histories in
                try transaction.find(objects, id.rawValue).map { try SnapshotRow(stored: $0, id, histories) }
            }
        }
    }

    /// Calls `body` with the place and the row of each of some objects, nil where there is no such object, until it
    /// returns false: for less than as many calls of `row`.
    ///
    /// - Throws: `corrupt` when a stored row does not match its checksum; rows before it have been given.
    package func forEachRow(
        _ count: Int, id: (Int) -> ObjectID, _ body: (Int, SnapshotRow?) throws -> Bool
    ) throws {
        guard snapshot == nil, count > 1 else {
            for index in 0..<count { guard try body(index, try row(id(index))) else { return } }
            return
        }
        try transaction._withUnsafeGuaranteedRef { transaction in
            try histories._withUnsafeGuaranteedRef { histories in
                try transaction.withCursor(objects) { cursor in
                    try RowLookup(cursor).forEach(count, id: id) { index, id, value in
                        try body(index, try value.map { try SnapshotRow(stored: $0, id, histories) })
                    }
                }
            }
        }
    }
}

extension Store {
    /// Runs `body` with the rows of the state at `sequence` with `layers` above it.
    ///
    /// The same as a `read` whose snapshot is asked for rows only, for less.
    ///
    /// - Throws: as `read`.
    package func readRows(
        at eventNumber: EventNumber, layers: [Layer], through schema: Schema, _ body: (RowReading) throws -> Void
    ) throws {
        try checkOpen()
        try core.read { transaction, head, newest in
            var snapshot: Snapshot?
            if eventNumber != head || !layers.isEmpty || newest.newest !== schema {
                snapshot = try self.snapshot(
                    at: eventNumber, layers: layers, through: schema, transaction, head, newest)
            }
            try body(RowReading(transaction, core.tables.objects, newest, snapshot))
        }
    }
}
