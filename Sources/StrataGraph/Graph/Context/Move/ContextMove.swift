import StrataModel
import StrataStore

// In this folder: how a context gets from one state to another. `ContextMove` is the only place that says in which
// order that is done; `ContextMove+Rows` exchanges the rows of objects, `ManagedObjectContext+Moving` has the callers.

/// Moves a context from one state to another.
///
/// A context moves for a reason: others saved first, or the parent changed, or changes are applied to it. Whatever the
/// reason, the steps and their order are those of `run`. Conflicts are decided before, so that a conflict that fails
/// leaves everything as it was.
struct ContextMove {
    enum Reason {
        /// Others saved before this save. The policy has decided about each object in conflict, and so about deletions
        /// that are taken back.
        case overtaken(Staleness, [SettledObject], ReturningDeletions)
        /// The store has taken the save.
        case saved(ChangeSet, SaveReceipt, KnownMembers)
        /// A save that was in doubt is in the store.
        case doubtSettled(SettledDoubt)
        /// The context goes on to a later state of the store.
        case refreshed(to: EventNumber)
        /// The child goes on to the present state of its parent, into which it may just have saved some objects.
        case parentMoved(ManagedObjectContext, saved: Set<ObjectID>)
        /// One object takes what the store has, and keeps its changes or drops them.
        case objectRefreshed(ManagedObject, keepsChanges: Bool)
        /// Changes of another origin become changes of this context: of a child, of undo, revert, restore or what-if.
        case applied(ChangeApplication)
    }

    let context: ManagedObjectContext
    let reason: Reason
    /// The changes that others saved between the two states; nil where neither the context nor its observers would
    /// notice. `look` sets it.
    private(set) var news: ChangesToShow?
    /// The objects in memory that a parent may have changed.
    private(set) var ofParent: [ManagedObject] = []
    /// The one-to-one ends of what is pending, as they were before rows are exchanged.
    private var partners: [LinkEnd: PartnerMerge.End] = [:]
    /// Links of one-to-ones that lost.
    private(set) var overruledLinks: [OverruledLink] = []
    /// The changes to announce to the context's observers.
    var announcement: ContextChanges?
    /// Whether there turned out to be nothing to move.
    var isOver = false

    init(_ context: ManagedObjectContext, _ reason: Reason) {
        self.context = context
        self.reason = reason
    }

    mutating func run() throws {
        let before = context.standpoint
        try prepare()
        try stand()
        takeSaved()
        try look(since: before)
        try exchangeRows()
        if isOver { return }
        try settleLinks()
        try settlePartners()
        try finishLinks()
        context.standpoint.noteShown()
        rebaseUndo()
        if let announcement, !announcement.isEmpty { context.announce(announcement) }
    }

    // MARK: Before the move

    /// Keeps apart for undo what was changed until now, and reads what can only be read in the old state.
    private func prepare() throws {
        switch reason {
        case .refreshed:
            context.undoManager?.willMove()
            try context.learnKeptRevisions()
        case .parentMoved:
            context.undoManager?.willMove()
            context.makeObjectsOfDeletedPartners { _ in true }
        case .overtaken, .saved, .doubtSettled, .objectRefreshed, .applied: break
        }
    }

    /// The context reads the new state from here on.
    private func stand() throws {
        switch reason {
        case .overtaken(let staleness, _, _): context.standpoint.move(to: staleness.head)
        case .refreshed(let head): context.standpoint.move(to: head)
        case .doubtSettled(let doubt): context.standpoint.move(to: max(context.base, doubt.receipt.eventNumber))
        case .parentMoved(let parent, _):
            context.standpoint.stand(on: parent.standpoint, under: try parent.pendingLayers())
            context.standpoint.beginShowing()
        case .saved(_, let receipt, let members):
            context.standpoint.move(to: receipt.eventNumber)
            if case .unchanged = members { return }
        case .objectRefreshed, .applied: return
        }
        context.pendingLinks.forgetMembers()
    }

    /// Makes the saved state the base of the objects that this context has saved.
    private func takeSaved() {
        switch reason {
        case .saved(let changes, let receipt, let members): context.settleSaved(changes, receipt, members)
        case .doubtSettled(let doubt): context.settleSaved(doubt)
        case .overtaken, .refreshed, .parentMoved, .objectRefreshed, .applied: break
        }
    }

    /// Finds out what others did, and notes the pending one-to-ones, whose rows may be exchanged.
    private mutating func look(since earlier: Standpoint) throws {
        let before = earlier.eventNumber
        switch reason {
        case .overtaken(let staleness, let settled, let returning):
            let words = Dictionary(settled.map { ($0.stale.id, $0) }, uniquingKeysWith: { $1 })
            partners = context.pendingPartners(changedByOthers: Set(words.keys)) { words[$0]?.word(on: $1) }
            returning.restorePartners(&partners)
            news = try context.changesToShow(after: before, through: staleness.head)
        case .saved(_, let receipt, _):
            try lookAtOthers(after: before, through: receipt.previousHead)
        case .doubtSettled(let doubt): try lookAtOthers(after: before, through: doubt.receipt.previousHead)
        case .refreshed(let head): try lookAtOthers(after: before, through: head)
        case .parentMoved(_, let saved):
            partners = context.pendingPartners(changedByOthers: nil)
            ofParent = try context.objectsOfParent(changedSince: earlier, saved)
        case .objectRefreshed(let object, let keepsChanges):
            // Links of what is dropped go at their other ends too.
            let dropped = keepsChanges ? nil : object.objectID
            partners = context.pendingPartners(changedByOthers: nil) { id, _ in id == dropped ? .theirs : nil }
        case .applied(let application): partners = application.partners
        }
    }

