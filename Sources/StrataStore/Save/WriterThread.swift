import Foundation

/// One thread that runs jobs in order; LMDB's write transaction must begin and end on one thread, and waiting for the
/// disk must not occupy a thread of Swift's pool.
///
/// All variables are guarded by `condition`; the thread ends after `stopAndWait`, when the queue is empty.
final class WriterThread: @unchecked Sendable {
    private let condition = NSCondition()
    private var queue: [Submission] = []
    private var isStopping = false
    private var hasEnded = false
    private var thread: Thread?
    private let work: @Sendable ([Submission]) -> Void

    /// - Parameter work: gets everything that waits, in order of arrival; called on this thread only.
    init(name: String, work: @escaping @Sendable ([Submission]) -> Void) {
        self.work = work
        let thread = Thread { [self] in run() }
        thread.name = name
        self.thread = thread
        thread.start()
    }

    /// - Returns: false when the thread has been stopped.
    func submit(_ submission: Submission) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopping else { return false }
        queue.append(submission)
        condition.signal()
        return true
    }

    /// Lets what waits finish, then ends the thread; blocks until then, unless called on the thread itself.
    func stopAndWait() {
        condition.lock()
        defer { condition.unlock() }
        isStopping = true
        condition.broadcast()
        guard Thread.current !== thread else { return }
        while !hasEnded { condition.wait() }
    }

    private func run() {
        while let group = next() { work(group) }
        condition.lock()
        hasEnded = true
        condition.broadcast()
        condition.unlock()
    }

    private func next() -> [Submission]? {
        condition.lock()
        defer { condition.unlock() }
        while queue.isEmpty {
            if isStopping { return nil }
            condition.wait()
        }
        defer { queue.removeAll() }
        return queue
    }
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
    }

    let job: Job
    private let condition = NSCondition()
    private var result: Result<SaveOutcome?, any Error>?

    init(_ job: Job) { self.job = job }

    func finish(_ result: Result<SaveOutcome?, any Error>) {
        condition.lock()
        self.result = result
        condition.signal()
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
