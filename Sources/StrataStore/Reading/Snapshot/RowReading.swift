import LMDB
package import StrataModel

/// Reads rows of one state by id; valid inside the read that made it.
///
/// In most cases the state is that of the head, without layers and through the newest model. Then rows are read without
/// a snapshot, and without reference counting other than the row's.
package struct RowReading {
    private let transaction: Unmanaged<ReadTransaction>
    private let histories: Unmanaged<SchemaHistory>
    private let objects: Table
    /// Set if there are layers, or the state or the model is not the newest.
    private let snapshot: Snapshot?

    init(
        _ transaction: ReadTransaction, _ objects: Table, _ histories: SchemaHistory, _ snapshot: Snapshot?
    ) {
        self.transaction = Unmanaged.passUnretained(transaction)
        self.histories = Unmanaged.passUnretained(histories)
        self.objects = objects
        self.snapshot = snapshot
    }

    /// The object's row, valid until thirty more have been read; nil if there is no such object.
    ///
    /// - Throws: `corrupt` if the stored row does not match its checksum.
    package func row(_ id: ObjectID) throws -> SnapshotRow? {
        if let snapshot { return try snapshot.row(id) }
        return try transaction._withUnsafeGuaranteedRef { transaction in
            try histories._withUnsafeGuaranteedRef { histories in
                try transaction.find(objects, id.rawValue).map { try SnapshotRow(stored: $0, id, histories) }
            }
        }
    }

    /// Calls `body` with the index and the row of each of `count` objects, nil if there is no such object, until it
    /// returns false. Cheaper than as many calls of `row`.
    ///
    /// - Throws: `corrupt` if a stored row does not match its checksum; earlier rows have been passed to `body`.
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
