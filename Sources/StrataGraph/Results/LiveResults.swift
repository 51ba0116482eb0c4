public import StrataModel

/// One step of live results: what they are, and what has changed since the step before.
public struct LiveResultsUpdate: Sendable {
    /// The ids in order, by section.
    public let snapshot: FetchedResultsSnapshot
    /// nil in the first step.
    public let difference: FetchedResultsDifference?
    /// The state of the store that they are of.
    public let eventNumber: EventNumber

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

    public init(
        coalescing: Duration = .zero, keyPaths: [String]? = nil, sectionNameKeyPath: String? = nil,
        sectionNaming: SectionNaming = .value
    ) {
        self.coalescing = coalescing
        self.keyPaths = keyPaths
        self.sectionNameKeyPath = sectionNameKeyPath
        self.sectionNaming = sectionNaming
    }
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

    public func makeAsyncIterator() -> LiveResultsIterator {
        LiveResultsIterator(ContextResultsSource(context: context, fetchRequest: request), options)
    }
}

/// Waits for the steps of live results, of a context or of a container.
public struct LiveResultsIterator: AsyncIteratorProtocol {
    private let reader: ResultsReader

    init(_ source: any ResultsSource, _ options: LiveResultsOptions) { reader = ResultsReader(source, options) }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
        try await reader.next(isolation: actor)
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
        results(for: request, options: LiveResultsOptions(coalescing: coalescing, keyPaths: keyPaths))
    }

    /// The results of a request as they change; see `LiveResults`.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, options: LiveResultsOptions
    ) -> LiveResults<Object> {
        LiveResults(context: self, request: request, options: options)
    }
}
