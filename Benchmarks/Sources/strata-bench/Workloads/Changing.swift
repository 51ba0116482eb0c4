import Foundation

/// How many movies a long save changes.
enum LongSave {
    static func count(_ movies: Movies) -> Int { min(movies.count, 100_000) }
}

/// Gives up to 100,000 movies another rating, which is indexed, in one durable commit.
enum Updates: Workload {
    static let lines = [LineName.update]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard bench.isWanted(.update) else { return }
        let count = LongSave.count(stores.movies)
        // Large ones are long enough without a round before, and few.
        let isLong = count >= 50_000
        let rounds = min(isLong ? 2 : 3, bench.rounds)
        var changes: [Int: [(movie: Int, rating: Double)]] = [:]
        var random = Random(seed: 6)
        for round in 0...rounds {
            let first = Int.random(in: 0...(stores.movies.count - count), using: &random)
            changes[round] = (first..<first + count).map { ($0, Double.random(in: 0...5, using: &random)) }
        }
        let contenders = stores.contenders { store, round in
            try store.update(changes[round] ?? [])
            return count
        }
        try bench.compare(
            .update, operations: count, rounds: rounds, warmsUp: !isLong, contenders,
            note: { _ in "\(Quantity.count(count)) movies" })
        try stores.compare("after updates")
    }
}

/// Deletes an owner of many movies, who go too, in one durable commit.
enum Cascades: Workload {
    static let lines = [LineName.cascade]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard bench.isWanted(.cascade) else { return }
        let count = LongSave.count(stores.movies)
        let isLong = count >= 50_000
        let rounds = min(isLong ? 2 : 3, bench.rounds)
        var collections: [Int: (owner: Int, rows: [MovieRow])] = [:]
        for round in (isLong ? 1 : 0)...rounds {
            let owner = try stores.newOwner()
            let rows = stores.newMovies(count, owner: owner)
            for first in stride(from: 0, to: count, by: 10_000) {
                for store in stores.all { try store.insert(Array(rows[first..<min(count, first + 10_000)])) }
            }
            collections[round] = (owner, rows)
        }
        let contenders = stores.contenders { store, round in
            guard let collection = collections[round] else { return 0 }
            try store.deleteOwner(collection.owner, movies: collection.rows)
            return count
        }
        try bench.compare(
            .cascade, operations: count + 1, rounds: rounds, warmsUp: !isLong, contenders,
            note: { _ in "\(Quantity.count(count)) movies" })
        try stores.compare("after cascades")
    }
}
