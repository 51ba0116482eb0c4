import StrataModel
import StrataStore

/// The least age of the state that a context moves to.
public enum ReadPoint: Sendable, Hashable, CaseIterable {
    /// The newest state of the store. With a shared log, other machines may be some milliseconds ahead.
    case here
    /// At least everything that all machines with the log had saved when the call began.
    case head
}

extension ManagedObjectContext {
    /// Moves the context to a state that is at least so new. Changes that are not saved stay.
    ///
    /// With `.head` the read is linearizable: a save that returned on another machine before this call began is shown.
    /// This takes a round trip to the log. For a store with a log of its own both points are the same.
    ///
    /// - Throws: `logUnavailable`, `divergedLog`, `modelChanged` as `PersistentContainer.catchUp()`, with `.head`;
    ///   `invalidRequest` if the context is pinned or shows the past; `storeClosed`.
    public func refreshAllObjects(at point: ReadPoint) throws {
        guard !isPast, !isPinned else {
            throw StrataError(
                .invalidRequest, "The context stays at its moment, so it cannot go on. Use another context.")
        }
        if let parent {
            try parent.refreshAllObjects(at: point)
        } else if point == .head {
            try binding.store.catchUp()
        }
        try moveToHead()
    }

    /// Moves the context to a state that is at least so new, and saves from there.
    ///
    /// Every save is checked at the end of the log, whatever its context has seen. With `.head`, hooks, validations and
    /// derived values see what all machines had saved when the call began.
    ///
    /// - Throws: as `refreshAllObjects(at:)` and `save()`; the changes are pending then.
    public func save(at point: ReadPoint) throws {
        try refreshAllObjects(at: point)
        try save()
    }
}
