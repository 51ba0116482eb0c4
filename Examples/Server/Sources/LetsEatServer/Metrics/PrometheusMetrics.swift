import CoreMetrics
import Synchronization

/// Keeps metrics in memory, for Prometheus to read as text.
///
/// It is small enough to read: counters, gauges, and histograms with fixed buckets. Names are as Prometheus wants them:
/// `db.client.operation.duration` becomes `db_client_operation_duration_seconds`.
public final class PrometheusMetrics: MetricsFactory {
    enum Kind: String {
        case counter, gauge, histogram
    }

    struct Family {
        let kind: Kind
        var series: [String: Series] = [:]
    }

    /// So many combinations of dimensions of one metric are kept; what clients make up cannot fill the memory.
    static let mostSeries = 1000

    private let families = Mutex<[String: Family]>([:])

    public init() {}

    private func series(
        _ name: String, _ kind: Kind, _ dimensions: [(String, String)], buckets: [Double] = []
    ) -> Series {
        let labels = PrometheusText.labels(dimensions)
        return families.withLock { families in
            if let known = families[name]?.series[labels] { return known }
            let made = Series(labels: labels, buckets: buckets)
            if families[name, default: Family(kind: kind)].series.count < Self.mostSeries {
                families[name, default: Family(kind: kind)].series[labels] = made
            }
            return made
        }
    }

    /// All metrics in the text format of Prometheus, version 0.0.4.
    func text() -> String {
        let families = families.withLock { $0 }
        return families.sorted { $0.key < $1.key }.map { name, family in
            let lines = family.series.sorted { $0.key < $1.key }.map { $0.value.text(name, family.kind) }
            return "# TYPE \(name) \(family.kind.rawValue)\n" + lines.joined()
        }.joined()
    }

    // MARK: What swift-metrics asks for

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(PrometheusText.name(label, "total"), .counter, dimensions)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(PrometheusText.name(label, "total"), .counter, dimensions)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(PrometheusText.name(label), .gauge, dimensions)
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate
            ? series(PrometheusText.name(label), .histogram, dimensions, buckets: Series.sizes)
            : series(PrometheusText.name(label), .gauge, dimensions)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(PrometheusText.name(label, "seconds"), .histogram, dimensions, buckets: Series.seconds)
    }

    // Series stay until the process ends, as Prometheus wants them to.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
}
