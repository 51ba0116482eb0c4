public import StrataModel
import StrataStore

// Undoing a transaction, and restoring an object, by pending changes of a context.

extension ManagedObjectContext {
    /// Undoes a transaction by pending changes of this context, which the next save writes.
    ///
    /// Objects that the transaction inserted are deleted. Objects that it deleted come back with their ids. Properties
    /// that it changed get their former values; where a migration has converted a property since, the values that the
    /// migration makes.
    ///
    /// ```swift
    /// try context.revert(transaction)
    /// context.transactionReason = "revert of \(transaction)"
    /// try context.save()
    /// ```
    ///
    /// - Parameter policy: decides about properties that have changed again since the transaction. A link to an object
    ///   that no longer exists is a conflict too; no policy can bring it back.
    /// - Throws: `merge` (133020) with every conflict that the policy did not resolve. In a conflict, `base` is what
    ///   the transaction wrote, `theirs` the present value, and `mine` the value before. Then the context is unchanged.
    ///   `futureEvent`, `readOnly`; `migration` for a value that cannot be converted.
    public func revert(_ transaction: TransactionNumber, policy: MergePolicy = .error) throws {
        let changes = try binding.convertedChanges(in: transaction).inverted
        saving.overruled += try apply(
            changes,
            ChangeApplication.Rules(policy: policy, asksForLostTargets: true) {
                try self.events(of: $0, after: transaction)
            })
        processPendingChanges()
    }

    private func events(of id: ObjectID, after transaction: TransactionNumber) throws -> [HistoryEvent] {
        let store = binding.store
        return try store.named(store.history(of: id, after: try store.eventNumber(of: transaction)).reversed())
    }

    /// Restores an object to its state at an event number, by pending changes of this context.
    ///
    /// A deleted object comes back with its id; an object that did not exist then is deleted. To-ones and many-to-many
    /// links are restored. Members of a one-to-many have the link in their own to-one and keep it as it is.
    ///
    /// - Returns: the object; nil if it did not exist then.
    /// - Throws: `futureEvent`, `historyDropped`, `readOnly`; `migration` for a value that a migration since cannot
    ///   convert.
    @discardableResult
    public func restore(_ id: ObjectID, at eventNumber: EventNumber) throws -> ManagedObject? {
        let then = try binding.store.transaction(containing: eventNumber)?.lastEvent ?? eventNumber
        // Pending changes of the object are undone first: the history describes saved states only.
        var changes = try pendingChanges(of: id).inverted
        let store = binding.store
        let since = try store.converted(
            store.netChanges(of: id, after: then), from: then, through: store.head(), to: binding.schema)
        changes.append(since.inverted)
        try apply(changes)
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
