/// What each step of one run did: ids it yielded, and how long it took with the steps below it.
///
/// Made only for `explain`; belongs to one run on one thread.
final class QueryTrace {
    struct Entry {
        var rows = 0
        var duration = Duration.zero
        /// What the plan did not foresee.
        var note: String?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    subscript(_ step: PlanStep) -> Entry {
        get { entries[ObjectIdentifier(step)] ?? Entry() }
        set { entries[ObjectIdentifier(step)] = newValue }
    }

    /// Runs a step's work and adds its time.
    func timed<R>(_ step: PlanStep, _ body: () throws -> R) rethrows -> R {
        let start = ContinuousClock.now
        defer { self[step].duration += ContinuousClock.now - start }
        return try body()
    }
}
