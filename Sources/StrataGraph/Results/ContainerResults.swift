import StrataModel
import StrataStore

/// The results of a request over everything that is saved, as they change: an asynchronous sequence without a context.
///
/// It follows the end of the log, whoever saves: any context, and any process. Its steps are values, so it may be read
/// anywhere; the first is the results as they are, and a slow reader gets one step for all that happened meanwhile.
/// When its task is cancelled it ends.
public struct ContainerResults<Object: ManagedObject>: AsyncSequence, Sendable {
    let container: PersistentContainer
    let request: FetchRequest<Object>
    let options: LiveResultsOptions

    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: ContainerResultsReader(container, request, options))
    }

    public struct Iterator: AsyncIteratorProtocol {
        private let reader: ContainerResultsReader<Object>

        init(reader: ContainerResultsReader<Object>) { self.reader = reader }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
            try await reader.next(isolation: actor)
        }
    }
}

extension PersistentContainer {
    /// The results of a request over everything that is saved, as they change; see `ContainerResults`.
    ///
    /// - Parameters:
    ///   - coalescing: how long to gather changes before a step is made of them.
    ///   - keyPaths: what makes an object another, so that an update is told; nil is everything of its own.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, coalescing: Duration = .zero, keyPaths: [String]? = nil
    ) -> ContainerResults<Object> {
        var options = LiveResultsOptions()
        options.coalescing = coalescing
        options.keyPaths = keyPaths
        return results(for: request, options: options)
    }

    /// The results of a request over everything that is saved, as they change; see `ContainerResults`.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, options: LiveResultsOptions
    ) -> ContainerResults<Object> {
        ContainerResults(container: self, request: request, options: options)
    }
}

/// Belongs to whoever iterates.
final class ContainerResultsReader<Object: ManagedObject> {
    private let container: PersistentContainer
    private let request: FetchRequest<Object>
    private let options: LiveResultsOptions
    private var tracker: ResultsTracker?
    private var signals: AsyncStream<Void>.Iterator
    private let news: AsyncStream<Void>.Continuation
    private var observation: HeadObservation?

    init(_ container: PersistentContainer, _ request: FetchRequest<Object>, _ options: LiveResultsOptions) {
        self.container = container
        self.request = request
        self.options = options
        let (stream, news) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.news = news
        signals = stream.makeAsyncIterator()
    }

    private func start() throws -> LiveResultsUpdate {
        let context = container.newBackgroundContext()
        let (storeRequest, _) = try context.prepare(request)
        let binding = context.binding
        let made = try ResultsTracker(
            binding, storeRequest, sectionNameKeyPath: options.sectionNameKeyPath, naming: options.sectionNaming,
            observing: options.keyPaths)
        observation = try binding.store.observeHead { [news] _ in news.yield() }
        try made.start(at: StoreState(sequence: try binding.store.head()))
        tracker = made
        return LiveResultsUpdate(
            snapshot: FetchedResultsSnapshot(made.results), difference: nil, sequence: made.state.sequence)
    }

    func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
        guard let tracker else { return try start() }
        while let _ = await signals.next(isolation: actor) {
            if options.coalescing > .zero { try await Task.sleep(for: options.coalescing) }
            try Task.checkCancellation()
            let head = try container.binding.store.head()
            guard let change = try tracker.advance(to: StoreState(sequence: head)) else { continue }
            return LiveResultsUpdate(change, tracker.state.sequence)
        }
        return nil
    }
}
