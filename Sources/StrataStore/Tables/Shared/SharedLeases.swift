package import Foundation

/// Leases in the database of a shared log: work that one machine does at a time, and that another one takes over when
/// the first has ended or cannot reach the log.
///
/// The clock of the log decides when a lease has run out, so clocks of machines need not agree. A holder counts the
/// time from before it asks, and so stops before the log lets another one in. What it had begun by then may still arrive:
/// `fence` rises with each new holder, and calls with an older one are refused.
package protocol SharedLeases: Sendable {
    /// Takes a lease if it is free, has run out or is the holder's own; it then runs for `time` from now.
    ///
    /// - Returns: the lease as it is now, held by this node or another.
    func take(
        _ name: String, for holder: UUID, during time: Duration
    ) throws(SharedLogFailure) -> SharedLease

    /// Notes how far the work has come. A position before the one that is noted changes nothing.
    ///
    /// - Returns: false if another one has taken the lease since; then nothing is noted.
    func note(_ position: UInt64, under lease: SharedLease) throws(SharedLogFailure) -> Bool

    /// Ends a lease before its time; the next one to ask gets it. Does nothing if another one has it by now.
    func end(_ lease: SharedLease) throws(SharedLogFailure)

    /// All leases whose names begin so, by name.
    func all(startingWith prefix: String) throws(SharedLogFailure) -> [SharedLease]

    /// Forgets a lease and its position.
    ///
    /// - Returns: whether there was one.
    func remove(_ name: String) throws(SharedLogFailure) -> Bool
}

/// A lease as the log has it.
package struct SharedLease: Sendable, Hashable {
    package var name: String
    /// The store that has the lease, or had it last.
    package var holder: UUID
    /// Rises with each new holder.
    package var fence: UInt64
    /// The position of the work; nil if none was noted.
    package var position: UInt64?
    /// The time that is left of the lease; zero or less once it has ended.
    package var remaining: Duration

    package init(name: String, holder: UUID, fence: UInt64, position: UInt64?, remaining: Duration) {
        self.name = name
        self.holder = holder
        self.fence = fence
        self.position = position
        self.remaining = remaining
    }
}
