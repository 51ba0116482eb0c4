import Foundation
import StrataModel
import StrataStore

// A save calls `willSave` until no object changes any more, validates and collects every failure, and hands one change
// set to the store. If others have saved first, the store returns what they did: the context merges it (`merge`), runs
// hooks and validation over the merged objects, and submits again. No code of the app runs inside the write
// transaction.

extension ManagedObjectContext {
    /// Writes every pending change, or none; without changes it does nothing, and the log stays as it is.
    ///
    /// When it throws, the store is as it was and the changes are still pending; only with `inDoubt` they may be
    /// stored, and the same save, repeated, stores them once. The context stands at the new transaction afterwards, and
    /// objects in memory that others changed since show what they saved.
    ///
    /// - Throws: an error that a property had to keep; validation errors (several as the details of one
    ///   `validationMultipleErrors`, 1560); `merge` (133020) with a conflict for every object that others changed in
    ///   the same property; `constraintMerge` (133021); `modelChanged`; `invalidRequest` within a save, where hooks
    ///   and validations run; `persistentStoreSave` when hooks change objects without end; `readOnly`; `saveTooLarge`,
    ///   `noSpace`, `inDoubt`, `persistentStoreTimeout`, `corrupt`, `storeClosed`; `logUnavailable` with a shared log.
    /// - Complexity: O(changes), and a sync of the disk, which saves that wait together share.
    public func save() throws {
        guard !saving.isRunning else {
            throw StrataError(.invalidRequest, "save() was called within a save: by willSave, didSave or a validation.")
        }
        try throwPendingErrors()
        guard hasChanges else { return forgetWithdrawn() }
        guard !isScratch else {
            throw StrataError(.readOnly, "A scratch context cannot be saved: make a child context instead.")
        }
        announcePendingChanges()
        announcePending(.willSave)
        defer { tellFollowers() }
        guard var saved = try observedSave() else { return }
        saved.eventNumber = base
        announce(saved)
    }

    /// Saves, and reports it to the container's observer, if there is one.
    private func observedSave() throws -> ContextChanges? {
        var tally = SaveTally()
        guard parent == nil, binding.isObserved, let observer = binding.observer else {
            return try saveFromKeptState(&tally)
        }
        let start = ContinuousClock.now
        let result = Result { try saveFromKeptState(&tally) }
        var code: StrataError.Code?
        if case .failure(let error) = result { code = Self.typed(error).code }
        observer.saveEnded(
            SaveMeasurement(
                start: start, duration: .now - start, eventCount: tally.eventCount, retryCount: tally.retryCount,
                conflictCount: tally.conflictCount, waiting: tally.waiting, committing: tally.committing,
                syncing: tally.syncing,
                contextName: name, error: code))
        return try result.get()
    }

    /// Saves, and merges with the newest state where that of the context can no longer be read.
    ///
    /// A truncation may drop the state while the save runs. Then it runs again, the third time with the store's turn to
    /// write, so that no truncation comes in between. A child's third try has no such turn.
    private func saveFromKeptState(_ tally: inout SaveTally) throws -> ContextChanges? {
        try leaveDroppedState()
        for _ in 1...2 {
            do { return try saveChanges(&tally) } catch let error as StrataError where error.code == .historyDropped {
                guard try leaveDroppedState() else { throw error }
            }
        }
        let turn = parent == nil ? try binding.store.takeTurn() : nil
        try leaveDroppedState()
        return try saveChanges(&tally, turn)
    }

