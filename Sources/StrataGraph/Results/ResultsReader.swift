import StrataModel
import StrataStore

/// What live results are of: a context, or everything that is saved.
protocol ResultsSource {
    var binding: StoreBinding { get }
    /// Called once, before the first state is asked for.
    func request() throws -> StoreRequest
    /// The state to show now.
    func state() throws -> StoreState
    func watch(with follower: any ContextFollower)
}

/// Makes steps of live results, one each time it is asked.
///
/// Belongs to whoever iterates, for a context to its isolation.
final class ResultsReader: ContextFollower {
    private let source: any ResultsSource
    private let options: LiveResultsOptions
    private var tracker: ResultsTracker?
    private let news: AsyncStream<Void>.Continuation
    private var signals: AsyncStream<Void>.Iterator
    private var observation: HeadObservation?

    init(_ source: any ResultsSource, _ options: LiveResultsOptions) {
        self.source = source
        self.options = options
        // Two signals that nobody has answered are one.
        let (stream, news) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.news = news
        signals = stream.makeAsyncIterator()
    }

    func contextMayHaveChanged() { news.yield() }

    private func start() throws -> LiveResultsUpdate {
        let made = try ResultsTracker(
            source.binding, try source.request(), sectionNameKeyPath: options.sectionNameKeyPath,
            naming: options.sectionNaming, observing: options.keyPaths)
        // Watched before it is read, so that nothing falls between.
        source.watch(with: self)
        observation = try source.binding.store.observeHead(onClose: { [news] in news.yield() }) { [news] _ in
            news.yield()
        }
        try made.start(at: try source.state())
        tracker = made
        return LiveResultsUpdate(
            snapshot: FetchedResultsSnapshot(made.results), difference: nil, eventNumber: made.state.eventNumber)
    }

    /// The next step; nil when the task is cancelled while it waits.
    func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
        guard let tracker else { return try start() }
        while let _ = await signals.next(isolation: actor) {
            if options.coalescing > .zero { try await Task.sleep(for: options.coalescing) }
            try Task.checkCancellation()
            try source.binding.store.checkOpen()
            guard let change = try tracker.advance(to: try source.state()) else { continue }
            return LiveResultsUpdate(
                snapshot: FetchedResultsSnapshot(change.after, reconfigured: change.updates.map(\.id)),
                difference: FetchedResultsDifference(change), eventNumber: tracker.state.eventNumber)
        }
        return nil
    }
}

/// What a context shows.
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

/// Everything that is saved.
struct ContainerResultsSource<Object: ManagedObject>: ResultsSource {
    let binding: StoreBinding
    let fetchRequest: FetchRequest<Object>

    func request() throws -> StoreRequest {
        try ManagedObjectContext(binding: binding, at: try binding.store.head()).prepare(fetchRequest).0
    }

    func state() throws -> StoreState { StoreState(eventNumber: try binding.store.head()) }
    func watch(with follower: any ContextFollower) {}
}
