import Foundation

/// How long requests took that were answered.
struct Timings: Sendable {
    let duration: Duration
    var reads: [Duration] = []
    var writes: [Duration] = []
    /// Requests without an answer, or with one of "try again".
    var failures = 0

    init(duration: Duration) { self.duration = duration }

    mutating func add(_ other: Timings) {
        reads += other.reads
        writes += other.writes
        failures += other.failures
    }

    var table: String {
        let lines = [("reads", reads), ("writes", writes), ("all", reads + writes)].map { line($0.0, $0.1.sorted()) }
        return lines.joined(separator: "\n") + (failures > 0 ? "\n  \(failures) requests had no answer" : "")
    }

    private func line(_ name: String, _ times: [Duration]) -> String {
        let rate = Int((Double(times.count) / (duration / .seconds(1))).rounded())
        return "  " + name.padding(toLength: 7, withPad: " ", startingAt: 0)
            + " \(Self.right("\(times.count)", 8)) \(Self.right("\(rate)", 7))/s"
            + "  p50 \(Self.right(Self.quantile(0.5, times), 6)) ms  p99 \(Self.right(Self.quantile(0.99, times), 6)) ms"
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
    }

    private static func quantile(_ part: Double, _ sorted: [Duration]) -> String {
        guard !sorted.isEmpty else { return "-" }
        return sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)].inMilliseconds
    }
}
