import StrataModel
import StrataStore

extension ManagedObjectContext {
    // MARK: Dropping changes

    /// Drops every change that is not saved: new objects leave the context, deleted ones come back, changed ones show
    /// what they showed when they were read.
    public func rollback() {
        let (newObjects, changedObjects, deletedObjects) = (pending.inserted, pending.updated, pending.deleted)
        var changes = ContextChanges(.objectsDidChange, at: base)
        if !observers.isEmpty { changes.refreshedRows = Array(pending.deletedRows.rows.keys) }
        let stale = pending.overtaken
        forgetChanges()
        errors.forget()
        for object in newObjects {
            forgetWithChanges(object)
            changes.deleted.insert(object)
        }
        for list in [changedObjects, deletedObjects] {
            for object in list where object._flags.isPending {
                object.dropChanges()
                // What was read is not what the context stands on any more.
                if stale.contains(object.objectID) { turnIntoFault(object) }
                changes.refreshed.insert(object)
            }
        }
        undoManager?.removeAllActions()
        if !changes.isEmpty { announce(changes) }
        tellFollowers()
    }

    /// Forgets every object and every change; the context moves to the newest state. Objects still held are cut off.
    public func reset() {
        map.forEach { object in
            object.detachDroppingChanges()
        }
        map = IdentityMap()
        memory.forget()
        forgetChanges()
        undoManager?.removeAllActions()
        errors.forget()
        pendingLinks.forgetMembers()
        if !isPast {
            do {
                if let parent { try stand(on: parent) } else { standpoint.move(to: try binding.store.head()) }
            } catch { report(Self.typed(error)) }
        }
        tellFollowers()
    }

    // MARK: Moving on

    /// Moves the context to the newest state: objects in memory that others changed are read again when next used.
    /// Changes that are not saved stay. A pinned context stays where it is.
    ///
    /// An error in reaching the store is reported; see `faultingErrorHandler`.
    public func refreshAllObjects() {
        do {
            try moveToHead()
        } catch {
            report(Self.typed(error))
        }
    }

