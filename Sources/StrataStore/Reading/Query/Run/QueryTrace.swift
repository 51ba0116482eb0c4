/// Records the rows that each step of a run yielded, and its duration with the steps below it.
///
/// Used for `explain` only. Belongs to one run on one thread.
final class QueryTrace {
    struct Entry {
        var rows = 0
        var duration = Duration.zero
        /// The difference between the run and the plan, in words.
        var note: String?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    subscript(_ step: PlanStep) -> Entry {
        get { entries[ObjectIdentifier(step)] ?? Entry() }
        set { entries[ObjectIdentifier(step)] = newValue }
    }

    /// Runs the work of a step and adds its duration.
    func timed<R>(_ step: PlanStep, _ body: () throws -> R) rethrows -> R {
        let start = ContinuousClock.now
        defer { self[step].duration += ContinuousClock.now - start }
        return try body()
    }
}
