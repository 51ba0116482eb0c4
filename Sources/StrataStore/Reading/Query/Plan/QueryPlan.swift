import StrataModel

/// A plan of a query: the steps that find objects, and how these are sorted.
struct QueryPlan: Sendable {
    /// The source of the order.
    enum Order: Sendable, Hashable {
        /// By id, for a request without an order.
        case byID
        /// By the index from which the steps read.
        case index
        case sort
        /// By the ranks of a text query.
        case relevance
    }

    let root: PlanStep
    let order: Order
    /// The estimated cost, in nanoseconds.
    let cost: Double
    /// Whether the plan follows from the shape of the request alone: one range of an index answers it.
    var isSettled = false

    /// The step of the index that gives the order, with the filter above it.
    var ordered: (step: PlanStep, access: IndexAccess, filter: RowFilter?)? {
        guard order == .index else { return nil }
        switch root.kind {
        case .index(let access): return (root, access, nil)
        case .filter(let step, let filter):
            if case .index(let access) = step.kind { return (step, access, filter) } else { return nil }
        default: return nil
        }
    }
}
