#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
import Locking

/// The lock that a writer takes before LMDB's own writer mutex, because that mutex has no timeout.
///
/// Inside the process one thread holds it at a time; between processes it is a `flock` on `writer.lock`, which the
/// kernel frees when its holder dies. `isHeld` and `owner` are guarded by the monitor; the descriptor never changes.
final class WriterLock: @unchecked Sendable {
    private let monitor = TimedMonitor()
    private var isHeld = false
    private var owner: pthread_t?
    /// Whether the owner keeps the lock between its transactions, and whether one of those is open.
    private var isKept = false
    private var isInTransaction = false
    /// The descriptor of `writer.lock`; -1 when no other process can write, as with unlinked files.
    private let descriptor: Int32
    private let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Takes the lock, or throws `busy` at the timeout.
    func acquire(timeout: Duration) throws(LMDBError) {
        if useKept() { return }
        let deadline = ContinuousClock.now + timeout
        guard acquireInProcess(until: deadline) else { throw busy("another thread of this process writes") }
        guard descriptor >= 0 else { return }
        do {
            try acquireBetweenProcesses(until: deadline)
        } catch {
            releaseInProcess()
            throw error
        }
    }

    func release() {
        if layDownKept() { return }
        if descriptor >= 0 { flock(descriptor, LOCK_UN) }
        releaseInProcess()
    }

    /// Takes the lock and keeps it over the transactions of this thread until `giveUp()`.
    func keep(timeout: Duration) throws(LMDBError) {
        try acquire(timeout: timeout)
        monitor.withLock { isKept = true }
    }

    /// Frees a lock that was kept; called by the thread that kept it, between its transactions.
    func giveUp() {
        monitor.withLock { isKept = false }
        release()
    }

    private func useKept() -> Bool {
        monitor.withLock {
            guard isKept, !isInTransaction, let owner, pthread_equal(owner, pthread_self()) != 0 else { return false }
            isInTransaction = true
            return true
        }
    }

    private func layDownKept() -> Bool {
        monitor.withLock {
            guard isKept else { return false }
            isInTransaction = false
            return true
        }
    }

    private func acquireInProcess(until deadline: ContinuousClock.Instant) -> Bool {
        monitor.withLock {
            if isHeld, let owner, pthread_equal(owner, pthread_self()) != 0 {
                preconditionFailure("A write transaction was begun inside another one on the same thread.")
            }
            while isHeld {
                if !monitor.wait(until: deadline) { return false }
            }
            isHeld = true
            owner = pthread_self()
            return true
        }
    }

    private func releaseInProcess() {
        monitor.withLock {
            isHeld = false
            owner = nil
            monitor.broadcast()
        }
    }

    private func acquireBetweenProcesses(until deadline: ContinuousClock.Instant) throws(LMDBError) {
        switch FileLock.take(.exclusive, of: descriptor, until: deadline) {
        case 0: return
        case EWOULDBLOCK: throw busy("another process writes")
        case let number: throw SystemError.lmdb(number, "lock for writing", path)
        }
    }

    private func busy(_ detail: String) -> LMDBError {
        LMDBError(.busy, operation: "begin a write transaction", path: path, detail: detail)
    }
}
