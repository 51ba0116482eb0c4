import Foundation

/// Durable commits of one movie each, by one writer and by eight at once. They take turns, since the cost of a commit
/// depends on where the file's free pages are: together after a bulk insert, apart a thousand commits later.
enum Commits: Workload {
    static let lines = [LineName.commit, .commitOfEight]
    static let momentOfFiles: String? = "after durable commits"
    private static let perRound = 64

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard lines.contains(where: bench.isWanted) else { return }
        try bench.compareInTurns([
            contest(.commit, writers: 1, stores, bench), contest(.commitOfEight, writers: 8, stores, bench),
        ])
        try stores.compare("after single commits")
    }

    private static func contest(
        _ name: LineName, writers: Int, _ stores: MovieStores, _ bench: Bench
    ) -> Contest {
        let count = perRound * writers
        var rows: [Int: [MovieRow]] = [:]
        for round in 0...bench.rounds { rows[round] = stores.newMovies(count) }
        let contenders = stores.contenders { store, round in
            let all = rows[round] ?? []
            let lists = (0..<writers).map { writer in Array(all[writer * perRound..<(writer + 1) * perRound]) }
            try store.insertFromThreads(lists)
            return all.count
        }
        return Contest(name: name, operations: count, contenders: contenders) { times in
            let rate = 1e9 / Spread(times[.strata] ?? [1]).median
            return "\(Quantity.count(Int(rate))) commits a second"
        }
    }
}
