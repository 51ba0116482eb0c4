import StrataModel
import StrataStore

// The causes of a context's move: a call by the app, a fetch, a notification, or a change of the parent.

extension ManagedObjectContext {
    /// Moves the context to the newest state: objects in memory that others changed are read again when next used.
    /// Changes that are not saved stay. A pinned context stays where it is.
    ///
    /// An error in reaching the store is reported; see `faultingErrorHandler`.
    public func refreshAllObjects() { reporting { try moveToHead() } }

    /// Moves the context to the newest state, unless it is pinned, and makes the object a fault that is read again when
    /// next used.
    ///
    /// The whole context moves, since it shows one state of the store. With `mergeChanges` the object keeps its changes
    /// that are not saved; without, they are dropped.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
        guard object._context === self else {
            return report(
                StrataError(.otherContext, object.contextRefusal("object"), context: object.errorContext()))
        }
        defer { tellFollowers() }
        reporting {
            try moveToHead()
            // A deletion reaches other objects too: only rollback() takes it back.
            if !object._flags.isDisjoint(with: [.inserted, .deleted]) { return }
            if !object._flags.isPending {
                if object._state & ObjectState.inaccessible == 0 { turnIntoFault(object) }
                return
            }
            try move(.objectRefreshed(object, keepsChanges: mergeChanges))
        }
    }

    func moveToHead() throws {
        guard !isPast, !isPinned else { return }
        if let parent { try follow(parent) } else { try moveToNewestState() }
        tellFollowers()
    }

    /// Moves on if others have saved. What this context did meanwhile is not announced for that: a fetch amid changes
    /// ends no event.
    func moveIfOthersSaved() throws {
        if parent == nil, try binding.newestState() <= base { return }
        try moveToHead()
    }

    /// Moves on if the history that the context's state needs was truncated, by another process or by force.
    ///
    /// - Returns: whether that was so.
    @discardableResult
    func leaveDroppedState() throws -> Bool {
        guard !isPast else { return false }
        if let parent {
            guard try parent.leaveDroppedState() else { return false }
            try follow(parent)
            return true
        }
        guard try binding.store.isDropped(base) else { return false }
        try moveToNewestState()
        return true
    }

    /// Moves on to the newest state, and again if that was dropped before it was read: others save and truncate the
    /// history meanwhile.
    func moveToNewestState() throws {
        for _ in 0..<8 {
            do { return try move(to: try binding.newestState()) } catch let error as StrataError
                where error.code == .historyDropped
            { continue }
        }
        try move(to: try binding.newestState())
    }

    /// Moves on to a later state of the store.
    func move(to head: EventNumber) throws { if head > base { try move(.refreshed(to: head)) } }

    /// Moves a child to its parent's present state.
    ///
    /// - Parameter saved: the objects that the child has just saved into its parent.
    func follow(_ parent: ManagedObjectContext, saved: Set<ObjectID> = []) throws {
        // With overtaken objects the context moves even to an equal state: their conflict may be gone.
        if saved.isEmpty, pending.overtaken.isEmpty,
            standpoint.isAs(parent.standpoint, under: try parent.pendingLayers())
        {
            return
        }
        try move(.parentMoved(parent, saved: saved))
    }

    private func reporting(_ body: () throws -> Void) {
        do { try body() } catch { report(Self.typed(error)) }
    }
}
