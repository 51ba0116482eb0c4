import StrataModel

/// The state of an object in its context, from its making to its end.
///
/// The methods of `ManagedObject` in this file are the only code that writes `_state` and `_flags`. In a debug build
/// each of them asserts that the object may go from the life it had to the one it gets.
enum ObjectLife: String {
    /// Made, and not yet registered in a context.
    case unborn
    /// Not saved yet.
    case new
    /// Saved and unchanged, and its row is not in memory.
    case fault
    /// Saved and unchanged, and its row is in memory.
    case clean
    /// Saved, and listed by the context as changed: its row, or links of it that are pairs.
    case changed
    /// Saved, and the next save deletes it.
    case deleted
    /// New, and deleted before it was saved.
    case withdrawn
    /// The object is not in the state of the store that the context shows.
    case gone
    /// Its deletion is saved and `didSave` has not been called yet; it is in no context.
    case savedDeletion
    /// In no context.
    case detached
    /// The object records key paths and belongs to no store.
    case probe

    /// Whether an object may go from this life to another.
    func mayBecome(_ next: ObjectLife) -> Bool {
        switch (self, next) {
        case (.unborn, .new),
            (.new, .clean), (.new, .changed), (.new, .withdrawn),
            (.fault, .clean), (.fault, .gone), (.fault, .changed), (.fault, .deleted),
            (.clean, .fault), (.clean, .gone), (.clean, .changed), (.clean, .deleted),
            // Saved, refreshed or rolled back. Only its pairs were changed if it is gone.
            (.changed, .clean), (.changed, .fault), (.changed, .gone), (.changed, .deleted),
            // Made again when others deleted it.
            (.clean, .new), (.changed, .new),
            // Taken back.
            (.deleted, .clean), (.deleted, .fault), (.deleted, .changed), (.withdrawn, .new),
            (.deleted, .savedDeletion),
            // The insertion of a withdrawn object was saved after all.
            (.withdrawn, .deleted),
            // There again, as far as the context knows.
            (.gone, .fault), (.gone, .clean):
            true
        case (.probe, _): next == .probe
        case (_, .detached): true
        default: self == next
        }
    }
}

extension ManagedObject {
    /// The state of the object in its context now.
    final var life: ObjectLife {
        if _state & ObjectState.probe != 0 { return .probe }
        if _flags.contains(.savedDeletion) { return .savedDeletion }
        if _state & ObjectState.detached != 0 { return .detached }
        if _flags.contains(.withdrawn) { return .withdrawn }
        if _flags.contains(.deleted) { return .deleted }
        if _flags.contains(.inserted) { return .new }
        if _flags.contains(.updated) { return .changed }
        if _state & ObjectState.inaccessible != 0 { return .gone }
        if _state & ObjectState.fault != 0 { return .fault }
        return _state & ObjectState.clean != 0 ? .clean : .unborn
    }

    /// Makes one transition, and checks it in a debug build.
    @inline(__always)
    private final func transition(_ change: () -> Void) {
        #if DEBUG
            let before = life
            change()
            assert(before.mayBecome(life), "\(objectID.named(_entity.name)): \(before) cannot become \(life).")
            assert(isSound, "\(objectID.named(_entity.name)), \(life): state \(_state) does not go with \(_flags).")
        #else
            change()
        #endif
    }

    /// Whether the bits agree with each other.
    private final var isSound: Bool {
        let isMarkedDeleted = _state & ObjectState.deleted != 0
        switch life {
        case .new, .unborn:
            return _state & (ObjectState.fault | ObjectState.clean | ObjectState.gone) == 0
        case .withdrawn: return isMarkedDeleted && _flags.isDisjoint(with: [.inserted, .deleted])
        case .deleted: return isMarkedDeleted && _state & ObjectState.fault == 0
        case .fault: return !isMarkedDeleted && _state & ObjectState.clean != 0
        case .clean, .changed, .gone: return !isMarkedDeleted
        case .savedDeletion, .detached, .probe: return true
        }
    }

    // MARK: Made and changed

    /// The object is new in its context, also one that others deleted and that is to be made again.
    final func becomeNew() {
        transition {
            _flags = .inserted
            _state &= ~(ObjectState.clean | ObjectState.layered)
        }
    }

    /// The context lists the object as changed.
    @inline(__always)
    final func becomeChanged() { transition { _flags.insert(.updated) } }

