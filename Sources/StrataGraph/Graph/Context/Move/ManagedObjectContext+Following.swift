import Locking
public import StrataModel
import StrataStore

/// The settings and tasks by which a context follows what others save.
struct ContextFollowing {
    /// Whether the context moves on without being asked to.
    var isAutomatic = false
    var isPinned = false
    /// Gets the context's isolation to call `mergeWhatOthersSaved()`; nil where only the owner of the context can.
    var reach: (@Sendable () -> Void)?
    /// Hears of saves by others while the context follows automatically.
    var observation: HeadObservation?
}

extension ManagedObjectContext {
    /// Keeps the context at its moment until `unpin()`: what others save is not shown, however the context is
    /// refreshed.
    ///
    /// A save of its own moves it nevertheless, to its own transaction; so does
    /// `mergeChanges(from:)`, which says how far. It is pinned again there.
    public func pin() { following.isPinned = true }

    /// Lets the context move again; one that merges automatically moves at once.
    public func unpin() {
        following.isPinned = false
        if automaticallyMergesChangesFromParent { mergeWhatOthersSaved() }
    }

    /// Moves on to the transaction of another context's `didSave` or `didMerge`.
    ///
    /// A context shows one state of the store, so what was saved before comes with it. Unsaved changes stay. It never
    /// moves back.
    ///
    /// - Throws: `readOnly` for a context of the past; what reading the store throws.
    public func mergeChanges(from changes: ContextChanges) throws { try mergeChanges(through: changes.eventNumber) }

    /// Moves on to a transaction of the log.
    ///
    /// - Throws: as for changes; `futureEvent` when the log has no such transaction.
    public func mergeChanges(from transaction: TransactionNumber) throws {
        try mergeChanges(through: try binding.store.eventNumber(of: transaction))
    }

    /// Moves on to the newest state, and reads these objects again when they are next used, changed or not elsewhere:
    /// for ids that another process sent.
    ///
    /// - Throws: as for changes.
    public func mergeChanges(fromObjectIDs ids: some Sequence<ObjectID>) throws {
        try mergeChanges(through: try binding.newestState())
        for id in ids {
            if let object = map[id], object._state & ObjectState.inaccessible == 0 { turnIntoFault(object) }
        }
    }

    private func mergeChanges(through eventNumber: EventNumber) throws {
        guard !isPast else { throw readOnlyError }
        if let parent {
            try parent.mergeChanges(through: eventNumber)
            try follow(parent)
        } else {
            try move(to: eventNumber)
        }
        tellFollowers()
    }

    // MARK: Following the head

    /// Called in the context's isolation when others have saved.
    func mergeWhatOthersSaved() {
        guard automaticallyMergesChangesFromParent else { return }
        do {
            try moveToHead()
        } catch {
            report(Self.typed(error))
        }
    }

    func followHead() {
        guard automaticallyMergesChangesFromParent, let reach = following.reach, !isPast else {
            following.observation = nil
            return
        }
        guard following.observation == nil else { return }
        do {
            following.observation = try binding.store.observeHead { _ in reach() }
            // Others may have saved before the observation began.
            reach()
        } catch {
            report(Self.typed(error))
        }
    }
}

/// Leads from any thread to a context behind an actor, without keeping either alive.
final class ContextReach: Sendable {
    private let target = Locked<(@Sendable () -> Void)?>(nil)

    func set(_ target: @escaping @Sendable () -> Void) { self.target.withLock { $0 = target } }

    func call() { target.withLock { $0 }?() }
}
