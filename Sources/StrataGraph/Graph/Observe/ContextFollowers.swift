import StrataModel
import StrataStore

/// Something that shows what a context holds and looks again when that may have changed.
protocol ContextFollower: AnyObject {
    func contextMayHaveChanged()
}

/// The followers of one context, which does not keep them alive.
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
    /// Everything that a fetch reads now, as a state that can be read again later.
    func state(includesPendingChanges: Bool) throws -> StoreState {
        StoreState(eventNumber: base, layers: inherited + (includesPendingChanges ? try pendingLayers() : []))
    }

    /// Called wherever the context has moved, or its changes are to be seen.
    func tellFollowers() {
        for follower in followers.all { follower.contextMayHaveChanged() }
    }
}
