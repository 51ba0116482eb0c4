import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Reads the state that the context shows: the store at `base`, and above it the unsaved changes of the contexts
    /// that it is a child of.
    ///
    /// - Parameters:
    ///   - pending: what this context has not saved itself, where that counts.
    ///   - budget: what the read may take. With a budget, it also ends when its task is cancelled.
    func read<R>(
        pending: [Layer] = [], monitor: QueryMonitor? = nil, budget: RequestBudget? = nil,
        _ body: (Snapshot) throws -> R
    ) throws -> R {
        try binding.read(
            at: base, layers: inherited.isEmpty ? pending : inherited + pending, monitor: monitor, budget: budget, body)
    }
}