    /// The row is about to be written, or differs from its base already.
    @inline(__always)
    final func noteRowIsOwn() { transition { _state &= ~ObjectState.clean } }

    /// A save that was in doubt has made the object, or changed it, and more is changed here since; or what was made
    /// again is there.
    final func becomeChangedSinceSave() {
        transition {
            _flags.subtract([.inserted, .madeAgain])
            _flags.insert(.updated)
            _state &= ~(ObjectState.clean | ObjectState.layered)
        }
    }

    /// The values in memory are those of the store.
    final func becomeClean() {
        dropBase()
        clearChangedSlots()
        transition {
            _flags.subtract([.inserted, .updated, .madeAgain])
            _state = (_state & ~ObjectState.layered) | ObjectState.clean
        }
    }

    /// Goes back to the values that were read; a deletion is taken back too.
    final func becomeCleanAsRead() {
        restoreBase()
        transition {
            _flags.subtract([.updated, .deleted, .deletedAsRow, .deletedItself])
            _state = (_state & ~(ObjectState.deleted | ObjectState.layered)) | ObjectState.clean
        }
    }

    // MARK: Faults

    /// The row is dropped; the next read fetches it again.
    final func becomeFault() {
        dropRow()
        transition {
            _state |= ObjectState.fault | ObjectState.clean
            _flags.remove(.revisionUnknown)
        }
    }

    /// The row is in memory now.
    @inline(__always)
    final func becomeLoaded() { transition { _state &= ~ObjectState.fault } }

    /// The store was asked for the row and has none.
    @inline(__always)
    final func becomeGone() {
        transition { _state = (_state & ~ObjectState.fault) | ObjectState.inaccessible }
    }

    /// Others deleted the object; it keeps what it holds, and a fault has nothing to read.
    final func noteDeletedByOthers() { transition { _state |= ObjectState.inaccessible } }

    /// The object may be in the store again.
    final func noteMayExist() { transition { _state &= ~ObjectState.inaccessible } }

    /// The row in memory is the store's, and nothing is written on top of it.
    final func noteRowIsStored() {
        transition { _state = (_state & ~ObjectState.fault) | ObjectState.clean }
    }

    // MARK: Deleted

    /// Deletes a saved object, or withdraws a new one.
    final func becomeDeleted() {
        transition {
            _state |= ObjectState.deleted
            if _flags.contains(.inserted) {
                _flags.remove(.inserted)
                _flags.insert(.withdrawn)
            } else {
                _flags.insert(.deleted)
            }
        }
    }

    /// A saved object is not deleted after all; its own changes stay.
    final func becomeUndeleted() {
        transition {
            _flags.subtract([.deleted, .deletedAsRow, .deletedItself])
            _state &= ~(ObjectState.deleted | ObjectState.layered)
        }
    }

    /// The fault is of a row that was deleted without an object.
    final func becomeDeletedAsRow(_ revision: EventNumber) {
        _revision = revision
        transition {
            _state = (_state & ~ObjectState.fault) | ObjectState.deleted
            _flags.insert([.deleted, .deletedAsRow])
        }
    }

    /// A new object that was deleted exists again.
    final func becomeNewAgain() {
        transition {
            _flags.subtract([.withdrawn, .deletedItself])
            _flags.insert(.inserted)
            _state &= ~ObjectState.deleted
        }
    }

    /// The insertion of a withdrawn object was saved after all: now its row is to be deleted.
    final func becomeDeletedSinceSave() {
        transition {
            _flags.subtract([.withdrawn, .madeAgain])
            _flags.insert(.deleted)
        }
    }

    /// The object was deleted for itself, and not only with another one.
    final func noteDeletedItself() { _flags.insert(.deletedItself) }
    final func beginPreparingDeletion() { _flags.insert(.preparesDeletion) }
    final func endPreparingDeletion() { _flags.remove(.preparesDeletion) }

    // MARK: The end

    /// Cuts the object off from its context.
    final func detach() {
        _contextReference = nil
        transition { _state |= ObjectState.detached }
    }

    /// Cuts the object off, with nothing left to be saved.
    final func detachDroppingChanges() {
        _contextReference = nil
        transition {
            _state |= ObjectState.detached
            _flags = []
        }
    }

    /// Cuts the object off whose deletion is saved.
    final func detachAsSavedDeletion() {
        _contextReference = nil
        transition {
            _state |= ObjectState.detached
            _flags = .savedDeletion
        }
    }

    final func endSavedDeletion() { transition { _flags.remove(.savedDeletion) } }

