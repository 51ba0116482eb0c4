import Synchronization

/// What the server has acknowledged.
final class Ledger: Sendable {
    struct Counter: Sendable {
        /// Increments that were acknowledged, and those of which it is not known whether they were made.
        var acknowledged = 0
        var unknown = 0
    }

    private let state = Mutex(State())

    private struct State {
        /// The number of each acknowledged review, by its text, which no other has.
        var reviews: [String: UInt64] = [:]
        var numbers: [UInt64] = []
        var counters: [UInt64: Counter] = [:]
        var problems: [String] = []
    }

    var reviews: [String: UInt64] { state.withLock(\.reviews) }
    var counters: [UInt64: Counter] { state.withLock(\.counters) }
    var problems: [String] { state.withLock(\.problems) }

    func note(_ text: String, _ number: UInt64) {
        state.withLock { state in
            state.reviews[text] = number
            state.numbers.append(number)
        }
    }

    func noteCounter(_ number: UInt64, _ change: (inout Counter) -> Void) {
        state.withLock { change(&$0.counters[number, default: Counter()]) }
    }

    /// At most ten: the same again says nothing new.
    func noteProblem(_ problem: String) {
        state.withLock { if $0.problems.count < 10 { $0.problems.append(problem) } }
    }

    var someReview: UInt64? { state.withLock { $0.numbers.randomElement() } }
    var someCounter: UInt64? { state.withLock { $0.counters.keys.randomElement() } }
}
