import Foundation
import Locking

/// One thread that runs jobs in order; LMDB's write transaction must begin and end on one thread.
///
/// A save that finds nobody writing and nobody waiting runs on its caller's own thread instead, which would only wait
/// for it: two wake-ups less. Those who are expected beside it join its commit as they come, and it is applied meanwhile.
/// So at any time one thread at most writes, this one or `guest`. All variables are guarded by `condition`; the thread
/// ends after `stopAndWait`, when the queue is empty.
final class WriterThread: @unchecked Sendable {
    /// What is done by whoever writes; a turn's lock is held by the thread alone.
    struct Duties: Sendable {
        /// Does everything that waits and may go on, in order of arrival, and says what came of each. They are told when
        /// it is known who came meanwhile: who is told comes again at once, and would be taken for one more.
        ///
        /// Before it commits saves it asks who shall join them, until nobody does; the answers of those follow.
        var work: @Sendable (_ group: [Submission], _ joining: () -> [Submission]) -> [Submission.Answer]
        /// Whether `work` has left something to tidy. Asked by whoever did it.
        var isTidyingDue: @Sendable () -> Bool = { false }
        /// Does a part of that, no longer than a save takes; the thread alone does, when nobody waits.
        var tidy: @Sendable () -> Void = {}
        /// Keeps the writers of other processes out until `releaseLock`.
        var holdLock: @Sendable () throws -> Void
        var releaseLock: @Sendable () -> Void
    }

    private let condition = NSCondition()
    private var queue: [Submission] = []
    /// Whose turn it is, if anybody's. Weak: whoever forgets a turn has ended it.
    private var turn: (number: ObjectIdentifier, deadline: Date)?
    private weak var turnHolder: SaveTurn?
    private var isStopping = false
    private var hasEnded = false
    private var company = Company()
    /// The thread, from its beginning to its end.
    private var thread: pthread_t?
    /// Whether the thread does what it took from the queue.
    private var isAtWork = false
    /// Whether the last who wrote has left something to tidy.
    private var isTidyingDue = false
    /// Whether whoever writes waits for others to join; who comes says so by `arrivals`, once.
    private var isAwaitingCompany = false
    private let arrivals = DispatchSemaphore(value: 0)
    private var waits = 0
    /// The thread of a caller that writes by itself.
    private var guest: pthread_t?
    private let duties: Duties

    /// - Throws: `BackgroundThread.Unavailable`.
    init(name: String, _ duties: Duties) throws(BackgroundThread.Unavailable) {
        self.duties = duties
        try BackgroundThread.start(name) { [self] in run() }
    }

    /// Whether the caller runs on this thread, or is the one who writes in its place.
    var isCurrent: Bool { condition.withLock { isThisThread } }

    private var isThisThread: Bool { Self.isCalling(thread) || Self.isCalling(guest) }

    private static func isCalling(_ thread: pthread_t?) -> Bool {
        thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    /// Saves that wait.
    var waitingSaveCount: Int {
        condition.withLock { queue.count { $0.isSave } }
    }

    /// How often whoever writes has waited for somebody to join.
    var timesWaited: Int { condition.withLock { waits } }

    /// - Returns: false when the thread has been stopped.
    func submit(_ submission: Submission) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopping else { return false }
        queue.append(submission)
        if isAwaitingCompany {
            isAwaitingCompany = false
            arrivals.signal()
        } else if !isAtWork, guest == nil {
            // Otherwise who writes looks at the queue afterwards.
            condition.broadcast()
        }
        return true
    }

    /// Does a save on the calling thread where nobody writes and nobody waits, and submits it otherwise.
    ///
    /// - Returns: false when the thread has been stopped.
    func submitOrWrite(_ submission: Submission) -> Bool {
        guard beginAsGuest() else { return submit(submission) }
        work([submission]) {
            guest = nil
            if !queue.isEmpty || isStopping || isTidyingDue { condition.broadcast() }
        }
        return true
    }

    /// - Returns: whether the calling thread shall write.
    private func beginAsGuest() -> Bool {
        condition.withLock {
            guard !isAtWork, guest == nil, turn == nil, !isStopping, queue.isEmpty else { return false }
            guest = pthread_self()
            return true
        }
    }

