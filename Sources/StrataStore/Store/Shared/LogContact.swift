// Asks a shared log, repeats failed questions, and keeps the state of the connection (`LogContact`).

package import Foundation
import Locking
package import StrataModel

/// The state of a store's connection to its shared log.
package struct SharedLogStatus: Sendable {
    /// The log's name, without a password.
    package let name: String
    /// Whether the last question was answered.
    package let isReachable: Bool
    /// When the log last answered; nil if it never has.
    package let lastAnswer: Date?
    /// The last transaction that the log is known to have.
    package let end: TransactionNumber
    /// The reason why the last question was not answered.
    package let failure: String?
    /// The reason why nothing is received any more, until the store is opened again.
    package let problem: StrataError?
}

/// Asks a shared log, again where it does not answer, and remembers when it has answered.
///
/// All variables are guarded by `condition`.
final class LogContact: @unchecked Sendable {
    private static let shortestPause = Duration.milliseconds(20)
    static let longestPause = Duration.milliseconds(500)

    private let connection: SharedLogConnection
    private let condition = TimedMonitor()
    private var lastAnswer: Date?
    /// Since when no question was answered.
    private var silence: ContinuousClock.Instant?
    private var failure: String?
    private var end = TransactionNumber.zero
    private var problem: StrataError?
    private var isStopped = false

    init(_ connection: SharedLogConnection) { self.connection = connection }

    var status: SharedLogStatus {
        condition.withLock {
            SharedLogStatus(
                name: connection.name, isReachable: silence == nil && lastAnswer != nil, lastAnswer: lastAnswer,
                end: end, failure: failure, problem: problem)
        }
    }

    // MARK: Notes

    func noteAnswer() {
        let now = Date()
        condition.withLock {
            lastAnswer = now
            silence = nil
            failure = nil
        }
    }

    func noteEnd(_ number: TransactionNumber?) {
        guard let number else { return }
        condition.withLock { end = max(end, number) }
    }

    func note(_ failure: SharedLogFailure) {
        condition.withLock {
            if silence == nil { silence = .now }
            self.failure = failure.description
        }
    }

    /// Notes why nothing can be received any more.
    func note(problem: StrataError) { condition.withLock { self.problem = problem } }

    // MARK: Asking

    /// Asks until there is an answer or the time is over. The time counts from the first question that was not
    /// answered: while the log is away, each save fails after one attempt.
    ///
    /// - Parameter giveUp: the error for the last failure.
    func ask<R>(
        _ question: () throws(SharedLogFailure) -> R, orThrow giveUp: (SharedLogFailure) -> StrataError
    ) throws -> R {
        var pause = Self.shortestPause
        while true {
            do throws(SharedLogFailure) {
                let answer = try question()
                noteAnswer()
                return answer
            } catch {
                if case .refused(let refusal) = error {
                    noteAnswer()
                    throw refusal
                }
                note(error)
                guard mayRetry(after: pause) else { throw giveUp(error) }
                sleep(pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// The same for questions that change nothing, or may be asked twice.
    func ask<R>(_ question: () throws(SharedLogFailure) -> R) throws -> R {
        try ask(question, orThrow: unavailable)
    }

    private func mayRetry(after pause: Duration) -> Bool {
        condition.withLock {
            guard !isStopped, let silence else { return false }
            return .now + pause < silence + connection.timeout
        }
    }

    func unavailable(_ failure: SharedLogFailure) -> StrataError {
        StrataError(
            .logUnavailable,
            "The shared log \(connection.name) cannot be reached: \(failure). Nothing was changed; try again when it can.",
            cause: failure)
    }

    // MARK: Stopping

    var hasStopped: Bool { condition.withLock { isStopped } }

    /// Ends further attempts, and `sleep`.
    func stop() {
        condition.withLock {
            isStopped = true
            condition.broadcast()
        }
    }

    /// Sleeps, but not beyond `stop`.
    func sleep(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        condition.withLock {
            while !isStopped { if !condition.wait(until: end) { break } }
        }
    }
}
