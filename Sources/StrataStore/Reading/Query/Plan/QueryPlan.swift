import StrataModel

/// How a query is run: the steps that find objects, and how these are put in order.
struct QueryPlan: Sendable {
    /// Where the order comes from.
    enum Order: Sendable, Hashable {
        /// No order was asked for: by id.
        case byID
        /// The order of the index that the steps begin with.
        case index
        case sort
    }

    let root: PlanStep
    let order: Order
    /// What all of it is thought to take, in nanoseconds.
    let cost: Double
    /// Whether nothing but the shape of the request decided for it: one range of an index that settles all of it.
    var isSettled = false

    /// The index that gives the order, and what is asked of the rows it leads to.
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
