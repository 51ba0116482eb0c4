import Synchronization

/// The right to save while others wait: held for the last round of a save that others have overtaken twice, so that
/// hooks and validation run over a head that stays where it is.
///
/// No transaction is open while a turn is held. It ends when it is ended, when it is released, or at its limit, after
/// which saves that name it are saves like any other.
package final class SaveTurn: Sendable {
    /// How long it may last, so that code of the application which does not come back stops nobody for ever.
    let limit: Duration
    private let hasEnded = Atomic(false)
    private let wakeWriter: @Sendable () -> Void

    init(limit: Duration, wakeWriter: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.wakeWriter = wakeWriter
    }

    deinit { end() }

    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    /// Lets others in.
    package func end() {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { wakeWriter() }
    }
}
