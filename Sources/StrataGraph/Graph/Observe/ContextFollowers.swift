// Notifies results controllers and live results of a context's moves and changes.

import StrataModel
import StrataStore

/// An object that shows a context's state, such as a results controller, and updates when that may have changed.
protocol ContextFollower: AnyObject {
    /// Called in the context's isolation.
    func contextMayHaveChanged()
}

/// The followers of one context, which are not retained.
struct ContextFollowers {
    private struct Entry {
        weak var follower: (any ContextFollower)?
    }

    private var entries: [Entry] = []

    var all: [any ContextFollower] { entries.compactMap(\.follower) }

    mutating func add(_ follower: any ContextFollower) {
        entries.removeAll { $0.follower == nil || $0.follower === follower }
        entries.append(Entry(follower: follower))
    }
}

extension ManagedObjectContext {
    /// The state that a fetch reads now, for reading it again later.
    func state(includesPendingChanges: Bool) throws -> StoreState {
        StoreState(
            eventNumber: base, layers: inherited + (includesPendingChanges ? try pendingLayers() : []),
            pin: binding.store.pin(at: base))
    }

    /// Tells the followers that the context has moved to another state, or has processed pending changes.
    func tellFollowers() {
        for follower in followers.all { follower.contextMayHaveChanged() }
    }
}
