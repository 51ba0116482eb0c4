import Foundation
import StrataGraph
import StrataModel

/// Reads of the past: a context that stayed behind, the history of an object, and the difference of two moments.
///
/// The commits that make the history are not measured here, and not synced.
enum History: Workload {
    static let lines = [LineName.behindFirst, .behind, .history, .difference]
    static let momentOfFiles: String? = "after the commits of the history"

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard lines.contains(where: bench.isWanted) else { return }
        try stores.strata.reopen(.disposable)
        let (container, ids) = (stores.strata.container, stores.strata.movieIDs)
        let start = try container.head()
        let lag = try LaggingContext.measure(container, ids, bench.random(seed: 5))
        bench.add(.behindFirst, operations: 1, rounds: 1, [.strata], [.strata: [lag.first]])
        bench.add(
            .behind, operations: 1, rounds: lag.after.count, [.strata], [.strata: lag.after],
            note: "\(Quantity.ratio(Spread(lag.after).median / Spread(lag.present).median)) x the same now")
        try bench.compare(
            .difference, operations: LaggingContext.changeCount,
            [
                Contender(peer: .strata) { _ in
                    try container.changes(from: .event(start), to: .now).count
                }
            ])
        try history(container, ids[0], bench)
        stores.strata.close()
    }

    private static func history(_ container: PersistentContainer, _ id: ObjectID, _ bench: Bench) throws {
        let context = container.newBackgroundContext()
        let movie = try context.existingObject(with: id, as: Movie.self)
        let already = try container.history(of: id).count
        for number in 0..<1_000 {
            movie.votes = Int32(number)
            try context.save()
        }
        let events = already + 1_000
        try bench.compare(
            .history, operations: events,
            [
                Contender(peer: .strata) { _ in
                    let found = try container.history(of: id).count
                    guard found == events else { throw BenchError("The object has \(found) changes, not \(events).") }
                    return found
                }
            ])
    }
}

/// A context that stays at its snapshot while others save 10,000 transactions of ten changes each.
///
/// They change as many movies in stores of every size, spread over all of the store, so that only the stores differ.
enum LaggingContext {
    static let commits = 10_000
    private static let changedMovies = 10_000
    static var changeCount: Int { commits * 10 }

    struct Times {
        /// Nanoseconds for the first fetch, for those after it, and for the same by a new context.
        let first: Double
        let after, present: [Double]
        let found: Int
    }

    static func measure(
        _ container: PersistentContainer, _ ids: [ObjectID], _ random: Random = Random(seed: 5)
    ) throws -> Times {
        let old = container.newBackgroundContext()
        var request = try FetchRequest<Movie>(format: "rating >= 2 AND rating < %@", 2 + 500 / Double(ids.count))
        request.sortDescriptors = [SortDescription("rating")]
        let before = try old.fetchObjectIDs(request)
        let changed = min(changedMovies, ids.count)
        var random = random
        let writer = container.newBackgroundContext()
        for _ in 0..<commits {
            for _ in 0..<10 {
                let id = ids[Int.random(in: 0..<changed, using: &random) * ids.count / changed]
                try writer.existingObject(with: id, as: Movie.self).rating = Double.random(in: 0...5, using: &random)
            }
            try writer.save()
            writer.reset()
        }
        var found: [ObjectID] = []
        let first = try nanoseconds { found = try old.fetchObjectIDs(request) }
        guard found == before else { throw BenchError("The past has changed.") }
        let after = try (0..<21).map { _ in try nanoseconds { _ = try old.fetch(request) } }
        let fresh = container.newBackgroundContext()
        _ = try fresh.fetch(request)
        let present = try (0..<21).map { _ in try nanoseconds { _ = try fresh.fetch(request) } }
        return Times(first: first, after: after, present: present, found: before.count)
    }
}
