import LMDB
package import StrataModel

/// Rows of one state by id, valid inside the read that made it.
///
/// Nearly always the state is that of the head, without layers and through the newest model; then no view is made, and
/// nothing is counted for a row but the row itself.
package struct RowReading {
    private let transaction: Unmanaged<ReadTransaction>
    private let histories: Unmanaged<SchemaHistory>
    private let objects: Table
    /// Where layers lie above, or the model is another.
    private let view: View?

    fileprivate init(_ transaction: ReadTransaction, _ objects: Table, _ histories: SchemaHistory, _ view: View?) {
        self.transaction = Unmanaged.passUnretained(transaction)
        self.histories = Unmanaged.passUnretained(histories)
        self.objects = objects
        self.view = view
    }

    /// The object's row; nil when there is no such object.
    ///
    /// - Throws: `corrupt` when the stored row does not match its checksum.
    package func row(_ id: ObjectID) throws -> RowView? {
        if let view { return try view.row(id) }
        return try transaction._withUnsafeGuaranteedRef { transaction in
            try histories._withUnsafeGuaranteedRef { try RowView(id, in: transaction, objects, $0) }
        }
    }
}

extension Store {
    /// Runs `body` with the rows of the state at `sequence` with `layers` above it.
    ///
    /// The same as a `read` whose view is asked for rows only, for less.
    ///
    /// - Throws: as `read`.
    package func readRows(
        at sequence: EventSequence, layers: [Layer], through schema: Schema, _ body: (RowReading) throws -> Void
    ) throws {
        try checkOpen()
        try core.read { transaction, head, newest in
            var view: View?
            if sequence != head || !layers.isEmpty || newest.newest !== schema {
                view = try self.view(at: sequence, layers: layers, through: schema, transaction, head, newest)
            }
            try body(RowReading(transaction, core.tables.objects, newest, view))
        }
    }
}
