package import StrataModel

extension Store {
    /// The new rows of objects whose derived values a save would change, without saving.
    ///
    /// - Returns: empty if others have changed objects since the save's base.
    /// - Throws: what the save would throw at the check: `constraintMerge`, `modelChanged`, a derived value that its
    ///   attribute cannot hold.
    package func derivedRows(after changes: ChangeSet) throws -> [ObjectID: RowImage] {
        try checkOpen()
        return try file.read { transaction, event, histories in
            guard let schema = histories.newest else { return [:] }
            let snapshot = Snapshot(
                eventNumber: event, schema: schema, transaction: transaction, tables: file.tables,
                histories: histories, layers: [])
            let head = try file.readHead(transaction)
            let check = SaveCheck(changes, snapshot: snapshot, head: head, blobs: blobs)
            switch try check.run(TransactionNumber(rawValue: head.transaction.rawValue + 1)) {
            case .stale: return [:]
            case .events(_, _, let derived): return derived
            }
        }
    }
}
