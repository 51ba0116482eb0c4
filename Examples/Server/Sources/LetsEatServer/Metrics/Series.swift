import CoreMetrics
import Synchronization

/// One metric under one combination of dimensions: a number, or a histogram if it has buckets.
final class Series: Sendable {
    static let seconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
    static let sizes = [1.0, 10, 100, 1000, 10_000, 100_000, 1_000_000]

    private let labels: String
    private let buckets: [Double]
    private let state: Mutex<State>

    private struct State {
        /// The number; of a histogram, the sum.
        var value = 0.0
        var count = 0
        /// How many values fell into each bucket, those of smaller buckets left out.
        var counts: [Int]
    }

    init(labels: String, buckets: [Double]) {
        self.labels = labels
        self.buckets = buckets
        state = Mutex(State(counts: Array(repeating: 0, count: buckets.count)))
    }

    private func add(_ amount: Double) { state.withLock { $0.value += amount } }

    private func observe(_ value: Double) {
        guard !buckets.isEmpty else { return set(value) }
        state.withLock { state in
            state.value += value
            state.count += 1
            if let bucket = buckets.firstIndex(where: { value <= $0 }) { state.counts[bucket] += 1 }
        }
    }

    private func text(_ name: String, _ extra: String, _ value: String) -> String {
        let all = [labels, extra].filter { !$0.isEmpty }.joined(separator: ",")
        return all.isEmpty ? "\(name) \(value)\n" : "\(name){\(all)} \(value)\n"
    }

    func text(_ name: String, _ kind: PrometheusMetrics.Kind) -> String {
        let state = state.withLock { $0 }
        guard kind == .histogram else { return text(name, "", PrometheusText.number(state.value)) }
        var (lines, sum) = ("", 0)
        for (bucket, count) in zip(buckets, state.counts) {
            sum += count
            lines += text("\(name)_bucket", "le=\"\(PrometheusText.number(bucket))\"", "\(sum)")
        }
        lines += text("\(name)_bucket", "le=\"+Inf\"", "\(state.count)")
        lines += text("\(name)_sum", "", PrometheusText.number(state.value))
        return lines + text("\(name)_count", "", "\(state.count)")
    }
}

extension Series: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }
    func record(_ value: Int64) { observe(Double(value)) }
    func record(_ value: Double) { observe(value) }
    func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1_000_000_000) }
    func reset() { set(0.0) }
}
