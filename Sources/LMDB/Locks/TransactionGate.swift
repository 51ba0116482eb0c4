import Locking
import Synchronization

/// Counts the open transactions of an environment, so that the map is only replaced while there are none.
///
/// LMDB would replace the map under an open reader, and leave all its pointers dangling; so each transaction passes
/// this gate. Passing costs one atomic addition. All waiting happens only while the gate is closing.
final class TransactionGate: Sendable {
    /// The number of transactions inside, plus the two flags.
    private let state = Atomic<Int>(0)
    private let monitor = TimedMonitor()

    /// New transactions wait, but only for a short while, so that a thread that is already inside with one transaction
    /// cannot block itself.
    private static let closing = 1 << 60
    /// The map is being replaced; no transaction may enter.
    private static let closed = 1 << 61
    /// The environment is closed for good.
    private static let shut = 1 << 62

    private static let slipThroughDelay = Duration.milliseconds(50)

    /// Enters; false when the environment has been closed for good.
    @inline(__always)
    func enter() -> Bool {
        let old = state.wrappingAdd(1, ordering: .acquiring).oldValue
        if old < Self.closing { return true }
        return enterSlowly()
    }

    /// Leaves after `enter()` returned true.
    @inline(__always)
    func leave() {
        let new = state.wrappingSubtract(1, ordering: .releasing).newValue
        if new >= Self.closing { wakeWaiters() }
    }

    /// The number of transactions inside.
    var count: Int {
        state.load(ordering: .relaxed) & (Self.closing - 1)
    }

    /// Whether the environment is closed for good.
    var isShut: Bool {
        state.load(ordering: .acquiring) & Self.shut != 0
    }

    @inline(never)
    private func wakeWaiters() {
        monitor.withLock { monitor.broadcast() }
    }

    @inline(never)
    private func enterSlowly() -> Bool {
        leave()
        let slipThrough = ContinuousClock.now + Self.slipThroughDelay
        return monitor.withLock {
            while true {
                let now = state.load(ordering: .acquiring)
                if now & Self.shut != 0 { return false }
                let mayEnter =
                    now < Self.closing
                    || (now & Self.closed == 0 && ContinuousClock.now >= slipThrough)
                if mayEnter {
                    let (done, _) = state.weakCompareExchange(
                        expected: now, desired: now + 1, ordering: .acquiringAndReleasing)
                    if done { return true }
                } else {
                    let step = now & Self.closed == 0 ? slipThrough : ContinuousClock.now + .seconds(1)
                    _ = monitor.wait(until: step)
                }
            }
        }
    }

    /// Runs the body while no transaction is open and none can begin.
    ///
    /// - Returns: nil when open transactions did not end before the timeout, or the environment is closed.
    func exclusively<Success>(
        timeout: Duration, _ body: () throws(LMDBError) -> Success
    ) throws(LMDBError) -> Success? {
        guard drain(until: ContinuousClock.now + timeout) else { return nil }
        defer { finish(flags: Self.closed | Self.closing) }
        return try body()
    }

    /// Closes the gate for good once no transaction is open, then runs the body.
    /// - Returns: false when open transactions did not end before the timeout, or it was shut before.
    func shutDown(timeout: Duration, _ body: () -> Void) -> Bool {
        guard drain(until: ContinuousClock.now + timeout) else { return false }
        body()
        state.bitwiseOr(Self.shut, ordering: .releasing)
        finish(flags: Self.closed | Self.closing)
        return true
    }

    /// Waits until no other thread is closing the gate, then until the transactions inside have ended.
    private func drain(until deadline: ContinuousClock.Instant) -> Bool {
        monitor.withLock {
            while state.load(ordering: .relaxed) & (Self.closing | Self.shut) != 0 {
                if state.load(ordering: .relaxed) & Self.shut != 0 { return false }
                if !monitor.wait(until: deadline) { return false }
            }
            state.bitwiseOr(Self.closing, ordering: .acquiringAndReleasing)
            while true {
                let (done, _) = state.compareExchange(
                    expected: Self.closing, desired: Self.closing | Self.closed,
                    ordering: .acquiringAndReleasing)
                if done { return true }
                if !monitor.wait(until: min(deadline, ContinuousClock.now + .milliseconds(1))),
                    ContinuousClock.now >= deadline
                {
                    state.bitwiseAnd(~Self.closing, ordering: .releasing)
                    monitor.broadcast()
                    return false
                }
            }
        }
    }

    private func finish(flags: Int) {
        state.bitwiseAnd(~flags, ordering: .releasing)
        wakeWaiters()
    }
}
