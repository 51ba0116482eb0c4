import StrataModel
import StrataStore

// The step of a move that exchanges rows. Unchanged objects become faults. Changed objects keep their changes on top of
// the new row, unless that is a conflict (`RowMerge`), which the next save is to find. Objects that others deleted keep
// the values that were in memory.

extension ContextMove {
    mutating func exchangeRows() throws {
        switch reason {
        case .overtaken(_, let settled, let returning):
            for object in settled { try context.adopt(object) }
            try context.takeBack(returning)
            context.pending.settleVanished()
            try takeRowsOfOthers()
        case .saved, .doubtSettled, .refreshed: try takeRowsOfOthers()
        case .parentMoved: try takeRowsOfParent()
        case .objectRefreshed(let object, let keepsChanges):
            if keepsChanges {
                context.pending.noteMerged(object.objectID)
                isOver = try !context.mergeStoredRow(into: object, despiteConflict: true)
            } else {
                context.dropChanges(of: object)
                context.readAgain([object])
            }
        case .applied(let application): try context.makeRows(of: application)
        }
    }

    private mutating func takeRowsOfOthers() throws {
        guard let news else { return }
        var changes = ContextChanges(.didMerge, at: context.base)
        for id in news.changes.all {
            guard let object = context.map[id] else { continue }
            let isDeleted = news.changes.deleted.contains(id)
            if !object._flags.isPending {
                if isDeleted {
                    context.keepAsDeleted(object)
                    changes.deleted.insert(object)
                } else {
                    context.turnIntoFault(object)
                    changes.refreshed.insert(object)
                }
            } else if object.hasNothingToMerge, !isDeleted {
                context.pending.noteMerged(id)
                object.restoreBase()
                context.turnIntoListedFault(object)
                changes.refreshed.insert(object)
            } else if try context.mergeStoredRow(into: object, despiteConflict: false) {
                changes.refreshed.insert(object)
            } else {
                context.pending.noteOvertaken(id)
            }
        }
        guard !context.observers.listening(to: .didMerge).isEmpty else { return }
        changes.merged = (news.changes.inserted, news.changes.updated, news.changes.deleted)
        announcement = changes
    }

    /// An object that is as it was keeps its values, transient ones too.
    private mutating func takeRowsOfParent() throws {
        var changes = ContextChanges(.didMerge, at: context.base)
        var known: [ManagedObject] = []
        var pending: [ManagedObject] = []
        for object in ofParent {
            if object._flags.isPending {
                pending.append(object)
            } else if object._state & ObjectState.fault == 0 || object._state & ObjectState.inaccessible != 0 {
                // One that was gone may be back.
                known.append(object)
            }
        }
        for (object, state) in zip(known, try context.statesInParent(of: known)) {
            switch state {
            case .same: break
            case .other:
                context.turnIntoFault(object)
                changes.refreshed.insert(object)
            case .gone:
                context.keepAsDeleted(object)
                changes.deleted.insert(object)
            }
        }
        for object in pending where try takeRowOfParent(object) { changes.refreshed.insert(object) }
        // To-manys of any object may be others.
        if context.observesObjects { context.map.forEach { $0.announceAllChanged() } }
        announcement = changes
    }

    /// - Returns: whether the object shows what its parent has now, beside its own changes.
    private func takeRowOfParent(_ object: ManagedObject) throws -> Bool {
        if object._flags.contains(.inserted) {
            // Made again here, it may be back in the parent too.
            return try object._flags.contains(.madeAgain) && context.layOverStoredRow(object)
        }
        if object.hasNothingToMerge, try context.statesInParent(of: [object]) != [.gone] {
            context.pending.noteMerged(object.objectID)
            object.restoreBase()
            context.turnIntoListedFault(object)
            return true
        }
        let isMerged = try context.mergeStoredRow(into: object, despiteConflict: false)
        if try isMerged || context.statesInParent(of: [object]) == [.same] {
            context.pending.noteMerged(object.objectID)
        } else {
            context.pending.noteOvertaken(object.objectID)
        }
        return isMerged
    }
}

