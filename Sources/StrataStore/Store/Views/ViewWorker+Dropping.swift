import LMDB
import Locking
import StrataModel

// Views of older models. Their groups stay as they were, and are read through these models, until the views that may
// replace them are complete.

extension ViewWorker {
    /// Whether there is a view that catches up, one to be built or one to be dropped.
    func hasWork() throws -> Bool {
        try file.read { transaction, _, histories in
            // A view with projections falls behind when a process saves that does not have their types.
            let views = histories.newest?.model.views ?? []
            if views.contains(where: { $0.upkeep == .catchingUp || $0.hasProjections }) { return true }
            return try !ViewProgress.all(transaction, file.tables).isEmpty
        }
    }

    /// Removes some records of a view that is replaced, in one commit.
    ///
    /// - Returns: whether there is more to do.
    func dropSome() throws -> Bool {
        // Mostly there is nothing to do, and finding that out needs no turn of the writer.
        guard try file.read({ transaction, _, histories in try next(transaction, histories) }) != nil else {
            return false
        }
        let isDone = Locked(false)
        do {
            try onWriter { [self] in
                let done = try file.writeDirectly { transaction in
                    transaction.mayBeLost = true
                    return try drop(transaction)
                }
                isDone.withLock { $0 = done }
            }
        } catch {
            throw file.publicError(error, during: "dropping a view")
        }
        return !isDone.withLock { $0 }
    }

    private func drop(_ transaction: WriteTransaction) throws -> Bool {
        let head = try file.readHead(transaction)
        guard let view = try next(transaction, try file.histories(for: head, transaction)) else { return true }
        // From here on its groups have no readers.
        try ViewProgress.dropping.write(view, transaction, file.tables)
        if try file.tables.removeRecords(of: view, atMost: limits.objects, transaction) < limits.objects {
            try ViewProgress.remove(view, transaction, file.tables)
        }
        return false
    }

    /// The view to be dropped next; nil if there is none, or its successors are not complete.
    private func next(_ transaction: ReadTransaction, _ histories: SchemaHistory) throws -> ViewID? {
        let progress = try ViewProgress.all(transaction, file.tables)
        let retired = progress.filter(\.value.isRetired)
        guard let first = retired.keys.min(), let schema = histories.newest else { return nil }
        if let begun = retired.filter({ !$0.value.isBegun }).keys.min() { return begun }
        for view in schema.model.views {
            guard let id = schema.assignment.views[view.name] else { continue }
            let own = progress[id]
            guard view.upkeep == .inline ? own == nil : own?.isComplete == true else { return nil }
        }
        return first
    }
}
