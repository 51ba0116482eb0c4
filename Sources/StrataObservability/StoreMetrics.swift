public import Metrics
public import StrataGraph
import StrataModel

/// Records what a container does as metrics, by swift-metrics.
///
/// It is the `observer` of a container's `PersistentStoreOptions`.
///
/// Names, units and dimensions follow OpenTelemetry's conventions for database clients (semantic conventions 1.29) where
/// they have one:
///
/// | metric | kind | dimensions |
/// |---|---|---|
/// | `db.client.operation.duration` | timer | `db.operation.name`, `db.collection.name`, `error.type` |
/// | `db.client.response.returned_rows` | recorder | `db.operation.name`, `db.collection.name` |
/// | `strata.fetch.rows_read` | recorder | `db.collection.name`, `strata.plan` |
/// | `strata.faults` | counter | |
/// | `strata.save.events`, `strata.save.retries`, `strata.save.conflicts` | counters | |
/// | `strata.save.waiting.duration`, `strata.commit.duration`, `strata.sync.duration` | timers | |
///
/// All have the dimensions `db.system.name`, which is `strata`, and `db.namespace`, the name of the store. Operations are
/// `save`, `fetch`, `count`, `rows` and `fault`.
public final class StoreMetrics: ContainerObserver {
    private let factory: any MetricsFactory
    private let common: [(String, String)]
    private let events: Counter
    private let retries: Counter
    private let conflicts: Counter
    private let faults: Counter
    private let waiting: Metrics.Timer
    private let committing: Metrics.Timer
    private let syncing: Metrics.Timer

    /// Makes an observer for one store.
    ///
    /// - Parameters:
    ///   - name: the name of the store, for the dimension `db.namespace`.
    ///   - factory: nil is the factory of the process.
    public init(store name: String, factory: (any MetricsFactory)? = nil) {
        let factory = factory ?? MetricsSystem.factory
        self.factory = factory
        common = Self.dimensions(of: name)
        events = Counter(label: "strata.save.events", dimensions: common, factory: factory)
        retries = Counter(label: "strata.save.retries", dimensions: common, factory: factory)
        conflicts = Counter(label: "strata.save.conflicts", dimensions: common, factory: factory)
        faults = Counter(label: "strata.faults", dimensions: common, factory: factory)
        waiting = Metrics.Timer(label: "strata.save.waiting.duration", dimensions: common, factory: factory)
        committing = Metrics.Timer(label: "strata.commit.duration", dimensions: common, factory: factory)
        syncing = Metrics.Timer(label: "strata.sync.duration", dimensions: common, factory: factory)
    }

    static func dimensions(of store: String) -> [(String, String)] {
        [("db.system.name", "strata"), ("db.namespace", store)]
    }

    /// Records a save.
    public func saveEnded(_ save: SaveMeasurement) {
        record("save", nil, save.duration, save.error)
        events.increment(by: save.eventCount)
        retries.increment(by: save.retryCount)
        conflicts.increment(by: save.conflictCount)
        guard save.eventCount > 0 else { return }
        waiting.recordNanoseconds(save.waiting.nanosecondCount)
        committing.recordNanoseconds(save.committing.nanosecondCount)
        syncing.recordNanoseconds(save.syncing.nanosecondCount)
    }

    /// Records a fetch.
    public func fetchEnded(_ fetch: FetchMeasurement) {
        let operation = fetch.operation
        record(operation, fetch.entityName, fetch.duration, fetch.error)
        guard fetch.error == nil else { return }
        let dimensions = common + [("db.operation.name", operation), ("db.collection.name", fetch.entityName)]
        Recorder(label: "db.client.response.returned_rows", dimensions: dimensions, aggregate: true, factory: factory)
            .record(fetch.resultCount)
        let read = common + [("db.collection.name", fetch.entityName), ("strata.plan", fetch.planSource ?? "rows")]
        Recorder(label: "strata.fetch.rows_read", dimensions: read, aggregate: true, factory: factory)
            .record(fetch.readRowCount)
    }

    /// Records a read of faults.
    public func faultsEnded(count: Int, start: ContinuousClock.Instant, duration: Duration) {
        faults.increment(by: count)
        record("fault", nil, duration, nil)
    }

    private func record(_ operation: String, _ entity: String?, _ duration: Duration, _ error: StrataError.Code?) {
        var dimensions = common + [("db.operation.name", operation)]
        if let entity { dimensions.append(("db.collection.name", entity)) }
        if let error { dimensions.append(("error.type", "\(error)")) }
        Metrics.Timer(label: "db.client.operation.duration", dimensions: dimensions, factory: factory)
            .recordNanoseconds(duration.nanosecondCount)
    }
}

extension FetchMeasurement {
    /// The name in metrics and traces.
    var operation: String {
        switch kind {
        case .objects: "fetch"
        case .count: "count"
        case .rows: "rows"
        }
    }
}

extension Duration {
    /// At most what an Int64 holds, about 292 years.
    var nanosecondCount: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ attoseconds / 1_000_000_000
    }
}
