// The results of a request as an asynchronous sequence (`LiveResults`).

public import StrataModel

/// An element of live results: the results, and what has changed since the element before.
public struct LiveResultsUpdate: Sendable {
    /// The ids in order, by section.
    public let snapshot: FetchedResultsSnapshot
    /// The changes since the last element; nil in the first one.
    public let difference: FetchedResultsDifference?
    /// The number of the last event that the results include.
    public let eventNumber: EventNumber

    /// All ids, in order.
    ///
    /// - Complexity: O(n)
    public var objectIDs: [ObjectID] { snapshot.itemIdentifiers }

    /// The objects in a context, each made when it is accessed. The context should show the same event number.
    public func objects<Object: ManagedObject>(
        _ type: Object.Type = Object.self, in context: ManagedObjectContext
    ) -> ResultObjects<Object> {
        ResultObjects(snapshot.state.list, 0..<snapshot.numberOfItems, context)
    }
}

/// Options for following the results of a request.
public struct LiveResultsOptions: Sendable {
    /// The time for which changes are gathered before they are reported together.
    public var coalescing: Duration = .zero
    /// Key paths whose changes count as an update of an object; nil for all of its own properties.
    public var keyPaths: [String]?
    /// The key path whose values make the sections. The request must be sorted by it first.
    public var sectionNameKeyPath: String?
    /// Names the sections by the value at the key path.
    public var sectionNaming = SectionNaming.value

    /// Makes options, each with its default.
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

/// The results of a request in a context, as they change: an asynchronous sequence.
///
/// ```swift
/// for try await update in context.results(for: try FetchRequest<Movie>().sorted(by: \.title)) {
///     print(update.objectIDs.count, update.difference?.insertions.count ?? 0)
/// }
/// ```
///
/// The first element is the present results. A slow reader gets one element for all changes since its last. Iterate in
/// the isolation of the context. With `automaticallyMergesChangesFromParent` the results include what other contexts
/// and processes save; without it, only what this context changes and merges.
public struct LiveResults<Object: ManagedObject>: AsyncSequence {
    let context: ManagedObjectContext
    let request: FetchRequest<Object>
    let options: LiveResultsOptions

    /// Begins with the results as they are now.
    public func makeAsyncIterator() -> LiveResultsIterator {
        LiveResultsIterator(ContextResultsSource(context: context, fetchRequest: request), options)
    }
}

/// One pass over live results, of a context or of a container.
public struct LiveResultsIterator: AsyncIteratorProtocol {
    private let reader: ResultsReader

    init(_ source: any ResultsSource, _ options: LiveResultsOptions) { reader = ResultsReader(source, options) }

    /// Waits for the next change of the results; nil when the task is cancelled. The first call returns at once.
    ///
    /// - Throws: as `ManagedObjectContext.fetch(_:)`; `storeClosed`; `CancellationError`.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveResultsUpdate? {
        try await reader.next(isolation: actor)
    }
}

extension ManagedObjectContext {
    /// Follows the results of a request in this context.
    ///
    /// - Parameters:
    ///   - coalescing: how long changes are gathered before they are reported together.
    ///   - keyPaths: key paths whose changes count as an update of an object; nil for all of its own properties.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, coalescing: Duration = .zero, keyPaths: [String]? = nil
    ) -> LiveResults<Object> {
        results(for: request, options: LiveResultsOptions(coalescing: coalescing, keyPaths: keyPaths))
    }

    /// Follows the results of a request in this context, with options for sections and updates.
    public func results<Object: ManagedObject>(
        for request: FetchRequest<Object>, options: LiveResultsOptions
    ) -> LiveResults<Object> {
        LiveResults(context: self, request: request, options: options)
    }
}