/// The state of an object in the parent, compared with the row that this context has read: the same, another, or
/// deleted.
private enum StateInParent { case same, other, gone }

extension ManagedObjectContext {
    /// Takes the stored row, with the changes of this context on top.
    ///
    /// - Parameter despiteConflict: whether mine wins where both sides changed a slot; otherwise nothing is done then.
    /// - Returns: whether there was a newer row, and it was taken.
    func mergeStoredRow(into object: ManagedObject, despiteConflict: Bool) throws -> Bool {
        guard object._base != nil, !object._flags.contains(.deleted) else { return false }
        let theirs = try read { snapshot -> (RowImage, EventNumber)? in
            guard let row = try snapshot.row(object.objectID) else { return nil }
            return (try row.converted(to: object._entity.schema), row.revision)
        }
        // The parent's unsaved changes have the revision of the row that it read.
        guard let (image, revision) = theirs, revision != object._revision || parent != nil else { return false }
        let merge = try RowMerge(object, against: image)
        if revision == object._revision, !merge.slots.contains(where: \.isChangedByThem) { return false }
        guard despiteConflict || merge.conflict == nil, case .merges(let kept) = merge.outcome(of: .mine) else {
            return false
        }
        object.rebase(onto: image, revision: revision, keeping: kept)
        pending.noteTouched(object)
        return true
    }

    /// Turns a new object whose row exists into a changed one; its values replace those of the row.
    ///
    /// - Returns: whether there was a row.
    fileprivate func layOverStoredRow(_ object: ManagedObject) throws -> Bool {
        let entity = object._entity
        let theirs = try read { snapshot -> (RowImage, EventNumber)? in
            guard let row = try snapshot.row(object.objectID) else { return nil }
            return (try row.converted(to: entity.schema), row.revision)
        }
        guard let (image, revision) = theirs else { return false }
        let differing = image.bytes.withUnsafeBytes { bytes in
            entity.slotsInRow.filter { !entity.isEqual(slot: $0, bytes, object.rowBytes) }
        }
        pending.noteThereAgain(object)
        object.rebase(onto: image, revision: revision, keeping: differing)
        pending.noteTouched(object)
        return true
    }

    /// The objects in memory of which a parent may have changed something since an earlier state.
    ///
    /// - Parameter saved: objects that this context has just saved into the parent, which may not have taken them as
    ///   they are.
    /// - Complexity: O(what was saved since, and the objects of layers that came or went), or O(objects in memory) if
    ///   that is less.
    func objectsOfParent(changedSince earlier: Standpoint, _ saved: Set<ObjectID>) throws -> [ManagedObject] {
        let changes = earlier.isShown ? try keptChanges(after: earlier.eventNumber, through: base) : nil
        guard let changes else {
            var all: [ManagedObject] = []
            map.forEach { all.append($0) }
            return all
        }
        var ids = saved.union(pending.overtaken)
        ids.formUnion(changes.all)
        let layers = standpoint.layers(differingFrom: earlier)
        if layers.reduce(0, { $0 + $1.objectCount }) > map.count {
            map.forEach { object in
                if layers.contains(where: { $0.covers(object.objectID) }) { ids.insert(object.objectID) }
            }
        } else {
            for layer in layers { ids.formUnion(layer.objectIDs) }
        }
        return ids.sorted().compactMap { map[$0] }
    }

    fileprivate func statesInParent(of objects: [ManagedObject]) throws -> [StateInParent] {
        try read { snapshot in
            try objects.map { object in
                guard let row = try snapshot.row(object.objectID) else { return .gone }
                guard object._state & (ObjectState.fault | ObjectState.inaccessible) == 0, let base = object.baseBytes
                else { return .other }
                let entity = object._entity
                return try row.converted(to: entity.schema).withBytes { bytes in
                    entity.slotsInRow.allSatisfy { entity.isEqual(slot: $0, bytes, base) } ? .same : .other
                }
            }
        }
    }

