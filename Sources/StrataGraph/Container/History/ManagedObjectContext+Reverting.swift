public import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Takes back what a transaction did, as changes of this context that the next save writes: what it made is
    /// deleted, what it deleted comes back under its own id, what it changed has the values from before.
    ///
    /// ```swift
    /// try context.revert(transaction)
    /// context.transactionReason = "revert of \(transaction)"
    /// try context.save()
    /// ```
    ///
    /// - Parameter policy: what becomes of objects that were changed after the transaction, in the same properties, and
    ///   of links to objects that were deleted: an error by default, the store's or the reverted values else, and no link.
    /// - Throws: `merge` (133020) with every conflict: base is what the transaction wrote, theirs what is there now,
    ///   mine what was before; then nothing was changed. `futureSequence`, `readOnly`.
    public func revert(_ transaction: TransactionNumber, policy: MergePolicy = .error) throws {
        let changes = try binding.netChanges(in: transaction).inverted
        var records: [ConflictRecord] = []
        let links = try applyNotingLinks(changes, askingForLostTargets: true) { conflict in
            let resolution = try policy.resolution(of: conflict) {
                try self.events(of: conflict.objectID, after: transaction)
            }
            if let winner = resolution.winner, !conflict.isAgreed {
                records.append(ConflictRecord(conflict, winner: winner, policy: policy.name))
            }
            return resolution
        }
        record(links, in: &records, policy)
        overruled += records
        processPendingChanges()
    }

    private func events(of id: ObjectID, after transaction: TransactionNumber) throws -> [HistoryEvent] {
        let store = binding.store
        return try store.named(store.history(of: id, after: try store.eventNumber(of: transaction)).reversed())
    }

    /// Gives an object the values and links that it had at a sequence, as changes of this context; an object that is
    /// gone comes back under its own id, one that was not there yet is deleted.
    ///
    /// To-ones are part of the object. Members of a one-to-many point at it themselves and are left as they are.
    ///
    /// - Returns: the object; nil when it was not there then.
    /// - Throws: `futureSequence`, `historyDropped`, `readOnly`.
    @discardableResult
    public func restore(_ id: ObjectID, at eventNumber: EventNumber) throws -> ManagedObject? {
        let then = try binding.store.transaction(containing: eventNumber)?.lastEvent ?? eventNumber
        // What is pending goes back too, to where the history begins.
        var changes = try pendingChanges(of: id).inverted
        changes.append(try binding.store.netChanges(of: id, after: then).inverted)
        try apply(changes) { _ in .mine }
        processPendingChanges()
        return try presentObject(id)
    }

    private func pendingChanges(of id: ObjectID) throws -> NetChanges {
        foldLinkChanges()
        var changes = NetChanges()
        if let object = map[id] ?? objectOfDeletedRow(id) { changes.objects[id] = try netChange(of: object) }
        changes.pairs = try netPairChanges().filter { $0.key.source == id || $0.key.target == id }
        return changes
    }
}
