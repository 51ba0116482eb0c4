import StrataModel
import StrataStore

// A child shows its parent as it was when the child last looked: the parent's event number, with the layers
// of what the parent (and its parents) had not saved. The layers do not change, so the child is isolated from the
// parent as contexts are from each other, and a save brings its changes to the parent by three-way merge.

extension ManagedObjectContext {
    /// A context whose changes are saved into this one, and reach the store when this one is saved.
    ///
    /// It shows this context's unsaved changes as they are now, works in the same isolation, and may have children
    /// itself. Its ids are those the objects will have in the store.
    ///
    /// ```swift
    /// let editing = try context.newChildContext()
    /// let draft = try editing.existingObject(with: movie.objectID, as: Movie.self)
    /// draft.title = "Solaris"
    /// try editing.save()   // the movie has the title now; the store has it after context.save()
    /// ```
    ///
    /// - Throws: `readOnly` for a context of a past moment, `corrupt`.
    public func newChildContext() throws -> ManagedObjectContext { try makeChild(isScratch: isScratch) }

    /// A context on top of this one that can be changed, validated, fetched from and compared, but not saved.
    public func newScratchContext() throws -> ManagedObjectContext { try makeChild(isScratch: true) }

    private func makeChild(isScratch: Bool) throws -> ManagedObjectContext {
        guard !isReadOnly || isScratch else { throw readOnlyError }
        let child = ManagedObjectContext(binding: binding, at: base, parent: self, isScratch: isScratch)
        child.mergePolicy = mergePolicy
        child.observesObjects = observesObjects
        child.standpoint.stand(on: standpoint, under: try pendingLayers())
        child.pendingLinks.forgetMembers()
        return child
    }

    // MARK: Saving into the parent

    private var rulesForParent: ChangeApplication.Rules {
        ChangeApplication.Rules(
            policy: mergePolicy, agreement: .conflicts, deletionsArePrepared: true, asksForLostTargets: true,
            lostTargets: pendingLinks.lost.targets,
            wholeObject: wholeObject, isDeletedItself: { self.map[$0]?._flags.contains(.deletedItself) ?? false })
    }

    /// Takes deletions back that lose against the parent's changes by the policy, with all that they did
    /// to other objects here.
    ///
    /// - Returns: whether there were any; what is left to save is to be prepared again.
    func takeBackLostDeletions(_ parent: ManagedObjectContext) throws -> Bool {
        guard pending.hasDeletions else { return false }
        let application = try ChangeApplication(try netChanges(), rulesForParent, in: parent)
        guard !application.returning.isEmpty else { return false }
        saving.overruled += application.records.filter { application.returning.contains($0.conflict.objectID) }
        let returning = ReturningDeletions(application.returning, keeping: application.keptDeletions, in: self)
        for id in returning.decided {
            if let object = objectOfDeletedRow(id) ?? map[id] { takeBackOwnDeletion(of: object) }
        }
        try takeBack(returning)
        for id in returning.all { try restorePartners(of: id) }
        try rebuildLinkChanges()
        try applyDeleteRules(to: returning)
        return true
    }

    /// - Returns: what was saved, if an observer listens.
    func save(into parent: ManagedObjectContext) throws -> ContextChanges? {
        let records = try parent.apply(try netChanges(), rulesForParent)
        parent.saving.overruled += saving.overruled + records
        let cuts = pending.causes.cuts.filter { parent.isDeleted($0.value) }
        parent.pending.adoptCuts(cuts)
        parent.processPendingChanges()
        let saved = observers.listening(to: .didSave).isEmpty ? nil : pendingChanges(.didSave)
        let ids = Set(pending.lists.joined().lazy.map(\.objectID))
        settleWithoutSaving()
        try follow(parent, saved: ids)
        return saved
    }

    /// An object as this context has it, to be made again where it is gone.
    private func wholeObject(_ id: ObjectID) throws -> NetChanges.Object? {
        guard let object = map[id], !object._flags.contains(.deleted) else { return nil }
        let row = try RowReader(object.rowBytes, layout: object._entity.layout)
        return try NetChanges.Object(row, object._entity.schema, isInserted: true)
    }
}
