import Foundation
import Locking

/// Orders all writes of a store: a thread that runs jobs one after another, because LMDB requires that a write
/// transaction begins and ends on one thread.
///
/// A save that finds no writer at work and no job waiting runs on its caller's thread instead, which saves two
/// wake-ups. Saves that are expected join its commit as they arrive, and are applied meanwhile. At any time at most one
/// thread writes: this one or `caller`. All variables are guarded by `condition`. The thread ends after `stopAndWait`,
/// when the queue is empty.
final class WriterThread: @unchecked Sendable {
    /// The work of the thread that writes. Only the writer's own thread holds the lock for a turn.
    struct Duties: Sendable {
        /// Runs the jobs in order and returns their answers, then those of the saves that joined.
        ///
        /// Before it commits saves it calls `joining` until that returns none. The answers are delivered only after
        /// arrivals were counted: an answered caller may save again at once, and would be counted twice.
        var work: @Sendable (_ group: [Submission], _ joining: () -> [Submission]) -> [Submission.Answer]
        /// Whether `work` has left something to tidy. Called by the thread that ran `work`.
        var isTidyingDue: @Sendable () -> Bool = { false }
        /// Does a part of that, taking no longer than a save does. Called on the writer's own thread, while no job
        /// waits.
        var tidy: @Sendable () -> Void = {}
        /// Keeps writers of other processes out until `releaseLock`.
        var holdLock: @Sendable () throws -> Void
        var releaseLock: @Sendable () -> Void
    }

    private let condition = NSCondition()
    private var queue: [Submission] = []
    /// The current turn. Weak: a turn that is released has ended.
    private var turn: (number: ObjectIdentifier, deadline: Date)?
    private weak var turnHolder: SaveTurn?
    private var isStopping = false
    private var hasEnded = false
    private var expectedSaves = ExpectedSaves()
    /// The writer's own thread, from its start to its end.
    private var thread: pthread_t?
    /// Whether the thread is running jobs from the queue.
    private var isAtWork = false
    /// Whether the last work has left something to tidy.
    private var isTidyingDue = false
    /// Whether the writing thread waits for saves to join. The next arrival clears this and signals `arrivals`, once.
    private var isAwaitingSaves = false
    private let arrivals = DispatchSemaphore(value: 0)
    private var waits = 0
    /// The thread of a caller that runs its own save.
    private var caller: pthread_t?
    private let duties: Duties

    /// - Throws: `BackgroundThread.Unavailable`.
    init(name: String, _ duties: Duties) throws(BackgroundThread.Unavailable) {
        self.duties = duties
        try BackgroundThread.start(name) { [self] in run() }
    }

    /// Whether the calling thread is the one that writes.
    var isCurrent: Bool { condition.withLock { isThisThread } }

    private var isThisThread: Bool { Self.isCalling(thread) || Self.isCalling(caller) }

    private static func isCalling(_ thread: pthread_t?) -> Bool {
        thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    /// The number of saves that wait.
    var waitingSaveCount: Int {
        condition.withLock { queue.count { $0.isSave } }
    }

    /// The number of times that a writing thread has waited for saves to join.
    var timesWaited: Int { condition.withLock { waits } }

    /// - Returns: false if the thread has been stopped.
    func submit(_ submission: Submission) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopping else { return false }
        queue.append(submission)
        if isAwaitingSaves {
            isAwaitingSaves = false
            arrivals.signal()
        } else if !isAtWork, caller == nil {
            // Otherwise the writing thread looks at the queue when it is done.
            condition.broadcast()
        }
        return true
    }

    /// Runs a save on the calling thread if no writer is at work and no job waits; submits it otherwise.
    ///
    /// - Returns: false if the thread has been stopped.
    func submitOrWrite(_ submission: Submission) -> Bool {
        guard beginOnCaller() else { return submit(submission) }
        work([submission]) {
            caller = nil
            if !queue.isEmpty || isStopping || isTidyingDue { condition.broadcast() }
        }
        return true
    }

    /// - Returns: whether the calling thread may write.
    private func beginOnCaller() -> Bool {
        condition.withLock {
            guard !isAtWork, caller == nil, turn == nil, !isStopping, queue.isEmpty else { return false }
            caller = pthread_self()
            return true
        }
    }

    /// Runs a group with the saves that join it, and delivers the answers; calls `end` before that, with the lock held.
    private func work(_ group: [Submission], end: () -> Void) {
        var group = group
        var waited = Duration.zero
        let start = ContinuousClock.now
        let answers = duties.work(group) {
            let joining = takeJoining(group.count, &waited)
            group += joining
            return joining
        }
        precondition(group.count == answers.count, "Every submission needs an answer.")
        let isTidyingDue = duties.isTidyingDue()
        let duration = ContinuousClock.now - start - waited
        condition.withLock {
            expectedSaves.note(
                saves: group.count(where: \.isSave), waiting: queue.count(where: \.isSave), after: duration)
            self.isTidyingDue = isTidyingDue
            end()
        }
        for (submission, answer) in zip(group, answers) { submission.finish(answer) }
    }

