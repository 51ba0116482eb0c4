import Foundation
import Locking

/// Runs work that blocks (waiting for a writer, syncing, reading from disk) on threads of its own.
///
/// Swift's cooperative pool has one thread per core, so blocking one of those would delay unrelated tasks.
package final class WorkerThreads: Sendable {
    static let shared = WorkerThreads(limit: 16)

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var next = 0
        var idle = 0
        var count = 0
    }

    private let limit: Int
    // Work and counts of threads. Guarded by the mutex; the semaphore counts the work.
    private let state = Locked(State())
    private let available = DispatchSemaphore(value: 0)

    package init(limit: Int) { self.limit = limit }

    /// Runs `body` on one of the threads, in the caller's task: what it does there ends when that task is cancelled.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await WorkerTurn(self).run(body)
    }

    package func submit(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            state.waiting.append(work)
            guard state.waiting.count - state.next > state.idle, state.count < limit else { return false }
            state.count += 1
            return true
        }
        if needsThread, !startThread() { DispatchQueue.global().async { self.workOnce() } }
        available.signal()
    }

    /// - Returns: false when the system cannot create a thread. The caller then uses a thread of Dispatch.
    private func startThread() -> Bool {
        do {
            try BackgroundThread.start("strata.worker") { while true { self.workOnce() } }
            return true
        } catch {
            state.withLock { $0.count -= 1 }
            return false
        }
    }

    /// Waits for one piece of work and runs it.
    private func workOnce() {
        state.withLock { $0.idle += 1 }
        available.wait()
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            state.idle -= 1
            guard state.next < state.waiting.count else { return nil }
            let work = state.waiting[state.next]
            state.next += 1
            if state.next == state.waiting.count {
                state.waiting.removeAll(keepingCapacity: true)
                state.next = 0
            }
            return work
        }
        next?()
    }
}

/// Brings one piece of work of a task to a thread of Strata's own.
private actor WorkerTurn {
    private let executor: WorkerExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ threads: WorkerThreads) { executor = WorkerExecutor(threads) }

    func run<Result: Sendable>(_ body: @Sendable () throws -> Result) throws -> Result { try body() }
}

/// Runs the jobs of one actor in order, on threads where they may block.
final class WorkerExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
    }

    private let threads: WorkerThreads
    // Jobs in order. Guarded by the mutex.
    private let state = Locked(State())

    init(_ threads: WorkerThreads = .shared) { self.threads = threads }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let starts = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { threads.submit { self.drain() } }
    }

    private func drain() {
        while true {
            let job = state.withLock { state -> UnownedJob? in
                guard !state.jobs.isEmpty else {
                    state.isRunning = false
                    return nil
                }
                return state.jobs.removeFirst()
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
