import StrataModel
import StrataStore

extension ManagedObjectContext {
    /// Reads the state that the context stands on: the store at `base`, and above it what is unsaved in the contexts
    /// that it is a child of.
    ///
    /// - Parameter pending: what this context has not saved itself, where that counts.
    func read<R>(pending: [Layer] = [], monitor: QueryMonitor? = nil, _ body: (Snapshot) throws -> R) throws -> R {
        try binding.read(at: base, layers: inherited.isEmpty ? pending : inherited + pending, monitor: monitor, body)
    }
}
