import StrataModel

/// Counts the work of one read of a snapshot, and ends it when it has used up its budget or is cancelled.
///
/// Counting is a subtraction. Every few thousand steps, which take less than a millisecond, the meter looks whether the
/// read was cancelled: by its monitor or, if it has a budget, by its task. Without budget and monitor it never does.
struct RequestMeter {
    private static let stride = 4096

    private let budget: RequestBudget?
    private let monitor: QueryMonitor?
    /// Steps until the next look.
    private var untilLook = Int.max
    /// The steps of the budget that come after those.
    private var left = 0
    private var memory = 0
    private var rows = 0
    private var members = 0
    private var entries = 0
    /// Whether the meter has ended the read because of a cancellation.
    private(set) var isCancelled = false

    /// A meter for reads without bounds.
    init() {
        budget = nil
        monitor = nil
    }

    init(_ budget: RequestBudget?, _ monitor: QueryMonitor?) {
        self.budget = budget
        self.monitor = monitor
        guard budget != nil || monitor != nil else { return }
        let steps = max(0, budget?.steps ?? .max)
        untilLook = min(Self.stride, steps)
        left = steps - untilLook
    }

    /// Counts rows, members of relationships, entries of indexes, and values.
    ///
    /// - Throws: `budgetExceeded`, `CancellationError`.
    @inline(__always)
    mutating func spend(rows: Int = 0, members: Int = 0, entries: Int = 0, values: Int = 0) throws {
        self.rows &+= rows
        self.members &+= members
        self.entries &+= entries
        untilLook &-= rows &+ members &+ entries &+ values
        if untilLook < 0 { try look() }
    }

    /// Counts memory that is kept until the read ends.
    ///
    /// - Throws: `budgetExceeded`.
    @inline(__always)
    mutating func hold(_ bytes: Int) throws {
        memory &+= bytes
        try check(more: 0)
    }

    /// - Parameter more: bytes that are kept for a moment only.
    /// - Throws: `budgetExceeded`.
    @inline(__always)
    func check(more: Int) throws {
        if let budget, memory &+ more > budget.memoryInBytes { throw exceeded(memory: budget) }
    }

    /// Looks for a cancellation now.
    ///
    /// - Throws: `CancellationError`.
    mutating func checkCancellation() throws {
        guard monitor?.isCancelled ?? false || budget != nil && Task.isCancelled else { return }
        isCancelled = true
        throw CancellationError()
    }

    @inline(never)
    private mutating func look() throws {
        try checkCancellation()
        // `untilLook` is below zero by the steps that went beyond it.
        left += untilLook
        guard left >= 0 else { throw exceeded(steps: budget?.steps ?? 0) }
        untilLook = min(Self.stride, left)
        left -= untilLook
    }

    // MARK: Errors

    private static let advice = "Narrow it, give it an index, or raise its budget"

    private func exceeded(steps: Int) -> StrataError {
        var read: [String] = []
        if rows > 0 { read.append("\(rows) rows") }
        if members > 0 { read.append("\(members) members of relationships") }
        if entries > 0 { read.append("\(entries) entries of indexes") }
        let total = read.isEmpty ? "" : ", having read " + read.joined(separator: ", ")
        return StrataError(
            .budgetExceeded, "The request takes more than the \(steps) steps of its budget\(total). \(Self.advice).")
    }

    private func exceeded(memory budget: RequestBudget) -> StrataError {
        StrataError(
            .budgetExceeded,
            "The request takes more than the \(budget.memoryInBytes) bytes of memory of its budget. \(Self.advice).")
    }
}

extension Snapshot {
    /// Limits the work of reads through the snapshot, and lets them be cancelled.
    func limit(_ budget: RequestBudget?, _ monitor: QueryMonitor?) throws {
        self.monitor = monitor
        meter = RequestMeter(budget, monitor)
        try meter.checkCancellation()
    }

    /// - Throws: as `RequestMeter.spend`.
    @inline(__always)
    func spend(rows: Int = 0, members: Int = 0, entries: Int = 0, values: Int = 0) throws {
        try meter.spend(rows: rows, members: members, entries: entries, values: values)
    }

    /// - Throws: as `RequestMeter.hold`.
    @inline(__always)
    func hold(_ bytes: Int) throws { try meter.hold(bytes) }

    /// Runs a request. A cancellation comes out as such, and an exceeded budget with the entity, and the predicate
    /// unless a part of it is known to be the cause.
    func metered<R>(_ entity: EntitySchema?, _ predicate: FetchPredicate?, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            if meter.isCancelled { throw CancellationError() }
            guard var error = error as? StrataError, error.code == .budgetExceeded else { throw error }
            error.context.entityName = error.context.entityName ?? entity?.name
            if let predicate { error = error.blaming(predicate) }
            throw error
        }
    }
}

extension StrataError {
    /// Adds the part of the predicate that was being judged to an error of an exceeded budget, unless it has a smaller
    /// part already.
    func blaming(_ predicate: FetchPredicate) -> StrataError {
        guard code == .budgetExceeded, context.predicate == nil else { return self }
        var error = self
        error.context.predicate = String(predicate.description.prefix(1000))
        return error
    }
}
