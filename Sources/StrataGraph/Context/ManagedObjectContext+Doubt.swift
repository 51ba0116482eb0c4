import StrataModel
import StrataStore

// A save in doubt keeps its changes. When it proves to be in the store, and the context has changed more since, what
// was saved becomes the base and only what differs from it is still pending: also what was taken back meanwhile.

extension ManagedObjectContext {
    /// Takes a save that was in doubt and is in the store as what the context stands on; later changes stay on top.
    func absorb(_ doubtful: ChangeSet) throws {
        guard case .saved(let receipt) = try binding.store.save(doubtful) else { return }
        let rest = try netChanges().since(try binding.netChanges(in: receipt.transaction))
        let returned = try objectsThatReturned(doubtful)
        saving.doubtful = nil
        let links = try doubtful.pairs.map { (key: $0.key, isLinked: try isLinked($0.key)) }
        let revisions = try revisions(of: doubtful, at: receipt.eventNumber)
        let before = base
        standpoint.move(to: max(base, receipt.eventNumber))
        pendingLinks.forgetMembers()
        var saved: [ManagedObject] = []
        for insertion in doubtful.insertions {
            guard let object = map[insertion.id] else { continue }
            takeSaved(insertion.image, revisions[insertion.id], of: object)
            saved.append(object)
        }
        for update in doubtful.updates {
            guard let object = map[update.id] else { continue }
            takeSaved(update.image, revisions[update.id], of: object)
            saved.append(object)
        }
        for object in returned { makeNew(object) }
        for deletion in doubtful.deletions {
            _ = pending.takeDeletedRow(deletion.id)
            guard let object = map[deletion.id], !object._flags.contains(.inserted) else { continue }
            forgetSavedDeletion(object)
            saved.append(object)
        }
        pending.dropSettled()
        if before < receipt.eventNumber {
            try refreshObjects(changedAfter: before, through: receipt.previousHead)
        }
        invalidateLayers()
        try rebuildLinkChanges()
        try settlePairs()
        for link in links { try restore(link.key, isLinked: link.isLinked) }
        try apply(rest) { _ in .mine }
        undoManager?.rebase()
        for object in saved {
            object.didSave()
            object.endSavedDeletion()
        }
    }

    /// Whether a save was in doubt and is in the store; then only what differs from it is pending now.
    func settleDoubt() throws -> Bool {
        guard let doubtful = saving.doubtful, try binding.store.hasTransaction(doubtful.transactionID) else {
            return false
        }
        try absorb(doubtful)
        return true
    }

    /// Objects whose deletion the save holds and that are wanted again, read.
    private func objectsThatReturned(_ doubtful: ChangeSet) throws -> [ManagedObject] {
        var objects: [ManagedObject] = []
        for deletion in doubtful.deletions where !pending.deletedRows.contains(deletion.id) {
            guard let object = registeredOrFault(deletion.id), !object._flags.contains(.deleted) else { continue }
            try load(object)
            objects.append(object)
        }
        return objects
    }

    /// An object that the store has no more and the context has.
    private func makeNew(_ object: ManagedObject) {
        object.clearChangedSlots()
        pending.makeAgain(object)
    }

    private func revisions(of changes: ChangeSet, at eventNumber: EventNumber) throws -> [ObjectID: EventNumber] {
        var revisions: [ObjectID: EventNumber] = [:]
        try binding.read(at: eventNumber) { snapshot in
            for id in changes.insertions.map(\.id) + changes.updates.map(\.id) {
                revisions[id] = try snapshot.row(id)?.revision
            }
        }
        return revisions
    }

    /// Makes the row that was saved the base of the object; what it has beyond that is an update.
    private func takeSaved(_ image: RowImage, _ revision: EventNumber?, of object: ManagedObject) {
        let revision = revision ?? object._revision
        if object._flags.contains(.withdrawn) || object._flags.contains(.deleted) {
            pending.noteSaved(deleted: object)
            image.bytes.withUnsafeBytes { object.adoptRow($0, revision: revision) }
            return object.noteRevisionKnown()
        }
        guard object._flags.isPending else { return turnIntoFault(object) }
        let mine = object._entity.properties.filter { property in
            property.isInRow && !property.isDerived
                && !image.bytes.withUnsafeBytes { object._entity.isEqual(slot: property.slot, $0, object.rowBytes) }
        }
        object.rebase(onto: image, revision: revision, keeping: mine.map(\.slot))
        if mine.isEmpty { object.becomeClean() } else { pending.noteSavedInPart(object) }
    }

    // MARK: Pairs

    private func isLinked(_ key: PairKey) throws -> Bool {
        guard let state = state(of: key) else { return false }
        return try isMember(key.target, state)
    }

    /// The source's side of a pair.
    private func state(of key: PairKey) -> ToManyState? {
        binding.link(key.property).map { toManyState($0, key.source) }
    }

    /// A link that was saved and is not wanted any more, or the other way round, is a change again.
    private func restore(_ key: PairKey, isLinked: Bool) throws {
        guard let state = state(of: key), try isMember(key.target, state) != isLinked else { return }
        if isLinked { try linkPair(state, key.target, at: nil) } else { try unlinkPair(state, key.target) }
    }
}
