import ArgumentParser
import Foundation
import StrataModel

/// Times declared views beside the same store without one, and beside SQLite with triggers that keep the same table.
struct ViewsWorkload {
    struct Result: Codable {
        let measure: String
        /// Nanoseconds for an operation.
        let strata: Double
        /// The same without a view, or computed anew.
        var without: Double?
        var sqlite: Double?
    }

    let sales: Int
    let shops: Int
    let directory: URL
    var parts = Part.allCases
    static let batch = 1_000
    static let rounds = 9

    /// What is timed.
    enum Part: String, CaseIterable, ExpressibleByArgument { case saving, reading, building, ranking, following }

    func run() throws -> [Result] {
        try parts.flatMap { part in
            switch part {
            case .saving: try saving()
            case .reading: try reading()
            case .building: try building()
            case .ranking: try ranking()
            case .following: try following()
            }
        }
    }

    func url(_ name: String) -> URL { directory.appending(path: name) }
    func path(_ name: String) -> String { url(name).path(percentEncoded: false) }

    func note(_ results: [Result]) -> [Result] {
        for result in results {
            FileHandle.standardError.write(Data("\(result.measure): \(Quantity.time(result.strata))\n".utf8))
        }
        return results
    }

    /// Saves of a thousand sales of a thousand shops, in turns.
    private func saving() throws -> [Result] {
        let view = StrataSales.shops(isOrdered: false)
        let viewed = try StrataSales(at: url("viewed.strata"), views: [view])
        let ordered = try StrataSales(at: url("ordered.strata"), views: [StrataSales.shops(isOrdered: true)])
        let plain = try StrataSales(at: url("plain.strata"), views: [])
        let kept = try SQLiteSales(path: path("kept.sqlite"), keepsShops: true)
        let bare = try SQLiteSales(path: path("bare.sqlite"), keepsShops: false)
        let rows = SaleRow.rows(Self.batch * (Self.rounds + 1), shops: 1_000, seed: 7)
        var times: [[Double]] = []
        for round in 0...Self.rounds {
            let part = rows[round * Self.batch..<(round + 1) * Self.batch]
            times.append([
                try nanoseconds { try viewed.insert(part) }, try nanoseconds { try plain.insert(part) },
                try nanoseconds { try kept.insert(part) }, try nanoseconds { try bare.insert(part) },
                try nanoseconds { try ordered.insert(part) },
            ])
        }
        var raises: [[Double]] = []
        var random = Random(seed: 11)
        for _ in 0...Self.rounds {
            let numbers = (0..<Self.batch).map { _ in Int.random(in: 0..<rows.count, using: &random) }
            let chosen = Array(Set(numbers)).sorted()
            raises.append([
                try nanoseconds { try viewed.raise(chosen) }, try nanoseconds { try plain.raise(chosen) },
                try nanoseconds { try kept.raise(chosen) }, try nanoseconds { try bare.raise(chosen) },
                try nanoseconds { try ordered.raise(chosen) },
            ])
        }
        try same(try viewed.all(), try kept.computed(), "sums after saves")
        func middle(_ times: [[Double]], _ column: Int) -> Double {
            times.dropFirst().map { $0[column] }.sorted()[Self.rounds / 2] / Double(Self.batch)
        }
        return note([
            Result(
                measure: "insert with five aggregates", strata: middle(times, 0), without: middle(times, 1),
                sqlite: middle(times, 2)),
            Result(
                measure: "insert with five aggregates and an order", strata: middle(times, 4),
                without: middle(times, 1), sqlite: middle(times, 2)),
            Result(measure: "insert without a view", strata: middle(times, 1), sqlite: middle(times, 3)),
            Result(
                measure: "update with five aggregates", strata: middle(raises, 0), without: middle(raises, 1),
                sqlite: middle(raises, 2)),
            Result(
                measure: "update with five aggregates and an order", strata: middle(raises, 4),
                without: middle(raises, 1), sqlite: middle(raises, 2)),
            Result(measure: "update without a view", strata: middle(raises, 1), sqlite: middle(raises, 3)),
        ])
    }

