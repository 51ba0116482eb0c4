public import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// The revision of an object's stored values as this context has read them: the newest event on its row.
    ///
    /// Links whose truth is a pair, as in many-to-many relationships, are not on the row.
    ///
    /// - Returns: nil for an object that is not saved, or not there any more.
    /// - Throws: what reading the store throws.
    public func revision(of object: ManagedObject) throws -> EventNumber? {
        guard object._context === self, !object._flags.contains(.inserted) else { return nil }
        try learnRevisions()
        if object._base != nil { return object._revision }
        return try read { try $0.row(object.objectID)?.revision }
    }

    /// Saves only if objects still have the revisions that they had: those that this save writes, and those that it has
    /// only read and relies on.
    ///
    /// The check is part of the commit, so nothing can come between; that of a child context is made when it saves into
    /// its parent, whose own save knows nothing of it. It is made whatever the merge policy; with it two
    /// saves that each read what the other writes cannot both succeed.
    ///
    /// ```swift
    /// let seen = try context.revision(of: account)
    /// transfer.amount = account.balance / 2
    /// try context.save(expecting: [account.objectID: seen])
    /// ```
    ///
    /// - Parameter revisions: by object; nil for one that must not be there.
    /// - Throws: `persistentStoreSaveConflicts` (134050) with the objects that others changed or deleted; nothing is
    ///   saved then, and the changes stay pending. Else as `save()`.
    public func save(expecting revisions: [ObjectID: EventNumber?]) throws {
        saving.expectedRevisions = revisions
        defer { saving.expectedRevisions = [:] }
        guard hasChanges else { return try checkExpectations() }
        try save()
    }

    /// - Throws: `persistentStoreSaveConflicts` with the objects that are not as expected in the newest state.
    func checkExpectations() throws {
        guard !saving.expectedRevisions.isEmpty else { return }
        try binding.read(at: try binding.store.head()) { try $0.check(saving.expectedRevisions) }
    }
}

extension ManagedObjectContext {
    /// Reads the newest revision of rows that this context saved itself and now changes again.
    func learnRevisions() throws {
        var unknown: [ManagedObject] = []
        for list in [pending.updated, pending.deleted] {
            for object in list where object._flags.contains(.revisionUnknown) { unknown.append(object) }
        }
        guard !unknown.isEmpty else { return }
        try read { snapshot in
            for object in unknown {
                if let row = try snapshot.row(object.objectID) { object._revision = row.revision }
                object.noteRevisionKnown()
            }
        }
    }

    /// The same, but where the context's state can no longer be read, rows count as changed since: the save merges them
    /// with what the store has, value by value.
    func learnKeptRevisions() throws {
        do {
            try learnRevisions()
        } catch let error as StrataError where error.code == .historyDropped {
            for list in [pending.updated, pending.deleted] {
                for object in list where object._flags.contains(.revisionUnknown) {
                    object._revision = .zero
                    object.noteRevisionKnown()
                }
            }
        }
    }
}
