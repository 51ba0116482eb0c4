import Foundation
import StrataGraph

/// Rebuilding a store's views from its log, and verifying the store.
enum WholeStore: Workload {
    static let lines = [LineName.rebuild, .verify]
    static let momentOfFiles: String? = "after rebuilding"

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        let container = stores.strata.container
        if bench.isWanted(.rebuild) {
            try measure(.rebuild, bench) {
                let report = try container.rebuildViews()
                guard report.isUnchanged else { throw BenchError("The views that were made again differ.") }
                return report.eventCount
            }
        }
        if bench.isWanted(.verify) {
            try measure(.verify, bench) {
                let report = try container.verify()
                guard report.isSound else { throw BenchError("The store is not sound: \(report.problems.first ?? "")") }
                return report.eventCount
            }
        }
    }

    private static func measure(_ name: LineName, _ bench: Bench, _ run: () throws -> Int) throws {
        var (events, times): (Int, [Double]) = (1, [])
        // Small stores have a round to warm up.
        let isSmall = bench.size < 300_000
        for _ in 0..<(isSmall ? 1 + min(4, bench.rounds) : min(3, bench.rounds)) {
            let time = try nanoseconds { events = try run() }
            times.append(time / Double(max(1, events)))
        }
        if isSmall { times.removeFirst() }
        let rate = 1e9 / Spread(times).median
        bench.add(
            name, operations: events, rounds: times.count, [.strata], [.strata: times],
            note: "\(Quantity.count(Int(rate))) events a second of \(Quantity.count(events))")
    }
}