    /// Single groups and the largest of many.
    private func reading() throws -> [Result] {
        let strata = try StrataSales(at: url("read.strata"), views: [StrataSales.shops(isOrdered: true)])
        let sqlite = try SQLiteSales(path: path("read.sqlite"), keepsShops: true, isOrdered: true)
        let rows = SaleRow.rows(2 * shops, shops: shops, seed: 3)
        for first in stride(from: 0, to: rows.count, by: 20_000) {
            try strata.insert(rows[first..<min(rows.count, first + 20_000)])
            try sqlite.insert(rows[first..<min(rows.count, first + 20_000)])
        }
        try same(try strata.top(20), try sqlite.top(20), "top 20")
        let count = 2_000
        func ones(_ amount: (Int) throws -> Int) throws -> Double {
            try median(Self.rounds) { round in
                var random = Random(seed: UInt64(round))
                let chosen = (0..<count).map { _ in Int.random(in: 0..<shops, using: &random) }
                var sum = 0
                let time = try nanoseconds { for shop in chosen { sum &+= try amount(shop) } }
                return doNothing(sum, 0) == .min ? 0 : time / Double(count)
            }
        }
        func tops(_ top: (Int) throws -> [Int]) throws -> Double {
            try median(Self.rounds) { _ in try nanoseconds { for _ in 0..<200 { _ = try top(20) } } / 200 }
        }
        let anew = try median(3) { _ in try nanoseconds { _ = try strata.all() } }
        return note([
            Result(
                measure: "one group of \(Quantity.count(shops))", strata: try ones(strata.amount),
                sqlite: try ones(sqlite.amount)),
            Result(
                measure: "top 20 by a sum of \(Quantity.count(shops))", strata: try tops(strata.top),
                sqlite: try tops(sqlite.top)),
            Result(measure: "all rows, per row", strata: anew / Double(shops)),
        ])
    }

    /// A view of sales that are there.
    private func building() throws -> [Result] {
        let plain = try StrataSales(at: url("build.strata"), views: [])
        let sqlite = try SQLiteSales(path: path("build.sqlite"), keepsShops: false)
        let rows = SaleRow.rows(sales, shops: 1_000, seed: 5)
        for first in stride(from: 0, to: rows.count, by: 20_000) {
            try plain.insert(rows[first..<min(rows.count, first + 20_000)])
            try sqlite.insert(rows[first..<min(rows.count, first + 20_000)])
        }
        var sums: [Int] = []
        let anew = try median(3) { _ in try nanoseconds { sums = try plain.computed() } }
        try same(sums, try sqlite.computed(), "computed sums")
        let anewSQLite = try median(3) { _ in try nanoseconds { _ = try sqlite.computed() } }
        plain.close()
        var viewed: StrataSales?
        let time = try nanoseconds {
            viewed = try StrataSales(at: url("build.strata"), views: [StrataSales.shops(isOrdered: true)])
            // A view of many objects is built beside the opened store.
            try viewed?.container.wait(forView: "Shops", timeout: .seconds(600))
        }
        try same(try viewed?.all() ?? [], sums, "sums of the view")
        return note([
            Result(
                measure: "build of a view, per object of \(Quantity.count(sales))", strata: time / Double(sales),
                without: anew / Double(sales), sqlite: anewSQLite / Double(sales))
        ])
    }

    func same(_ ours: [Int], _ theirs: [Int], _ what: String) throws {
        guard ours == theirs else { throw ValidationError("\(what): the peers differ.") }
    }
}

/// `strata-bench views [--sales 1000000] [--shops 100000]`
struct ViewsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views",
        abstract: "Times declared views beside no view and beside SQLite with triggers that keep the same table.")

    @Option(help: "How many sales a view is built of.") var sales = 1_000_000
    @Option(help: "How many groups are read from.") var shops = 100_000
    @Option(help: "Only this part: saving, reading, building, ranking or following.") var only: ViewsWorkload.Part?
    @OptionGroup var folder: WorkingFolder

    func validate() throws {
        guard sales >= 1_000, shops >= 100 else { throw ValidationError("There is too little to be measured.") }
    }

    func run() throws {
        try folder.run { directory in
            var workload = ViewsWorkload(sales: sales, shops: shops, directory: directory)
            if let only { workload.parts = [only] }
            return try workload.run()
        } print: { results in
            print(
                """
                | measure | Strata | without, or anew | SQLite | / without | / SQLite |
                |---|--:|--:|--:|--:|--:|
                """)
            for result in results {
                func time(_ value: Double?) -> String { value.map(Quantity.time) ?? "" }
                func ratio(_ value: Double?) -> String { value.map { Quantity.ratio(result.strata / $0) } ?? "" }
                print(
                    "| \(result.measure) | \(time(result.strata)) | \(time(result.without)) | \(time(result.sqlite)) "
                        + "| \(ratio(result.without)) | \(ratio(result.sqlite)) |")
            }
        }
    }
}
