public import StrataGraph
import StrataModel
public import Tracing

/// Records what a container does as spans, by swift-distributed-tracing, below the span of the task that does it.
///
/// Spans are named and have attributes as OpenTelemetry's conventions for database clients say: `save`, `fetch Film`.
/// Faults are too many for spans of their own: those that take at least as long as a threshold have one.
public struct StoreTraces: ContainerObserver {
    private let store: String
    private let tracer: (any Tracer)?
    private let slowFault: Duration

    /// Makes an observer for one store.
    ///
    /// - Parameters:
    ///   - name: the name of the store, for the attribute `db.namespace`.
    ///   - tracer: nil is the tracer of the process.
    ///   - slowFault: how long reading faults takes at least for a span.
    public init(store name: String, tracer: (any Tracer)? = nil, slowFault: Duration = .milliseconds(1)) {
        store = name
        self.tracer = tracer
        self.slowFault = slowFault
    }

    /// Records a save.
    public func saveEnded(_ save: SaveMeasurement) {
        span("save", "save", nil, save.duration, save.error) { attributes in
            attributes["strata.save.events"] = save.eventCount
            attributes["strata.save.retries"] = save.retryCount
            attributes["strata.save.conflicts"] = save.conflictCount
            attributes["strata.save.waiting.milliseconds"] = save.waiting / .milliseconds(1)
            attributes["strata.commit.milliseconds"] = save.committing / .milliseconds(1)
            attributes["strata.sync.milliseconds"] = save.syncing / .milliseconds(1)
            if let context = save.contextName { attributes["strata.context"] = context }
        }
    }

    /// Records a fetch.
    public func fetchEnded(_ fetch: FetchMeasurement) {
        let name = "\(fetch.operation) \(fetch.entityName)"
        span(name, fetch.operation, fetch.entityName, fetch.duration, fetch.error) { attributes in
            attributes["db.response.returned_rows"] = fetch.resultCount
            attributes["strata.fetch.rows_read"] = fetch.readRowCount
            if let source = fetch.planSource { attributes["strata.plan"] = source }
        }
    }

    /// Records a read of faults that took as long as the threshold.
    public func faultsEnded(count: Int, start: ContinuousClock.Instant, duration: Duration) {
        guard duration >= slowFault else { return }
        span("fault", "fault", nil, duration, nil) { $0["strata.faults"] = count }
    }

    private func span(
        _ name: String, _ operation: String, _ entity: String?, _ duration: Duration, _ error: StrataError.Code?,
        _ fill: (inout SpanAttributes) -> Void
    ) {
        let end = DefaultTracerClock().now
        let nanoseconds = UInt64(clamping: duration.nanosecondCount)
        let start = DefaultTracerClock.Timestamp(
            nanosecondsSinceEpoch: end.nanosecondsSinceEpoch - min(nanoseconds, end.nanosecondsSinceEpoch))
        func record(_ span: any Span) {
            span.updateAttributes { attributes in
                attributes["db.system.name"] = "strata"
                attributes["db.namespace"] = store
                attributes["db.operation.name"] = operation
                if let entity { attributes["db.collection.name"] = entity }
                if let error { attributes["error.type"] = "\(error)" }
                fill(&attributes)
            }
            if error != nil { span.setStatus(SpanStatus(code: .error)) }
            span.end(at: end)
        }
        if let tracer {
            record(
                tracer.startSpan(
                    name, context: .current ?? .topLevel, ofKind: .client, at: start, function: #function,
                    file: #fileID, line: #line))
        } else {
            record(startSpan(name, at: start, ofKind: .client))
        }
    }
}