    /// Moves the context to the newest state, unless it is pinned, and makes the object a fault that is read again when
    /// next used.
    ///
    /// The whole context moves, since it shows one state of the store. With `mergeChanges` the object keeps its changes
    /// that are not saved; without, they are dropped.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
        guard object._context === self else {
            return report(StrataError(.otherContext, "The object belongs to another context.", context: object.place()))
        }
        defer { tellFollowers() }
        do {
            try moveToHead()
            // A deletion reaches other objects too: only rollback() takes it back.
            if !object._flags.isDisjoint(with: [.inserted, .deleted]) { return }
            if !object._flags.isPending { return turnIntoFault(object) }
            guard !mergeChanges else {
                pending.noteMerged(object.objectID)
                let partners = pendingPartners(changedByOthers: nil)
                guard try mergeStoredChanges(into: object, where: .always) else { return }
                try rebuildLinkChanges()
                try showPartners(partners)
                return
            }
            // Its links go at their other ends too.
            let partners = pendingPartners(changedByOthers: nil) { id, _ in id == object.objectID ? .theirs : nil }
            pending.dropChanges(of: object)
            pending.forgetTouch(of: object)
            object.announceAllChanged()
            pendingLinks.dropPairChanges(of: object.objectID)
            invalidateLayers()
            try rebuildLinkChanges()
            turnIntoFault(object)
            try showPartners(partners)
        } catch {
            report(Self.typed(error))
        }
    }

    private enum MergeCondition {
        case always
        /// Else the next save is to find the conflict.
        case nothingConflicts
    }

    /// Takes the newest stored values of the properties that this context did not change.
    ///
    /// - Returns: whether there were any to take.
    @discardableResult
    private func mergeStoredChanges(into object: ManagedObject, where condition: MergeCondition) throws -> Bool {
        guard object._base != nil, !object._flags.contains(.deleted) else { return false }
        let theirs = try read { snapshot -> (RowImage, EventNumber)? in
            guard let row = try snapshot.row(object.objectID) else { return nil }
            return (try row.converted(to: object._entity.schema), row.revision)
        }
        guard let (image, revision) = theirs, revision != object._revision else { return false }
        let base = try object.baseImage()
        let mine = object.slotsThatDiffer(from: base)
        if case .nothingConflicts = condition {
            let conflicts = image.withBytes { bytes in
                mine.contains { slot in
                    guard !object._entity.isEqual(slot: slot, bytes, base) else { return false }
                    // Both wrote an attribute: that is for the save to judge even where both wrote the same.
                    return object._entity.property(slot: slot).attribute != nil
                        || !object._entity.isEqual(slot: slot, bytes, object.rowBytes)
                }
            }
            if conflicts { return false }
        }
        object.rebase(onto: image, revision: revision, keeping: mine.slots)
        pending.noteTouched(object)
        return true
    }

    func moveToHead() throws {
        guard !isPast, !isPinned else { return }
        if let parent { try follow(parent) } else { try move(to: try binding.store.head()) }
        tellFollowers()
    }

    /// Moves on if others have saved. What this context did meanwhile is not told for that: a fetch amid changes ends no
    /// event.
    func moveIfOthersSaved() throws {
        if parent == nil, try binding.store.head() <= base { return }
        try moveToHead()
    }

    /// Moves on to a later state of the store.
    func move(to head: EventNumber) throws {
        guard head > base else { return }
        undoManager?.willMove()
        try learnRevisions()
        let before = base
        standpoint.move(to: head)
        pendingLinks.forgetMembers()
        try refreshObjects(changedAfter: before, through: head)
        undoManager?.rebase()
    }

    /// Makes objects that others changed faults again, and those that others deleted inaccessible, unless this context
    /// changed them too: what is to become of those the next save decides. Until then both ends of a one-to-one say what
    /// this context says.
    func refreshObjects(changedAfter first: EventNumber, through last: EventNumber) throws {
        guard let found = try changesToShow(after: first, through: last) else { return }
        let others = Set(found.changes.all)
        makeObjectsOfDeletedPartners { others.contains($0) }
        let partners = pendingPartners(changedByOthers: others)
        let news = try refreshRows(found)
        try showPartners(partners)
        if let news { announce(news) }
    }

    /// What others did, where anybody here may notice.
    func changesToShow(after first: EventNumber, through last: EventNumber) throws -> ChangesToShow? {
        guard first < last, map.count > 0 || !observers.listening(to: .didMerge).isEmpty else { return nil }
        return ChangesToShow(changes: try binding.store.objectChanges(after: first, through: last), first, last)
    }

    /// `refreshObjects`, with one-to-ones left as the rows say.
    ///
    /// - Returns: what is to be announced when the rest is done too.
    func refreshRows(_ news: ChangesToShow?) throws -> ContextChanges? {
        guard let news else { return nil }
        let found = news.changes
        var changes = ContextChanges(.didMerge, at: base)
        for id in found.all {
            guard let object = map[id] else { continue }
            if !object._flags.isPending {
                turnIntoFault(object)
                if found.deleted.contains(id) {
                    object.noteDeletedByOthers()
                    changes.deleted.insert(object)
                } else {
                    changes.refreshed.insert(object)
                }
            } else if object.hasNothingToMerge {
                object.restoreBase()
                pending.noteMerged(id)
                object.noteMayExist()
                dropValues(object)
                invalidateLayers()
                changes.refreshed.insert(object)
            } else if try mergeStoredChanges(into: object, where: .nothingConflicts) {
                changes.refreshed.insert(object)
            } else {
                pending.noteOvertaken(id)
            }
        }
        if pending.hasDeletions { pending.noteLeaving(found.updated.filter(isDeleted)) }
        try settleLinkChanges(found.deleted)
        if observesObjects { try announceMemberships(of: found.all, from: news.first, to: news.last) }
        guard !observers.listening(to: .didMerge).isEmpty else { return nil }
        changes.merged = (found.inserted, found.updated, found.deleted)
        return changes.isEmpty ? nil : changes
    }

    /// Holds the links and unlinks that are pending against what others have linked.
    private func settleLinkChanges(_ gone: Set<ObjectID>) throws {
        guard pending.isListing || pendingLinks.pairGeneration != 0 else { return }
        // One that is changed here is shown until the save.
        pending.noteVanished(gone.filter { map[$0]?._base == nil })
        invalidateLayers()
        try rebuildLinkChanges()
        try settlePairs()
    }

    /// Lets go of the values of a clean object.
    func turnIntoFault(_ object: ManagedObject) {
        object.noteMayExist()
        guard !object._flags.isPending else { return }
        // To-manys of a fault may have been read.
        if object._state & ObjectState.fault != 0 { return object.announceAllChanged() }
        dropValues(object)
    }

    private func dropValues(_ object: ManagedObject) {
        guard object._state & ObjectState.fault == 0 else { return }
        object.willTurnIntoFault()
        object.announceAllChanged()
        object.becomeFault()
        object._extras?.transients.removeAll()
        object.didTurnIntoFault()
    }
}

extension ManagedObject {
    /// Whether the context lists the object as changed, but not for a value of its row: only its pairs changed, or what
    /// was written is what was there.
    fileprivate final var hasNothingToMerge: Bool {
        guard _flags.contains(.updated), _flags.isDisjoint(with: [.inserted, .deleted]) else { return false }
        return baseBytes.map { slotsThatDiffer(from: $0).isEmpty } ?? true
    }

    /// Goes back to the values that were read.
    final func dropChanges() {
        becomeCleanAsRead()
        announceAllChanged()
    }

    /// Takes another row as the base and keeps the values of some slots on top.
    final func rebase(onto image: RowImage, revision: EventNumber, keeping mine: [Int]) {
        let values = mine.map { (slot: $0, value: attributeValue(_entity.property(slot: $0))) }
        image.bytes.withUnsafeBytes { adoptRow($0, revision: revision) }
        noteRevisionKnown()
        copyRowForWriting()
        for (slot, value) in values {
            let property = _entity.property(slot: slot)
            switch property.kind {
            case .reference:
                if case .objectID(let id) = value {
                    storeReference(id, property.place)
                } else {
                    _storeNull(property.place)
                }
            case .position:
                if case .integer(let position) = value {
                    _storeScalar(position.littleEndian, property.place)
                    _didStore(property.place)
                } else {
                    _storeNull(property.place)
                }
            default: reporting { try store(value, property) }
            }
        }
        announceAllChanged()
    }
}

/// What others did between two moments, for a context that moves from one to the other.
struct ChangesToShow {
    let changes: ObjectChanges
    let first: EventNumber
    let last: EventNumber

    init(changes: ObjectChanges, _ first: EventNumber, _ last: EventNumber) {
        self.changes = changes
        self.first = first
        self.last = last
    }
}
