import Synchronization

/// The exclusive right to save while others wait. A save that found newer saves twice holds it for its last attempt, so
/// that hooks and validation run while the head stays where it is.
///
/// No transaction is open while a turn is held. It ends when `end` is called, when it is released, or at its limit.
/// Afterwards saves with this turn are like any other.
package final class SaveTurn: Sendable {
    /// The longest duration of the turn, so that app code that does not return cannot block other saves for ever.
    let limit: Duration
    private let hasEnded = Atomic(false)
    private let wakeWriter: @Sendable () -> Void

    init(limit: Duration, wakeWriter: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.wakeWriter = wakeWriter
    }

    deinit { end() }

    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    /// Lets other saves go on.
    package func end() {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { wakeWriter() }
    }
}
