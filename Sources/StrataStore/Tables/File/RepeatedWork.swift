import Locking

/// Does some work again and again, on a thread of its own, until it is stopped.
///
/// `condition` guards the state.
final class RepeatedWork: @unchecked Sendable {
    /// The step after a piece of work.
    enum Next {
        case again, end
    }

    private let condition = TimedMonitor()
    private var isStopped = false
    private var isWoken = false
    private var passes = 0

    /// - Parameters:
    ///   - interval: from the end of one piece of work to the beginning of the next.
    ///   - work: gets a closure that returns whether to continue, to be called now and then.
    /// - Throws: `BackgroundThread.Unavailable` if the system has no thread for it.
    init(
        _ name: String, interval: Duration, _ work: @escaping @Sendable (_ goesOn: () -> Bool) -> Next
    ) throws(BackgroundThread.Unavailable) {
        try BackgroundThread.start(name) { [self] in
            repeat {
                let next = work { condition.withLock { !isStopped } }
                condition.withLock {
                    passes += 1
                    if next == .end { isStopped = true }
                    condition.broadcast()
                }
            } while wait(for: interval)
        }
    }

    /// Ends it when the work next asks, without waiting for that.
    func stop() {
        condition.withLock {
            isStopped = true
            condition.broadcast()
        }
    }

    /// Has the work done now, and not only when the interval is over.
    func wake() {
        condition.withLock {
            isWoken = true
            condition.broadcast()
        }
    }

    /// - Returns: false where it was stopped meanwhile.
    private func wait(for interval: Duration) -> Bool {
        let end = ContinuousClock.now + interval
        return condition.withLock {
            while !isStopped, !isWoken, condition.wait(until: end) {}
            isWoken = false
            return !isStopped
        }
    }

    /// Waits until the work has been done this number of times.
    func waitForPasses(_ count: Int) {
        condition.withLock {
            while passes < count, !isStopped { _ = condition.wait(until: .now + .seconds(60)) }
        }
    }
}
