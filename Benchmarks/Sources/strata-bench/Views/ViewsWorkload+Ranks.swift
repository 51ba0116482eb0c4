import Foundation
import StrataGraph

extension ViewsWorkload {
    /// The rank of one of many groups, the rows around it, and what keeping ranks costs a save.
    func ranking() throws -> [Result] {
        let ranked = try StrataSales(
            at: url("ranked.strata"), views: [StrataSales.shops(isOrdered: true, isRanked: true)])
        let ordered = try StrataSales(at: url("unranked.strata"), views: [StrataSales.shops(isOrdered: true)])
        let sqlite = try SQLiteSales(path: path("ranked.sqlite"), keepsShops: true, isOrdered: true)
        let rows = SaleRow.rows(2 * shops, shops: shops, seed: 3)
        var saves: [[Double]] = []
        for first in stride(from: 0, to: rows.count, by: Self.batch) {
            let part = rows[first..<min(rows.count, first + Self.batch)]
            saves.append([
                try nanoseconds { try ranked.insert(part) }, try nanoseconds { try ordered.insert(part) },
                try nanoseconds { try sqlite.insert(part) },
            ])
        }
        func ones(_ count: Int, _ body: (Int) throws -> Int) throws -> Double {
            try median(5) { round in
                var random = Random(seed: UInt64(round))
                let chosen = (0..<count).map { _ in Int.random(in: 0..<shops, using: &random) }
                var sum = 0
                let time = try nanoseconds { for shop in chosen { sum &+= try body(shop) } }
                return doNothing(sum, 0) == .min ? 0 : time / Double(count)
            }
        }
        for shop in stride(from: 0, to: shops, by: shops / 7) {
            try same([try ranked.rank(ofShop: shop)], [try sqlite.rank(ofShop: shop)], "the rank of shop \(shop)")
        }
        func middle(_ column: Int) -> Double {
            saves.map { $0[column] }.sorted()[saves.count / 2] / Double(Self.batch)
        }
        return note([
            Result(
                measure: "rank of one group of \(Quantity.count(shops))", strata: try ones(500, ranked.rank),
                sqlite: try ones(20, sqlite.rank)),
            Result(
                measure: "11 rows around one of \(Quantity.count(shops))",
                strata: try ones(200) { try ranked.amounts(aroundShop: $0, 5).count }),
            Result(
                measure: "insert with a ranked order of many groups, beside the same order without ranks",
                strata: middle(0), without: middle(1), sqlite: middle(2)),
        ])
    }

    /// A view that catches up behind a writer, who saves a thousand sales twenty times a second.
    func following() throws -> [Result] {
        var view = StrataSales.shops(isOrdered: true)
        view.upkeep = .catchingUp
        let followed = try StrataSales(at: url("followed.strata"), views: [view])
        let plain = try StrataSales(at: url("alone.strata"), views: [])
        let seconds = 8
        let rows = SaleRow.rows(Self.batch * 20 * seconds, shops: 1_000, seed: 9)
        var (times, lags): ([[Double]], [Double]) = ([], [])
        let start = ContinuousClock.now
        for round in 0..<(20 * seconds) {
            let due = start + .milliseconds(50 * round)
            if due > .now { Thread.sleep(forTimeInterval: (due - .now) / .seconds(1)) }
            if let status = try followed.lag() {
                lags.append(status.lag / .nanoseconds(1))
            }
            let part = rows[round * Self.batch..<(round + 1) * Self.batch]
            times.append([try nanoseconds { try followed.insert(part) }, try nanoseconds { try plain.insert(part) }])
        }
        let end = ContinuousClock.now
        while try followed.lag()?.lagInEvents != 0 { Thread.sleep(forTimeInterval: 0.001) }
        let rest = (ContinuousClock.now - end) / .nanoseconds(1)
        try same(try followed.all(), try followed.computed(), "sums of a view that catches up")
        func middle(_ column: Int) -> Double {
            times.map { $0[column] }.sorted()[times.count / 2] / Double(Self.batch)
        }
        lags.sort()
        return note([
            Result(
                measure: "insert with a view that catches up, beside none", strata: middle(0), without: middle(1)),
            Result(measure: "lag behind 20,000 events a second, median", strata: lags[lags.count / 2]),
            Result(measure: "the largest", strata: lags.last ?? 0),
            Result(measure: "until it is there after the last save", strata: rest),
        ])
    }
}
