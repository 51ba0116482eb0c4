import Foundation
import StrataGraph

/// Fills the stores, 10,000 movies a commit; peers take turns with each commit. A batch request has the movies of up to
/// five commits, and its turn comes after the fifth.
enum BulkInsert: Workload {
    static let lines = [LineName.insertObjects, .insertBatch]
    static let momentOfFiles: String? = "after inserting"
    static let batch = 10_000
    private static let commitsInRequest = 5

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        var times = Times()
        let isMeasured = lines.contains(where: bench.isWanted)
        // Small stores are made several times; the first time warms up.
        let repeats = isMeasured ? min(5, 60_000 / bench.size) : 0
        for number in 0..<repeats {
            let folder = stores.directory.appending(path: "trial-\(number)", directoryHint: .isDirectory)
            let trial = try MovieStores(stores.movies, stores.peers, in: folder)
            let taken = try fill(trial, withBatch: true)
            if number > 0 { times.add(taken) }
            try trial.remove()
        }
        times.add(try fill(stores, withBatch: isMeasured))
        try stores.sqlite?.checkpoint()
        guard isMeasured else { return }
        let peers = stores.all.map(\.peer)
        let count = times.objects[.strata]?.count ?? 0
        bench.add(.insertObjects, operations: batch, rounds: count, peers, times.objects, isWhole: true)
        var beside = times.objects
        beside[.strata] = times.batch
        bench.add(.insertBatch, operations: batch, rounds: count, peers, beside, isWhole: true)
    }

    /// Nanoseconds for a movie, in each commit.
    private struct Times {
        var objects: [Peer: [Double]] = [:]
        var batch: [Double] = []

        mutating func add(_ other: Times) {
            objects.merge(other.objects) { $0 + $1 }
            batch += other.batch
        }
    }

    private static func fill(_ stores: MovieStores, withBatch: Bool) throws -> Times {
        var times = Times()
        let folder = stores.directory.appending(path: "batch.strata", directoryHint: .isDirectory)
        let batched = withBatch ? try StrataMovies(at: folder, insertsByBatch: true) : nil
        let all = stores.all + [batched].compactMap { $0 }
        for first in stride(from: 0, to: stores.movies.owners, by: batch) {
            for store in all { try store.insertOwners(first..<min(first + batch, stores.movies.owners)) }
        }
        var waiting: [MovieRow] = []
        for (turn, first) in stride(from: 0, to: stores.movies.count, by: batch).enumerated() {
            let rows = stores.movies.rows(first..<min(first + batch, stores.movies.count))
            waiting += rows
            for index in all.indices {
                let store = all[(index + turn) % all.count]
                guard store === batched else {
                    let time = try nanoseconds { try store.insert(rows) } / Double(rows.count)
                    times.objects[store.peer, default: []] += [time]
                    continue
                }
                let commits = turn % commitsInRequest + 1
                guard commits == commitsInRequest || first + batch >= stores.movies.count else { continue }
                let time = try nanoseconds { try store.insert(waiting) } / Double(waiting.count)
                times.batch += Array(repeating: time, count: commits)
                waiting = []
            }
        }
        try stores.compare("after inserting", with: [batched].compactMap { $0 })
        if let batched {
            batched.close()
            try FileManager.default.removeItem(at: folder)
        }
        return times
    }
}
