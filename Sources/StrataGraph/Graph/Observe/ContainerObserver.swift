public import StrataModel
import StrataStore

/// Gets the duration of the work of a container's contexts, to measure and to trace it.
///
/// Its functions are called when the work has ended, on the thread and in the task that did it, so they must be quick.
/// A container without an observer measures nothing.
public protocol ContainerObserver: Sendable {
    /// A save has ended. Saves of child contexts into their parent are not reported.
    func saveEnded(_ save: SaveMeasurement)
    /// A fetch, a count, or a fetch of rows has ended.
    func fetchEnded(_ fetch: FetchMeasurement)
    /// Faults were read from the store.
    ///
    /// - Parameter count: how many objects were read together.
    func faultsEnded(count: Int, start: ContinuousClock.Instant, duration: Duration)
    /// A view that catches up has taken in events, been built further, or failed. The process that keeps it reports
    /// this.
    func viewMoved(_ view: ViewMeasurement)
}

extension ContainerObserver {
    /// Does nothing.
    public func viewMoved(_ view: ViewMeasurement) {}
}

/// The progress of a view that catches up.
public struct ViewMeasurement: Sendable {
    /// The name of the view.
    public let name: String
    /// The last event that its groups include.
    public let eventNumber: EventNumber
    /// The number of events that its groups do not include yet.
    public let lagInEvents: Int
    /// The time since the first transaction was saved that its groups do not include.
    public let lag: Duration
    /// Whether the view stopped at an event that it cannot follow.
    public let hasFailed: Bool

    init(_ name: String, _ state: ViewUpkeepState) {
        self.name = name
        eventNumber = state.eventNumber
        lagInEvents = Int(clamping: state.lagInEvents)
        lag = state.lag
        if case .failed = state.phase { hasFailed = true } else { hasFailed = false }
    }
}

/// A measurement of one save.
public struct SaveMeasurement: Sendable {
    /// When `save()` was called.
    public let start: ContinuousClock.Instant
    /// The time from the call to its end, with hooks, validation and merging.
    public let duration: Duration
    /// The number of events added to the log; 0 if the save threw or there was nothing to save.
    public let eventCount: Int
    /// The number of times that others had saved first, so that it merged and tried again.
    public let retryCount: Int
    /// The number of conflicts that the merge policy decided.
    public let conflictCount: Int
    /// From when it was submitted the last time until the writer began with it.
    public let waiting: Duration
    /// The time of the commit, which other saves may share, with the syncs of the disk.
    public let committing: Duration
    /// The part of it that writing pages and syncing the disk took. With `PersistentStoreDurability.disposable` nothing
    /// is synced.
    public let syncing: Duration
    /// The name of its context.
    public let contextName: String?
    /// The code of the error that it threw; nil if it did not.
    public let error: StrataError.Code?
}

/// A measurement of one fetch.
public struct FetchMeasurement: Sendable {
    /// The kinds of fetches.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Objects or their ids.
        case objects
        /// The number of objects.
        case count
        /// Rows of values.
        case rows
    }

    /// The kind of the fetch.
    public let kind: Kind
    /// The name of the entity.
    public let entityName: String
    /// When it was called.
    public let start: ContinuousClock.Instant
    /// The time that it took.
    public let duration: Duration
    /// The source of the objects: `scan`, `index`, `links`, `objects` (ids that the predicate names), `union`,
    /// `intersection` or `nothing`; nil if it threw before it had a plan, and for rows.
    public let planSource: String?
    /// The number of rows that it read.
    public let readRowCount: Int
    /// The number of objects or rows that it returned, or the number that was counted.
    public let resultCount: Int
    /// The code of the error that it threw; nil if it did not.
    public let error: StrataError.Code?
}

extension ManagedObjectContext {
    /// Runs a fetch, and reports it to the container's observer, if there is one.
    @inline(__always)
    func observed<R>(
        _ kind: FetchMeasurement.Kind, _ entityName: String, count: (R) -> Int, _ body: (QueryMonitor?) throws -> R
    ) throws -> R {
        guard binding.isObserved, let observer = binding.observer else { return try body(nil) }
        let (start, monitor) = (ContinuousClock.now, QueryMonitor())
        let result = Result { try body(monitor) }
        var (found, code) = (0, StrataError.Code?.none)
        switch result {
        case .success(let value): found = count(value)
        case .failure(let error): code = Self.typed(error).code
        }
        observer.fetchEnded(
            FetchMeasurement(
                kind: kind, entityName: entityName, start: start, duration: .now - start,
                planSource: monitor.planSource, readRowCount: monitor.examinedRowCount, resultCount: found, error: code)
        )
        return try result.get()
    }

    /// The present, if the container has an observer.
    @inline(__always)
    var startOfTimedWork: ContinuousClock.Instant? { binding.isObserved ? .now : nil }

    /// Tells the container's observer of faults that were read together.
    @inline(never)
    func tellOfFaults(_ count: Int, since start: ContinuousClock.Instant) {
        binding.observer?.faultsEnded(count: count, start: start, duration: .now - start)
    }
}

/// The numbers that a save collects for its measurement.
struct SaveTally {
    var eventCount = 0
    var retryCount = 0
    var conflictCount = 0
    var waiting = Duration.zero
    var committing = Duration.zero
    var syncing = Duration.zero

    mutating func add(_ receipt: SaveReceipt) {
        eventCount = Int(receipt.eventNumber.rawValue - receipt.previousHead.rawValue)
        (waiting, committing, syncing) = (receipt.waiting, receipt.committing, receipt.syncing)
    }
}
