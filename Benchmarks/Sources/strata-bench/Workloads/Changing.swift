import Foundation

/// How many movies a long save changes.
enum LongSave {
    static func count(_ movies: Movies) -> Int { min(movies.count, 100_000) }
}

/// Gives up to 100,000 movies another rating, which is indexed, in one durable commit.
enum Updates: Workload {
    static let lines = [LineName.update]
    static let momentOfFiles: String? = "after updates"

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard bench.isWanted(.update) else { return }
        let count = LongSave.count(stores.movies)
        let rounds = min(5, bench.rounds)
        var changes: [Int: [(movie: Int, rating: Double)]] = [:]
        var random = bench.random(seed: 6)
        for round in 0...rounds {
            let first = Int.random(in: 0...(stores.movies.count - count), using: &random)
            changes[round] = (first..<first + count).map { ($0, Double.random(in: 0...5, using: &random)) }
        }
        let contenders = stores.contenders { store, round in
            try store.update(changes[round] ?? [])
            return count
        }
        try bench.compare(
            .update, operations: count, rounds: rounds, contenders,
            note: { _ in "\(Quantity.count(count)) movies" })
        try stores.compare("after updates")
    }
}

/// Deletes owners of up to 20,000 movies, with their movies, up to 100,000 in all: each owner in one durable commit.
enum Cascades: Workload {
    static let lines = [LineName.cascade]
    static let momentOfFiles: String? = "after deletes"

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard bench.isWanted(.cascade) else { return }
        let count = LongSave.count(stores.movies)
        // Rounds of large stores are long enough without a warm-up.
        let isLong = count >= 50_000
        let rounds = min(3, bench.rounds)
        let sizes = stride(from: 0, to: count, by: largest).map { min(largest, count - $0) }
        var collections: [Int: [(owner: Int, rows: [MovieRow])]] = [:]
        for round in (isLong ? 1 : 0)...rounds {
            collections[round] = try sizes.map { try collection(of: $0, stores) }
        }
        let contenders = stores.contenders { store, round in
            for (owner, rows) in collections[round] ?? [] { try store.deleteOwner(owner, movies: rows) }
            return count
        }
        try bench.compare(
            .cascade, operations: count + sizes.count, rounds: rounds, warmsUp: !isLong, contenders,
            note: { _ in "\(Quantity.count(count)) movies of \(Quantity.count(sizes.count)) owners" })
        for (owner, rows) in collections.values.joined() { stores.noteDeleted(owner, rows) }
        try stores.compare("after cascades")
    }

    /// Movies of one owner: as many as one save may delete in a store of a million.
    private static let largest = 20_000

    private static func collection(of count: Int, _ stores: MovieStores) throws -> (owner: Int, rows: [MovieRow]) {
        let owner = try stores.newOwner()
        let rows = stores.newMovies(count, owner: owner)
        for first in stride(from: 0, to: count, by: 10_000) {
            for store in stores.all { try store.insert(Array(rows[first..<min(count, first + 10_000)])) }
        }
        return (owner, rows)
    }
}