    /// - Parameter turn: it ends with the save.
    /// - Returns: what was saved, if an observer listens; nil when there was nothing to save.
    private func saveChanges(_ tally: inout SaveTally, _ turn: SaveTurn? = nil) throws -> ContextChanges? {
        saving.isRunning = true
        defer { saving.isRunning = false }
        var turn = turn
        defer { turn?.end() }
        try showDisplacedPartners()
        // The parent may have them again.
        if let parent, !pendingLinks.lost.isEmpty { try follow(parent) }
        for round in 1...4 {
            try prepare()
            undoManager?.register(joining: true)
            try validate()
            try throwEmptyReads()
            if let parent {
                try checkExpectations()
                if try takeBackLostDeletions(parent) { continue }
                return try save(into: parent)
            }
            var changes = try makeChangeSet()
            if binding.isObserved {
                changes.submitted = .now
                tally.conflictCount = saving.overruled.count
            }
            if changes.isEmpty {
                if try settleDoubt() { continue }
                settleWithoutSaving(knownMembers(after: changes))
                return nil
            }
            switch try submit(changes, turn) {
            case .saved(let receipt)?:
                tally.add(receipt)
                let saved = observers.listening(to: .didSave).isEmpty ? nil : pendingChanges(.didSave)
                didSave(changes, receipt)
                return saved
            case .stale(let staleness)?:
                tally.retryCount += 1
                // After two conflicts the save runs exclusively. What others saved until then is merged in the next
                // round.
                if round >= 2, turn == nil { turn = try binding.store.takeTurn() }
                try merge(staleness)
            case nil: continue
            }
        }
        throw StrataError(.merge, "Other saves kept changing the same objects. Save again.")
    }

    /// Hands the changes to the store. Changes whose save was in doubt keep their transaction id, so that they are
    /// saved once. If that save is in the store and more was changed since, only the rest is pending afterwards.
    ///
    /// - Returns: nil when the changes were mended and must be prepared again.
    private func submit(_ changes: ChangeSet, _ turn: SaveTurn?) throws -> SaveOutcome? {
        var changes = changes
        if let doubtful = saving.doubtful {
            if changes.hasSameChanges(as: doubtful) {
                changes.transactionID = doubtful.transactionID
            } else if try settleDoubt() {
                return nil
            }
        }
        do {
            let outcome = try binding.store.save(changes, turn: turn)
            saving.doubtful = nil
            return outcome
        } catch let refusal as StrataError where refusal.code == .constraintMerge {
            try settleClashes(refusal)
            return nil
        } catch let error as StrataError where error.code == .inDoubt {
            saving.doubtful = changes
            throw error
        }
    }

    func throwPendingErrors() throws {
        let errors = errors.takeAll()
        guard let first = errors.first else { return }
        if errors.count == 1 { throw first }
        let code = errors.contains { $0.code == .corrupt } ? .corrupt : first.code
        throw StrataError(
            code, "\(errors.count) properties could not be read or written.", context: first.context,
            details: errors)
    }

    // MARK: willSave

    /// Calls `willSave` on every changed object, and again on those changed by it.
    func prepare() throws {
        pending.rewind(.hooks)
        var restless: ManagedObject?
        for _ in 0..<100 {
            let news = pending.news(for: .hooks)
            if news.hasNoObjects { return }
            restless = news.updated.last ?? news.inserted.last ?? news.touched.last ?? news.deleted.last
            for object in news.inserted where object._flags.contains(.inserted) { announceSave(object) }
            for object in news.updated where object._flags.contains(.updated) {
                if !object._flags.contains(.deleted) { announceSave(object) }
            }
            for object in news.deleted where object._flags.contains(.deleted) { announceSave(object) }
            for object in news.touched where object._flags.isPending { announceSave(object) }
        }
        throw StrataError(
            .persistentStoreSave,
            "willSave changed objects in a hundred rounds without coming to rest. Let it set a value only where it differs.",
            context: restless?.errorContext() ?? .init())
    }

    /// A write after this makes the object `touched`, and `willSave` is called again.
    private func announceSave(_ object: ManagedObject) {
        object.markSeen()
        object.willSave()
    }

    // MARK: The change set

    /// A change set without changes, with the app's description of its saves.
    func emptyChangeSet() -> ChangeSet {
        var changes = ChangeSet(base: base, modelVersion: binding.schema.version)
        changes.author = attributes.author
        changes.contextName = attributes.contextName
        changes.metadata = attributes.recordedMetadata
        return changes
    }