    /// Notes the objects that a parent has linked and this context deletes, and those that it has deleted and this
    /// context links.
    func noteGoneInParent() throws {
        pending.settleVanished()
        pending.settleLeaving()
        let deleted = deletedObjectIDs
        let linkedHere = pendingLinks.endsOfChangedPairs.filter { map[$0]?._base == nil && !isNew($0) }
        guard !deleted.isEmpty || !linkedHere.isEmpty else { return }
        let (linkedThere, gone) = try read { snapshot in
            let linked = try deleted.filter { id in
                try binding.pairLinks(of: id.entityID).contains { try snapshot.memberCount(of: $0.id, owner: id) > 0 }
            }
            return (linked, try linkedHere.filter { try !snapshot.exists($0) })
        }
        pending.noteLeaving(linkedThere)
        pending.noteVanished(gone)
    }

    /// Drops the changes of one object, links that are pairs among them. It holds what was read then.
    func dropChanges(of object: ManagedObject) {
        pending.dropChanges(of: object)
        pending.forgetTouch(of: object)
        pendingLinks.forgetLost(of: object.objectID)
        object.announceAllChanged()
        pendingLinks.dropPairChanges(of: object)
    }

    /// Others deleted the object: it is deleted here too, and holds the values that were in memory.
    func keepAsDeleted(_ object: ManagedObject) {
        object.noteDeletedByOthers()
        object.announceAllChanged()
    }

    /// Lets go of rows that are no longer the store's; an object that is not there any more is kept as deleted. Where
    /// the context's state was dropped, that is found out when the object is read in the next one.
    func readAgain(_ objects: some Collection<ManagedObject>) {
        guard !objects.isEmpty else { return }
        var gone: Set<ObjectID> = []
        do {
            gone = try read { snapshot in
                Set(try objects.lazy.map(\.objectID).filter { try !snapshot.exists($0) })
            }
        } catch {
            let error = Self.typed(error)
            if error.code != .historyDropped { report(error) }
        }
        for object in objects {
            if gone.contains(object.objectID) { keepAsDeleted(object) } else { turnIntoFault(object) }
        }
    }

    /// Releases the values of a clean object.
    func turnIntoFault(_ object: ManagedObject) {
        object.noteMayExist()
        guard !object._flags.isPending else { return }
        // To-manys of a fault may have been read.
        if object._state & ObjectState.fault != 0 { return object.announceAllChanged() }
        dropValues(object)
    }

    /// The same for an object that is listed as changed, and whose row holds what was read.
    func turnIntoListedFault(_ object: ManagedObject) {
        object.noteMayExist()
        if object._state & ObjectState.fault == 0 { dropValues(object) }
    }

    private func dropValues(_ object: ManagedObject) {
        object.willTurnIntoFault()
        object.announceAllChanged()
        object.becomeFault()
        object._extras?.transients.removeAll()
        object.didTurnIntoFault()
    }
}

extension ManagedObject {
    /// Whether the context lists the object as changed without a changed value in its row: only its pairs changed, or a
    /// value was set to itself.
    fileprivate final var hasNothingToMerge: Bool {
        guard _flags.contains(.updated), _flags.isDisjoint(with: [.inserted, .deleted]) else { return false }
        return differsInNothing
    }

    /// Takes another row as the base and keeps the values of some slots on top.
    final func rebase(onto image: RowImage, revision: EventNumber, keeping mine: [Int]) {
        let values = mine.map { (slot: $0, value: storedValue(_entity.property(slot: $0))) }
        image.bytes.withUnsafeBytes { adoptRow($0, revision: revision) }
        noteRevisionKnown()
        copyRowForWriting()
        for (slot, value) in values {
            let property = _entity.property(slot: slot)
            switch property.kind {
            case .reference:
                if case .objectID(let id) = value {
                    storeReference(id, property.location)
                } else {
                    _storeNull(property.location)
                }
            case .position:
                if case .integer(let position) = value {
                    _storeScalar(position.littleEndian, property.location)
                    _didStore(property.location)
                } else {
                    _storeNull(property.location)
                }
            default: reporting { try store(value, property) }
            }
        }
        announceAllChanged()
    }
}
