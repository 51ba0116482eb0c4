import Foundation

/// A job for the writer, on which its caller waits.
///
/// `result` is guarded by `condition`.
final class Submission: @unchecked Sendable {
    /// A job for the writer.
    enum Job: Sendable {
        case save(ChangeSet)
        /// Any other work that needs the writer: rebuilds, leases, installing a model.
        case run(@Sendable () throws -> Void)
        /// Let one save go on while others wait.
        case turn(SaveTurn)
    }

    /// The outcome of a save; nil for other jobs.
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

    /// The changes of a save.
    var changes: ChangeSet? {
        if case .save(let changes) = job { changes } else { nil }
    }

    var isSave: Bool { changes != nil }

    var wantsTurn: Bool {
        if case .turn = job { true } else { false }
    }

    /// Whether the job may run during a turn.
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

    /// Blocks the calling thread until the job is done.
    func wait() throws -> SaveOutcome? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return try result.get() }
            condition.wait()
        }
    }
}