    func makeChangeSet() throws -> ChangeSet {
        var changes = emptyChangeSet()
        if !saving.overruled.isEmpty {
            changes.metadata[ConflictRecord.metadataKey] = try ConflictRecord.encode(saving.overruled)
        }
        if let id = saving.transactionID { changes.transactionID = id }
        changes.expectedRevisions = saving.expectedRevisions
        if binding.hasSubjects { try sealValues() }
        try addInsertions(to: &changes)
        try learnKeptRevisions()
        try addUpdates(to: &changes)
        for object in pending.deleted where object._flags.contains(.deleted) {
            changes.deletions.append(.init(id: object.objectID, baseRevision: object._revision))
        }
        for (id, row) in pending.deletedRows.rows {
            changes.deletions.append(.init(id: id, baseRevision: row.revision))
        }
        changes.deletions.sort { $0.id < $1.id }
        if pendingLinks.pairGeneration != 0 { changes.pairs = try pairChanges() }
        return changes
    }

    private func addInsertions(to changes: inout ChangeSet) throws {
        changes.insertions.reserveCapacity(pending.inserted.count - pending.withdrawnCount)
        var isSorted = true
        var last = ObjectID(rawValue: 0)
        for object in pending.inserted where object._flags.contains(.inserted) {
            isSorted = isSorted && last < object.objectID
            last = object.objectID
            changes.insertions.append(.init(id: last, image: try imageToSave(object)))
        }
        if !isSorted { changes.insertions.sort { $0.id < $1.id } }
    }

    private func addUpdates(to changes: inout ChangeSet) throws {
        for object in pending.updated where object._flags.contains(.updated) && !object._flags.contains(.deleted) {
            guard let base = object.baseBytes, object._base != nil else { continue }
            let slots = object.slotsThatDiffer(from: base)
            guard !slots.isEmpty else { continue }
            changes.updates.append(
                .init(
                    id: object.objectID, baseRevision: object._revision, image: try imageToSave(object),
                    changedSlots: slots))
        }
        // In the order of the keys neighbours are read and written together.
        changes.updates.sort { $0.id < $1.id }
    }

    private func imageToSave(_ object: ManagedObject) throws -> RowImage {
        if object._entity.hasExternalStorage { try object.moveLargeValuesOut() }
        return try object.canonicalImage()
    }

    // MARK: Afterwards

    /// Forgets objects that were made and deleted again, where no undo manager could take the deletion back.
    private func forgetWithdrawn() {
        if pending.withdrawnCount > 0, undoManager == nil { settleWithoutSaving() }
    }

    func settleWithoutSaving(_ members: KnownMembers = .unknown) {
        settleObjects(insertedRevision: nil, derived: [:], members)
    }

    /// A failed read here is reported and not thrown, because the save is stored already.
    private func didSave(_ changes: ChangeSet, _ receipt: SaveReceipt) {
        let members = receipt.previousHead == base ? knownMembers(after: changes) : .unknown
        do {
            do { try move(.saved(changes, receipt, members)) } catch let error as StrataError
                where error.code == .historyDropped
            { try moveToNewestState() }
        } catch {
            report(Self.typed(error))
        }
    }

    /// Makes the pending objects clean ones.
    func settleSaved(_ changes: ChangeSet, _ receipt: SaveReceipt, _ members: KnownMembers) {
        // The insertions of a save are its first events, in the order given.
        var revisions: EventNumber? = receipt.previousHead.advanced(by: 1)
        if changes.insertions.isEmpty { revisions = nil }
        settleObjects(insertedRevision: revisions.map { ($0, changes.insertions) }, derived: receipt.derived, members)
        if map.count > 4096 { sweep(first: changes) }
    }

    /// To-manys are as they were if only this context has saved, and only values, no links. Without this a walk over a
    /// graph that changes values would read every list again after each save.
    private func knownMembers(after changes: ChangeSet) -> KnownMembers {
        guard changes.insertions.isEmpty, changes.deletions.isEmpty, changes.pairs.isEmpty,
            pendingLinks.pairGeneration == 0,
            pendingLinks.changes.isEmpty, pending.leaving.isEmpty
        else { return .unknown }
        var entity: EntityRuntime?
        for index in changes.updates.indices {
            let id = changes.updates[index].id.entityID
            if entity?.id != id { entity = binding.entity(id) }
            guard let entity, changes.updates[index].changedSlots.isDisjoint(with: entity.linkSlots) else {
                return .unknown
            }
        }
        return pendingLinks.states.values.contains(where: \.hasChanges) ? .unknown : .unchanged
    }