    /// Does a group and whoever joins it, and tells them; `end` runs before, with the lock held.
    private func work(_ group: [Submission], end: () -> Void) {
        var group = group
        var waited = Duration.zero
        let start = ContinuousClock.now
        let answers = duties.work(group) {
            let joining = takeJoining(group.count, &waited)
            group += joining
            return joining
        }
        precondition(group.count == answers.count, "Somebody would wait for ever.")
        let isTidyingDue = duties.isTidyingDue()
        let duration = ContinuousClock.now - start - waited
        condition.withLock {
            company.note(saves: group.count(where: \.isSave), waiting: queue.count(where: \.isSave), after: duration)
            self.isTidyingDue = isTidyingDue
            end()
        }
        for (submission, answer) in zip(group, answers) { submission.finish(answer) }
    }

    /// Takes those who came after the `count` that are being written and are expected beside them; waits for the first of
    /// them where none is there, up to their deadline.
    private func takeJoining(_ count: Int, _ waited: inout Duration) -> [Submission] {
        condition.lock()
        defer { condition.unlock() }
        while true {
            let room = company.expected - count
            guard room > 0, turn == nil, !isStopping, queue.allSatisfy(\.isSave) else { return [] }
            if !queue.isEmpty {
                let joining = Array(queue.prefix(room))
                queue.removeFirst(joining.count)
                return joining
            }
            guard let deadline = company.deadline else { return [] }
            let start = ContinuousClock.now
            isAwaitingCompany = true
            waits += 1
            condition.unlock()
            let isLate = arrivals.wait(timeout: deadline) == .timedOut
            condition.lock()
            waited += ContinuousClock.now - start
            if isAwaitingCompany {
                isAwaitingCompany = false
            } else if isLate {
                // Somebody came at the last moment, and has said so.
                arrivals.wait()
            }
            if isLate { company.isLate() }
        }
    }

    /// Looks again who may go on.
    func wake() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Lets what waits finish, then ends the thread; blocks until then, unless called on the thread itself.
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

    /// - Returns: what the thread shall do, nothing for tidying; nil when it shall end.
    private func next() -> [Submission]? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            // Whoever writes as a guest wakes this thread when there is something to do.
            if guest != nil {
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

    /// Takes what may go on now: everything up to the next one who wants a turn, or that one; while somebody has the
    /// turn, its saves and what is no save.
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

/// Who saves beside whom: makes the writer wait for those that the last commit has let go.
///
/// Contexts that save one small change after another would else share a commit in two halves that take turns: while one
/// half is written the other queues. A save that is alone, or later than a short part of a commit, never waits.
private struct Company {
    /// Saves that the last commit made, and that came while it was made.
    private(set) var expected = 0
    /// Until when those are waited for; nil when they are not.
    private(set) var deadline: DispatchTime?
    /// Of what the last commit took; at the longest, a commit is held up by `longest`.
    private static let part = 0.25
    private static let shortest = 0.000_02
    private static let longest = 0.002

    /// - Parameter duration: what the commit took, without waiting.
    mutating func note(saves: Int, waiting: Int, after duration: Duration) {
        expected = saves + waiting
        deadline = nil
        guard expected > 1 else { return }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let wait = min(seconds * Self.part, Self.longest)
        if wait >= Self.shortest { deadline = .now() + wait }
    }

    /// Those who are still missing are not waited for.
    mutating func isLate() { deadline = nil }
}

/// One job for the writer, and the place where its caller waits.
///
/// `result` is guarded by `condition`.
final class Submission: @unchecked Sendable {
    /// What the writer shall do.
    enum Job: Sendable {
        case save(ChangeSet)
        /// Anything else that needs the writer: rebuild, leases, model installation.
        case run(@Sendable () throws -> Void)
        /// Let this one save while others wait.
        case turn(SaveTurn)
    }

    /// What came of a save; nil where there is nothing to say.
    typealias Answer = Result<SaveOutcome?, any Error>

    let job: Job
    /// The turn that a save belongs to.
    private let turn: ObjectIdentifier?
    private let condition = NSCondition()
    private var result: Answer?

    init(_ job: Job, turn: SaveTurn? = nil) {
        self.job = job
        self.turn = turn.map { ObjectIdentifier($0) }
    }

    /// What a save saves.
    var changes: ChangeSet? {
        if case .save(let changes) = job { changes } else { nil }
    }

    var isSave: Bool { changes != nil }

    var wantsTurn: Bool {
        if case .turn = job { true } else { false }
    }

    /// Whether the job may be done while somebody has the turn.
    func mayGoOn(in turn: ObjectIdentifier) -> Bool {
        switch job {
        case .save: self.turn == turn
        case .run: true
        case .turn: false
        }
    }

    func finish(_ result: Answer) {
        condition.lock()
        self.result = result
        condition.broadcast()
        condition.unlock()
    }

    /// Blocks the calling thread until the writer is done.
    func wait() throws -> SaveOutcome? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return try result.get() }
            condition.wait()
        }
    }
}
