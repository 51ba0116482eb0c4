import Foundation
import Locking
import LMDB
import Logging
import StrataModel

/// Keeps the views that catch up, and builds and drops others, on a thread of its own. One of the processes that have
/// the store open does this.
///
/// It is the process that holds the lock of `views.lock`. When that process ends, in whatever way, the system releases
/// the lock, and another process takes over within `patience`. `condition` guards the variables below it.
final class ViewKeeper: @unchecked Sendable {
    private let worker: ViewWorker
    private let lock: BlobFiles?
    private let condition = NSCondition()
    private var isStopped = false
    private var hasEnded = false
    private var hasNews = true
    private var isUrgent = false
    private var observation: HeadObservation?
    /// The keeper's own thread, once it runs.
    private var thread: pthread_t?

    /// Seconds between two attempts to become the keeper.
    static let patience = 0.2
    /// Seconds in which commits are gathered for one step.
    private static let gathering = 0.05
    /// Seconds until work continues after an error of the file.
    private static let longestPause = 60.0

    /// - Parameter lock: nil for a store that no other process can open.
    init(_ worker: ViewWorker, lock: BlobFiles?) throws(BackgroundThread.Unavailable) {
        self.worker = worker
        self.lock = lock
        try BackgroundThread.start("strata.keeper") { [self] in
            run()
            condition.withLock {
                hasEnded = true
                condition.broadcast()
            }
        }
    }

    /// Looks for work whenever the observation reports a new head.
    func follow(_ observation: HeadObservation) { condition.withLock { self.observation = observation } }

    /// Says that there may be work.
    ///
    /// - Parameter isUrgent: whether a caller waits for it.
    func notify(isUrgent: Bool = false) {
        condition.withLock {
            hasNews = true
            if isUrgent { self.isUrgent = true }
            condition.broadcast()
        }
    }

    /// Ends the keeper after its present step, and waits for that. An observer may call this while a step is reported
    /// to it; the keeper then ends after the observer has returned.
    func stopAndWait() {
        condition.withLock {
            isStopped = true
            condition.broadcast()
            let isOwnThread = thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
            while !hasEnded, !isOwnThread { condition.wait() }
            observation = nil
        }
    }

    private func run() {
        condition.withLock { thread = pthread_self() }
        var descriptor: Int32?
        defer { if let descriptor { BlobFiles.unlock(descriptor) } }
        var pause = Self.patience
        while true {
            do {
                if let lock, descriptor == nil {
                    descriptor = try lock.tryLockViews()
                    guard descriptor != nil else {
                        if sleep(Self.patience) { continue } else { return }
                    }
                }
                let due = try work()
                pause = Self.patience
                guard wait(until: due) else { return }
            } catch let error as StrataError where error.code == .storeClosed {
                return
            } catch {
                StoreLogger.shared.warning("the views of \(worker.file.path) are not kept for now: \(error)")
                pause = min(pause * 2, Self.longestPause)
                guard sleep(pause) else { return }
            }
        }
    }

    /// - Returns: when a failed view is due.
    private func work() throws -> Date? {
        var due: Date?
        for name in try worker.views() {
            var prepared: ViewStep?
            while condition.withLock({ !isStopped }) {
                switch try worker.advance(name, &prepared) {
                case .isOnItsWay: continue
                case .isThere: break
                case .failed(let until): due = min(due ?? until, until)
                }
                break
            }
        }
        while condition.withLock({ !isStopped }), try worker.dropSome() {}
        return due
    }

    /// Waits for new transactions, and then briefly for those that follow at once.
    ///
    /// - Returns: false if it is to end.
    private func wait(until due: Date?) -> Bool {
        let isDone = condition.withLock {
            while !hasNews, !isStopped {
                if let due {
                    if !condition.wait(until: due) { break }
                } else {
                    condition.wait()
                }
            }
            let isUrgent = isUrgent
            (hasNews, self.isUrgent) = (false, false)
            return isStopped || isUrgent
        }
        if isDone { return condition.withLock { !isStopped } }
        let end = Date(timeIntervalSinceNow: Self.gathering)
        return condition.withLock {
            while !isStopped, !isUrgent, condition.wait(until: end) {}
            return !isStopped
        }
    }

    /// - Returns: false if it is to end.
    private func sleep(_ seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        return condition.withLock {
            while !isStopped, condition.wait(until: end) {}
            return !isStopped
        }
    }
}