    /// Takes the saves that are expected beside the `count` that are being written. If none has arrived, waits for the
    /// first until the deadline.
    private func takeJoining(_ count: Int, _ waited: inout Duration) -> [Submission] {
        condition.lock()
        defer { condition.unlock() }
        while true {
            let room = expectedSaves.count - count
            // Other jobs wait for the commit in any case. So saves behind them join it as well.
            guard room > 0, turn == nil, !isStopping, !queue.contains(where: \.wantsTurn) else { return [] }
            let places = queue.indices.filter { queue[$0].isSave }.prefix(room)
            if !places.isEmpty {
                let joining = places.map { queue[$0] }
                for place in places.reversed() { queue.remove(at: place) }
                return joining
            }
            guard let deadline = expectedSaves.deadline else { return [] }
            let start = ContinuousClock.now
            isAwaitingSaves = true
            waits += 1
            condition.unlock()
            let isLate = arrivals.wait(timeout: deadline) == .timedOut
            condition.lock()
            waited += ContinuousClock.now - start
            if isAwaitingSaves {
                isAwaitingSaves = false
            } else if isLate {
                // A save arrived at the last moment and has signalled.
                arrivals.wait()
            }
            if isLate { expectedSaves.isLate() }
        }
    }

    /// Makes the thread look at the queue again.
    func wake() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Lets waiting jobs finish, then ends the thread. Blocks until then, unless called on the thread itself.
    func stopAndWait() {
        condition.lock()
        defer { condition.unlock() }
        isStopping = true
        condition.broadcast()
        guard !isThisThread else { return }
        while !hasEnded { condition.wait() }
    }

    private func run() {
        condition.withLock { thread = pthread_self() }
        while let group = next() {
            if case .turn(let turn)? = group.first?.job, let submission = group.first {
                begin(turn, submission)
                condition.withLock { isAtWork = false }
            } else if group.isEmpty {
                duties.tidy()
                let isTidyingDue = duties.isTidyingDue()
                condition.withLock {
                    isAtWork = false
                    self.isTidyingDue = isTidyingDue
                }
            } else {
                work(group) { isAtWork = false }
            }
        }
        condition.lock()
        hasEnded = true
        thread = nil
        condition.broadcast()
        condition.unlock()
    }

    private func begin(_ turn: SaveTurn, _ submission: Submission) {
        do {
            try duties.holdLock()
        } catch {
            return submission.finish(.failure(error))
        }
        condition.lock()
        let seconds = Double(turn.limit.components.seconds) + Double(turn.limit.components.attoseconds) / 1e18
        self.turn = (ObjectIdentifier(turn), Date(timeIntervalSinceNow: seconds))
        turnHolder = turn
        condition.unlock()
        submission.finish(.success(nil))
    }

    /// - Returns: the jobs to run; empty if there is only tidying to do; nil if the thread shall end.
    private func next() -> [Submission]? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            // The caller that writes wakes this thread if there is something to do.
            if caller != nil {
                condition.wait()
                continue
            }
            endTurnThatIsOver()
            let group = takeReady()
            if !group.isEmpty {
                isAtWork = true
                return group
            }
            if isStopping, queue.isEmpty { return nil }
            if isTidyingDue, queue.isEmpty, turn == nil {
                isAtWork = true
                return []
            }
            if let turn { _ = condition.wait(until: turn.deadline) } else { condition.wait() }
        }
    }

    private func endTurnThatIsOver() {
        guard let turn else { return }
        let isHeld = turnHolder.map { !$0.isEnded } ?? false
        guard !isHeld || isStopping || turn.deadline <= Date() else { return }
        self.turn = nil
        turnHolder = nil
        duties.releaseLock()
    }

    /// Takes the jobs that may run now: everything up to the next request for a turn, or that request. During a turn,
    /// the saves that belong to it and all jobs that are not saves.
    private func takeReady() -> [Submission] {
        if let turn {
            let ready = queue.filter { $0.mayGoOn(in: turn.number) }
            if !ready.isEmpty { queue.removeAll { $0.mayGoOn(in: turn.number) } }
            return ready
        }
        let end = queue.firstIndex { $0.wantsTurn } ?? queue.count
        let ready = Array(queue.prefix(max(1, end)))
        queue.removeFirst(ready.count)
        return ready
    }
}
