public import StrataModel
import StrataStore

/// One step of live results: what they are, and what has changed since the step before.
public struct LiveResultsUpdate: Sendable {
    /// The ids in order, by section.
    public let snapshot: FetchedResultsSnapshot
    /// nil in the first step.
    public let difference: FetchedResultsDifference?
    /// The state of the store that they are of.
    public let sequence: EventSequence

    public var objectIDs: [ObjectID] { snapshot.itemIdentifiers }

    /// The objects of a context that stands where the results do, made when they are looked at.
    public func objects<Object: ManagedObject>(
        _ type: Object.Type = Object.self, in context: ManagedObjectContext
    ) -> ResultObjects<Object> {
        ResultObjects(snapshot.state.list, 0..<snapshot.numberOfItems, context)
    }
}

/// How live results are watched.
public struct LiveResultsOptions: Sendable {
    /// How long to gather changes before a step is made of them.
    public var coalescing: Duration = .zero
    /// What makes an object another, so that an update is told: dotted paths; nil is everything of its own.
    public var keyPaths: [String]?
    /// The property that tells sections apart; the request must be sorted by it first.
    public var sectionNameKeyPath: String?
    public var sectionNaming = SectionNaming.value

    public init() {}
}

/// The results of a request as they change in a context: an asynchronous sequence.
///
/// ```swift
/// for try await update in context.results(for: try FetchRequest<Movie>().sorted(by: \.title)) {
///     print(update.objectIDs.count, update.difference?.insertions.count ?? 0)
/// }
/// ```
///
/// The first step is the results as they are. A slow reader misses nothing: what happened meanwhile is one step. It is
/// read in the isolation of the context. With `automaticallyMergesChangesFromParent` it sees what other contexts and
/// processes save; without, what this context does and merges.
public struct LiveResults<Object: ManagedObject>: AsyncSequence {
    let context: ManagedObjectContext
    let request: FetchRequest<Object>
    let options: LiveResultsOptions

    public func makeAsyncIterator() -> Iterator { Iterator(reader: ContextResultsReader(context, request, options)) }

    public struct Iterator: AsyncIteratorProtocol {
        private let reader: ContextResultsReader<Object>

        init(reader: ContextResultsReader<Object>) { self.reader = reader }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
            try await reader.next(isolation: actor)
        }
    }
}

extension ManagedObjectContext {
    /// The results of a request as they change; see `LiveResults`.
    ///
    /// - Parameters:
    ///   - coalescing: how long to gather changes before a step is made of them.
    ///   - keyPaths: what makes an object another, so that an update is told; nil is everything of its own.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, coalescing: Duration = .zero, keyPaths: [String]? = nil
    ) -> LiveResults<Object> {
        var options = LiveResultsOptions()
        options.coalescing = coalescing
        options.keyPaths = keyPaths
        return results(for: request, options: options)
    }

    /// The results of a request as they change; see `LiveResults`.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, options: LiveResultsOptions
    ) -> LiveResults<Object> {
        LiveResults(context: self, request: request, options: options)
    }
}

/// Belongs to the isolation of its context.
final class ContextResultsReader<Object: ManagedObject>: ContextFollower {
    private let context: ManagedObjectContext
    private let request: FetchRequest<Object>
    private let options: LiveResultsOptions
    private var tracker: ResultsTracker?
    private let news: AsyncStream<Void>.Continuation
    private var signals: AsyncStream<Void>.Iterator
    private var headObservation: HeadObservation?

    init(_ context: ManagedObjectContext, _ request: FetchRequest<Object>, _ options: LiveResultsOptions) {
        self.context = context
        self.request = request
        self.options = options
        let (stream, news) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.news = news
        signals = stream.makeAsyncIterator()
    }

    func contextMayHaveChanged() { news.yield() }

    private func state() throws -> StoreState {
        try context.state(includesPendingChanges: request.includesPendingChanges)
    }

    private func start() throws -> LiveResultsUpdate {
        let (storeRequest, _) = try context.prepare(request)
        let made = try ResultsTracker(
            context.binding, storeRequest, sectionNameKeyPath: options.sectionNameKeyPath,
            naming: options.sectionNaming, observing: options.keyPaths)
        try made.start(at: try state())
        tracker = made
        context.followers.add(self)
        headObservation = try context.binding.store.observeHead { [news] _ in news.yield() }
        return LiveResultsUpdate(
            snapshot: FetchedResultsSnapshot(made.results), difference: nil, sequence: made.state.sequence)
    }

    func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
        guard let tracker else { return try start() }
        while let _ = await signals.next(isolation: actor) {
            if options.coalescing > .zero { try await Task.sleep(for: options.coalescing) }
            try Task.checkCancellation()
            if context.automaticallyMergesChangesFromParent { try context.moveToHead() }
            guard let change = try tracker.advance(to: try state()) else { continue }
            return LiveResultsUpdate(change, tracker.state.sequence)
        }
        return nil
    }
}

extension LiveResultsUpdate {
    init(_ change: ResultsChange, _ sequence: EventSequence) {
        self.init(
            snapshot: FetchedResultsSnapshot(change.after, reconfigured: change.updates.map(\.id)),
            difference: FetchedResultsDifference(change), sequence: sequence)
    }
}
