import Foundation

/// Random numbers, different in each round, so that the round before leaves none of their objects in the caches.
struct Picks {
    let count: Int
    private let rounds: [[Int]]

    init(_ count: Int, of total: Int, _ bench: Bench) {
        var random = bench.random(seed: UInt64(count))
        self.count = count
        rounds = (0...bench.rounds).map { _ in (0..<count).map { _ in Int.random(in: 0..<total, using: &random) } }
    }

    subscript(round: Int) -> [Int] { rounds[round] }
}

/// Objects by their ids, in contexts without objects.
enum RandomFaults: Workload {
    static let lines = [LineName.fault]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        let picks = Picks(5_000, of: stores.movies.count, bench)
        try bench.compare(
            .fault, operations: picks.count,
            stores.contenders { store, round in try store.sumOfYears(ofMovies: picks[round]) })
    }
}

/// The movies of owners, none of which is in memory.
enum ColdMembers: Workload {
    static let lines = [LineName.membersCold]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        let picks = Picks(1_000, of: stores.movies.owners, bench)
        try bench.compare(
            .membersCold, operations: picks.count,
            stores.contenders { store, round in try store.sumOfYears(ofOwners: picks[round]) })
    }
}

/// A hundred movies in the order of an index, with their values.
enum IndexedRanges: Workload {
    static let lines = [LineName.range]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        let picks = Picks(100, of: 49_000, bench)
        try bench.compare(
            .range, operations: picks.count,
            stores.contenders { store, round in
                try store.sumOfYears(fromRatings: picks[round].map { Double($0) / 10_000 })
            })
    }
}

/// Counts by an attribute without an index, so that every row is read.
enum UnindexedCounts: Workload {
    static let lines = [LineName.count]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        let runs = max(1, 100_000 / stores.movies.count)
        let contenders = stores.contenders { store, round in
            var random = bench.random(seed: UInt64(round))
            return try (0..<runs).reduce(0) { sum, _ in
                try sum + store.count(votesAbove: Int32.random(in: 0..<1_000_000, using: &random))
            }
        }
        try bench.compare(.count, operations: runs * stores.movies.count, contenders)
    }
}
