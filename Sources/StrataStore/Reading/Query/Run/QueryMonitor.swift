import Locking
import StrataModel
import Synchronization

/// Counts the rows that a query reads, and cancels it on request: the query's `RequestMeter` looks whether it is to end.
///
/// The thread that runs the query and its observers share it; all state is atomic.
package final class QueryMonitor: Sendable {
    private let examined = Atomic<Int>(0)
    private let cancelled = Atomic<Bool>(false)
    private let finished = Atomic<Bool>(false)
    private let plan = Locked<String?>(nil)

    package init() {}

    package var examinedRowCount: Int { examined.load(ordering: .relaxed) }
    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    package var isFinished: Bool { finished.load(ordering: .acquiring) }

    package func cancel() { cancelled.store(true, ordering: .relaxed) }
    package func finish() { finished.store(true, ordering: .releasing) }

    /// The access that the last query used to get its objects, as `PlanStep.source` names it; nil before the first.
    package var planSource: String? { plan.withLock { $0 } }

    func note(_ plan: QueryPlan) { self.plan.withLock { $0 = plan.root.source } }

    func noteRow() { examined.add(1, ordering: .relaxed) }
}
