import StrataModel
import StrataStore

// A save in doubt keeps its changes pending. If the save turns out to be in the store, what it wrote becomes the base,
// and only the differences from it are still pending: later changes, and changes that were taken back since.

/// A save that was in doubt and is in the store.
struct SettledDoubt {
    let saved: ChangeSet
    let receipt: SaveReceipt
    /// The revisions of the rows that the save wrote.
    let revisions: [ObjectID: EventNumber]
    /// The changes made since the save.
    let rest: NetChanges
    /// Objects whose deletion was saved and that are wanted again.
    let returned: [ManagedObject]
    /// The pairs of the save, and whether they are to be linked now.
    let links: [(key: PairKey, isLinked: Bool)]
    /// The objects in memory that the save concerned, which hear `didSave`.
    let objects: [ManagedObject]
}

extension ManagedObjectContext {
    /// Whether a save was in doubt and is in the store; then only the differences from it are pending now.
    func settleDoubt() throws -> Bool {
        guard let doubtful = saving.doubtful, try binding.store.hasTransaction(doubtful.transactionID) else {
            return false
        }
        guard case .saved(let receipt) = try binding.store.save(doubtful) else { return true }
        let rest = try netChanges().since(try binding.netChanges(in: receipt.transaction))
        let returned = try objectsThatReturned(doubtful)
        saving.doubtful = nil
        let doubt = SettledDoubt(
            saved: doubtful, receipt: receipt, revisions: try revisions(of: doubtful, at: receipt.eventNumber),
            rest: rest, returned: returned, links: try doubtful.pairs.map { ($0.key, try isLinked($0.key)) },
            objects: savedObjects(doubtful))
        try move(.doubtSettled(doubt))
        for object in doubt.objects {
            object.didSave()
            object.endSavedDeletion()
        }
        return true
    }

    /// The objects in memory that the save made, changed or deleted.
    private func savedObjects(_ doubtful: ChangeSet) -> [ManagedObject] {
        (doubtful.insertions.map(\.id) + doubtful.updates.map(\.id)).compactMap { map[$0] }
            + doubtful.deletions.compactMap { deletion in
                map[deletion.id].flatMap { $0._flags.contains(.deleted) ? $0 : nil }
            }
    }

    /// Makes the saved rows the base of their objects; later changes are pending again.
    func settleSaved(_ doubt: SettledDoubt) {
        for (id, image) in doubt.saved.insertions.map({ ($0.id, $0.image) })
            + doubt.saved.updates.map({ ($0.id, $0.image) })
        {
            if let object = map[id] { takeSaved(image, doubt.revisions[id], of: object) }
        }
        for object in doubt.returned { makeNew(object) }
        for deletion in doubt.saved.deletions {
            _ = pending.takeDeletedRow(deletion.id)
            if let object = map[deletion.id], !object._flags.contains(.inserted) { forgetSavedDeletion(object) }
        }
        pending.dropSettled()
    }

    /// Applies the changes made since the save, when the context shows the saved state.
    func makeRest(of doubt: SettledDoubt) throws {
        for link in doubt.links { try restore(link.key, isLinked: link.isLinked) }
        try apply(doubt.rest)
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

    /// Makes the saved row the base of the object; later changes are an update.
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