    private mutating func lookAtOthers(after first: EventNumber, through last: EventNumber) throws {
        news = try context.changesToShow(after: first, through: last)
        guard let news else { return }
        let others = Set(news.changes.all)
        context.makeObjectsOfDeletedPartners { others.contains($0) }
        partners = context.pendingPartners(changedByOthers: others)
    }

    // MARK: Links

    /// Works out again what follows from the rows: layers, to-manys, and pairs that others linked or cut too.
    private func settleLinks() throws {
        switch reason {
        case .saved, .refreshed:
            guard let news else { return }
            noteGone(news)
            if context.pending.isListing || context.pendingLinks.pairGeneration != 0 { try settleAllLinks() }
        case .overtaken, .doubtSettled:
            if let news { noteGone(news) }
            try settleAllLinks()
        case .parentMoved:
            try context.settleLostLinks()
            try context.noteGoneInParent()
            try settleAllLinks()
        case .objectRefreshed: try settleAllLinks()
        case .applied(let application):
            if application.hasPositions(context.binding) { try context.rebuildLinkChanges() }
        }
        guard let news, context.observesObjects else { return }
        guard let first = news.first else { return context.map.forEach { $0.announceAllChanged() } }
        try context.announceMemberships(of: news.changes.all, from: first, to: news.last)
    }

    private func settleAllLinks() throws {
        context.invalidateLayers()
        try context.rebuildLinkChanges()
        try context.settlePairs()
    }

    /// Objects that others deleted, or linked while this context deletes them, are hidden until the save.
    private func noteGone(_ news: ChangesToShow) {
        if context.pending.hasDeletions {
            context.pending.noteLeaving(news.changes.updated.filter(context.isDeleted))
        }
        guard context.pending.isListing || context.pendingLinks.pairGeneration != 0 else { return }
        // One that is changed here is shown until the save.
        context.pending.noteVanished(news.changes.deleted.filter { context.map[$0]?._base == nil })
    }

    /// Settles one-to-ones for good where the policy was asked; else shows them as this context has them.
    private mutating func settlePartners() throws {
        switch reason {
        case .overtaken: overruledLinks = try context.settlePartners(partners)
        case .applied: overruledLinks = try context.applyPartners(partners)
        case .saved, .doubtSettled, .refreshed, .parentMoved, .objectRefreshed: try context.showPartners(partners)
        }
    }

    /// Does what only the reason knows of, when everything else is in place.
    private func finishLinks() throws {
        switch reason {
        case .overtaken(let staleness, let settled, let returning):
            try context.cutLinks(staleness.missingTargets)
            for object in settled { try context.setTargets(of: object) }
            try context.applyDeleteRules(to: returning)
            try context.takeUnforeseenMembers(staleness.members)
        case .doubtSettled(let doubt): try context.makeRest(of: doubt)
        case .applied(let application): try context.finish(application)
        case .saved, .refreshed, .parentMoved, .objectRefreshed: break
        }
    }

    // MARK: Afterwards

    /// Makes the state after the move the one that undo starts from, so that the move itself is no step to undo.
    private func rebaseUndo() {
        switch reason {
        case .overtaken, .doubtSettled, .refreshed, .parentMoved: context.undoManager?.rebase()
        // A save has begun a new step already; the others are steps like any change.
        case .saved, .objectRefreshed, .applied: break
        }
    }
}

/// The changes that others saved between two moments, for a context that moves from one to the other.
struct ChangesToShow {
    let changes: ObjectChanges
    /// Nil where the state can no longer be read.
    let first: EventNumber?
    let last: EventNumber
}

extension ManagedObjectContext {
    /// Moves the context; see `ContextMove`.
    ///
    /// - Returns: links of one-to-ones that were overruled.
    @discardableResult
    func move(_ reason: ContextMove.Reason) throws -> [OverruledLink] {
        var move = ContextMove(self, reason)
        try move.run()
        return move.overruledLinks
    }

    /// Reads the changes that others saved; nil where neither this context nor its observers would notice.
    func changesToShow(after first: EventNumber, through last: EventNumber) throws -> ChangesToShow? {
        guard first < last, map.count > 0 || !observers.listening(to: .didMerge).isEmpty else { return nil }
        guard let changes = try keptChanges(after: first, through: last) else {
            return ChangesToShow(changes: try changesInMemory(), first: nil, last: last)
        }
        return ChangesToShow(changes: changes, first: first, last: last)
    }

    /// Reads the changes that others saved; nil if the history does not have all of them any more. The deletion of an object
    /// whose entity has left the model, by an erasure, concerns no context.
    func keptChanges(after first: EventNumber, through last: EventNumber) throws -> ObjectChanges? {
        do {
            var changes = try binding.store.objectChanges(after: first, through: last)
            changes.removeDeleted { binding.schema.entity($0.entityID) == nil }
            return changes
        } catch let error as StrataError where error.code == .historyDropped {
            return nil
        }
    }

    /// All objects in memory, as others may have changed any of them, or deleted those that the context's state lacks.
    private func changesInMemory() throws -> ObjectChanges {
        var stored: Set<ObjectID> = []
        map.forEach { if !$0._flags.contains(.inserted) { stored.insert($0.objectID) } }
        let deleted = try read { snapshot in try stored.filter { try !snapshot.exists($0) } }
        return ObjectChanges(updated: stored.subtracting(deleted), deleted: deleted)
    }
}