    /// Makes every pending object clean, and calls `didSave` on it.
    private func settleObjects(
        insertedRevision: (first: EventNumber, insertions: [ChangeSet.Insertion])?, derived: [ObjectID: RowImage]?,
        _ members: KnownMembers = .unknown
    ) {
        let (newObjects, changedObjects, deletedObjects) = (pending.inserted, pending.updated, pending.deleted)
        let overwritten = Array(changedObjects.lazy.filter { $0.hasSetDerivedSlots })
        // Others have changed them, and the changes here restored the values of the base: their rows are no longer the
        // store's.
        let outdated = changedObjects.filter {
            pending.overtaken.contains($0.objectID) && !$0._flags.contains(.deleted)
        }
        if let insertedRevision {
            for (index, insertion) in insertedRevision.insertions.enumerated() {
                map[insertion.id]?._revision = insertedRevision.first.advanced(by: index)
            }
        }
        for object in newObjects {
            if object._flags.contains(.withdrawn) {
                forget(object)
            } else if object._flags.contains(.inserted) {
                object.becomeClean()
            }
        }
        for object in changedObjects where !object._flags.contains(.deleted) {
            if object._base != nil, object._flags.contains(.updated) { object.noteRevisionUnknown() }
            object.becomeClean()
        }
        for object in deletedObjects where object._flags.contains(.deleted) {
            forgetSavedDeletion(object)
        }
        forgetChanges(members)
        readAgain(outdated)
        showDerived(derived, newObjects, overwritten)
        for object in newObjects where object._state & ObjectState.detached == 0 { object.didSave() }
        for object in changedObjects where object._state & ObjectState.detached == 0 { object.didSave() }
        for object in deletedObjects where object._flags.contains(.savedDeletion) {
            object.didSave()
            object.endSavedDeletion()
        }
    }

    /// Gives objects in memory the values that the store has derived.
    ///
    /// - Parameters:
    ///   - derived: the new rows; nil when they are not known.
    ///   - new: objects whose revision is known.
    ///   - overwritten: objects with a derived attribute that the app set, which had no effect.
    private func showDerived(
        _ derived: [ObjectID: RowImage]?, _ new: some Sequence<ManagedObject>, _ overwritten: [ManagedObject]
    ) {
        guard let derived else {
            return map.forEach { if !$0._entity.derivedSlots.isEmpty { turnIntoFault($0) } }
        }
        let known = derived.isEmpty ? [] : Set(new.map(\.objectID))
        for (id, image) in derived {
            guard let object = map[id], object._state & ObjectState.fault == 0 else { continue }
            image.bytes.withUnsafeBytes { object.adoptRow($0, revision: object._revision) }
            object.noteRowIsStored()
            if !known.contains(id) { object.noteRevisionUnknown() }
            object.announceAllChanged()
        }
        for object in overwritten where derived[object.objectID] == nil { turnIntoFault(object) }
    }
}

extension ManagedObject {
    /// Slots whose values are not those of `base`, ascending.
    ///
    /// A value that the store computes is no change of the object, even if the app set it.
    final func slotsThatDiffer(from base: UnsafeRawBufferPointer) -> SlotSet {
        let changed = changedSlots
        var slots = changed
        let row = rowBytes
        for slot in changed where _entity.isEqual(slot: slot, row, base) { slots.remove(slot) }
        for slot in _entity.derivedSlots { slots.remove(slot) }
        return slots
    }

    /// Whether the row of a saved object is the one that was read.
    final var differsInNothing: Bool { baseBytes.map { slotsThatDiffer(from: $0).isEmpty } ?? true }

    /// Whether the app set an attribute that the store computes.
    final var hasSetDerivedSlots: Bool {
        !_entity.derivedSlots.isEmpty && changedSlots.contains(where: _entity.derivedSlots.contains)
    }
}

extension EntityRuntime {
    /// Whether two rows of the entity hold the same value in a slot, bit for bit.
    func isEqual(slot: Int, _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        layout.isEqual(slot: slot, left, right)
    }
}