    // MARK: Marks that are no part of its life

    /// The new object had been there before.
    final func noteMadeAgain() { _flags.insert(.madeAgain) }

    /// A layer, an announcement or a round of `willSave` has seen the object as it is; its next change is noted.
    @inline(__always)
    final func markSeen() { _state |= ObjectState.layered }

    /// - Returns: whether the object was marked.
    @inline(__always)
    final func takeSeenMark() -> Bool {
        guard _state & ObjectState.layered != 0 else { return false }
        _state &= ~ObjectState.layered
        return true
    }

    /// The newest event of the row is known again.
    final func noteRevisionKnown() { _flags.remove(.revisionUnknown) }
    /// This context saved the row; which event that made is read when it is needed.
    final func noteRevisionUnknown() { _flags.insert(.revisionUnknown) }

    /// Runs `body` without observers of the object; inside a save the object does not count as touched either.
    final func withoutObservers(isSaving: Bool, _ body: () throws -> Void) rethrows {
        let hidden = ObjectState.observed | (isSaving ? ObjectState.layered : 0)
        let kept = _state & hidden
        _state &= ~hidden
        defer { _state |= kept }
        try body()
    }
}

/// Bits of `ManagedObject._state`, which the accessors test. Zero means: in memory, changed already, and not watched.
///
/// A bit of the low half makes a read take the slow way. A bit of either half makes a write take it. So the usual read
/// and the usual write test one word.
@usableFromInline enum ObjectState {
    // Low half: something must happen before a read.
    /// The values are not in memory.
    @usableFromInline static let fault: UInt32 = 1
    /// Reads and writes are announced to the Observation framework.
    @usableFromInline static let observed: UInt32 = 2
    /// The object is not a real one: it records which properties are read.
    @usableFromInline static let probe: UInt32 = 4
    /// The entity has encrypted attributes, which are not read from the row as others are.
    static let encrypted: UInt32 = 8
    // High half: something must happen before a write.
    /// The row is as it was read: the first write copies it.
    @usableFromInline static let clean: UInt32 = 1 << 16
    /// Deleted in the context, not yet saved.
    @usableFromInline static let deleted: UInt32 = 1 << 17
    /// In no context any more, or never in one.
    @usableFromInline static let detached: UInt32 = 1 << 18
    /// The context cannot be changed.
    @usableFromInline static let readOnly: UInt32 = 1 << 19
    /// The row is in a layer that a fetch made; a write makes the layer stale.
    @usableFromInline static let layered: UInt32 = 1 << 20
    /// The object is gone from the store. Values that are not in memory read as nil, zero or empty.
    @usableFromInline static let inaccessible: UInt32 = 1 << 21

    @usableFromInline static let readMask: UInt32 = 0xFFFF
    /// The object does not exist for callers that ask for existing objects.
    static let gone = deleted | inaccessible
    /// An object in one of these states cannot be the target of a link.
    static let unlinkable = deleted | inaccessible | detached | probe
    static let unchangeable = readOnly | deleted | inaccessible | detached
}

/// The flags of a managed object that the accessors need not read; the others are in `ObjectState`.
struct ObjectFlags: OptionSet {
    let rawValue: UInt32

    static let inserted = ObjectFlags(rawValue: 1)
    /// The object is in the context's list of changed objects.
    static let updated = ObjectFlags(rawValue: 2)
    static let deleted = ObjectFlags(rawValue: 4)
    /// Being saved as deleted: `isDeleted` holds during `didSave`.
    static let savedDeletion = ObjectFlags(rawValue: 128)
    /// New, and deleted again before it was saved.
    static let withdrawn = ObjectFlags(rawValue: 256)
    /// The newest event of the row is not known; it is read before the next change is saved.
    static let revisionUnknown = ObjectFlags(rawValue: 512)
    /// Made after its row was deleted; observers were given its id.
    static let deletedAsRow = ObjectFlags(rawValue: 1024)
    /// `prepareForDeletion` is being called.
    static let preparesDeletion = ObjectFlags(rawValue: 2048)
    /// New under an id that had been in use, so that rows may lead to it already.
    static let madeAgain = ObjectFlags(rawValue: 4096)
    /// Its deletion was asked for; without this mark a cascade has deleted it.
    static let deletedItself = ObjectFlags(rawValue: 8192)

    /// Whether the context has something to save for the object.
    var isPending: Bool { !isDisjoint(with: [.inserted, .updated, .deleted]) }
}
