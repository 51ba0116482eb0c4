// Reads the elements of live results from a context or a container.

import StrataModel
import StrataStore

/// The source of live results: a context, or the saved state of a container.
protocol ResultsSource {
    var binding: StoreBinding { get }
    /// The request that is followed. Called once, before `state()`.
    func request() throws -> StoreRequest
    /// The present state.
    func state() throws -> StoreState
    /// Adds a follower for changes of the state that are not saves, which the reader observes by itself.
    func watch(with follower: any ContextFollower)
}

/// Makes the elements of live results, one for each call of `next`.
///
/// Belongs to the isolation of its iterator; for a context that is the context's.
final class ResultsReader {
    private let source: any ResultsSource
    private let options: LiveResultsOptions
    private var tracker: ResultsTracker?
    private let signals = StateSignals()

    init(_ source: any ResultsSource, _ options: LiveResultsOptions) {
        self.source = source
        self.options = options
    }

    private func start() throws -> LiveResultsUpdate {
        let made = try ResultsTracker(
            source.binding, try source.request(), sectionNameKeyPath: options.sectionNameKeyPath,
            naming: options.sectionNaming, observing: options.keyPaths)
        // Observing begins before the first read, so that no change is missed between the two.
        source.watch(with: signals)
        try signals.observe(source.binding.store)
        try made.start(at: try source.state())
        tracker = made
        return LiveResultsUpdate(
            snapshot: FetchedResultsSnapshot(made.results), difference: nil, eventNumber: made.state.eventNumber)
    }

    /// Waits for the next element; nil when the task is cancelled meanwhile.
    func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
        guard let tracker else { return try start() }
        while try await signals.next(coalescing: options.coalescing, isolation: actor) {
            try source.binding.store.checkOpen()
            guard let change = try tracker.advance(to: try source.state()) else { continue }
            return LiveResultsUpdate(
                snapshot: FetchedResultsSnapshot(change.after, reconfigured: change.updates.map(\.id)),
                difference: FetchedResultsDifference(change), eventNumber: tracker.state.eventNumber)
        }
        return nil
    }
}

/// Live results of a context.
struct ContextResultsSource<Object: ManagedObject>: ResultsSource {
    let context: ManagedObjectContext
    let fetchRequest: FetchRequest<Object>

    var binding: StoreBinding { context.binding }
    func request() throws -> StoreRequest { try context.prepare(fetchRequest).0 }
    func watch(with follower: any ContextFollower) { context.followers.add(follower) }

    func state() throws -> StoreState {
        if context.automaticallyMergesChangesFromParent { try context.moveToHead() }
        return try context.state(includesPendingChanges: fetchRequest.includesPendingChanges)
    }
}

/// Live results of a container's saved state.
struct ContainerResultsSource<Object: ManagedObject>: ResultsSource {
    let binding: StoreBinding
    let fetchRequest: FetchRequest<Object>

    func request() throws -> StoreRequest {
        try ManagedObjectContext(binding: binding, at: try binding.newestState()).prepare(fetchRequest).0
    }

    func state() throws -> StoreState {
        let pin = try binding.store.pinnedState(through: binding.schema)
        return StoreState(eventNumber: pin.eventNumber, pin: pin)
    }

    func watch(with follower: any ContextFollower) {}
}
