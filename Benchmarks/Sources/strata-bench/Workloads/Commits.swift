import Foundation

/// Durable commits of a movie each: of one writer, and of eight at once.
enum Commits: Workload {
    static let lines = [LineName.commit, .commitOfEight]
    private static let perRound = 16

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        // Eight are measured beside one even where only they are asked for: it is their ratio that counts.
        guard lines.contains(where: bench.isWanted) else { return }
        try measure(.commit, writers: 1, stores, bench)
        try measure(.commitOfEight, writers: 8, stores, bench)
        try stores.compare("after single commits")
    }

    private static func measure(_ name: LineName, writers: Int, _ stores: MovieStores, _ bench: Bench) throws {
        let count = perRound * writers
        var rows: [Int: [MovieRow]] = [:]
        for round in 0...bench.rounds { rows[round] = stores.newMovies(count) }
        let contenders = stores.contenders { store, round in
            let all = rows[round] ?? []
            let lists = (0..<writers).map { writer in Array(all[writer * perRound..<(writer + 1) * perRound]) }
            try store.insertFromThreads(lists)
            return all.count
        }
        try bench.compare(name, operations: count, contenders) { times in
            let rate = 1e9 / Spread(times[.strata] ?? [1]).median
            return "\(Quantity.count(Int(rate))) commits a second"
        }
    }
}
