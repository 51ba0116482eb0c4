import Foundation
import StrataGraph
import StrataModel

/// Reads of objects in memory: attributes, and the movies of owners.
enum HotReads: Workload {
    static let lines = [LineName.membersHot, .scalar, .text, .set]

    static func run(_ stores: MovieStores, _ bench: Bench) throws {
        guard lines.contains(where: bench.isWanted) else { return }
        let context = stores.strata.container.newBackgroundContext()
        try members(stores, context, bench)
        let movie = try context.existingObject(with: stores.strata.movieIDs[0], as: Movie.self)
        let reads = 5_000_000
        try compare(.scalar, reads, bench) {
            var sum = 0.0
            for _ in 0..<reads { sum += movie.rating }
            return sum > 0 ? 1 : 0
        }
        let owner = Owner(context: context)
        owner.name = "Twelve bytes"
        try compare(.text, reads, bench) {
            var length = 0
            for _ in 0..<reads { length &+= owner.name.utf8.count }
            return length
        }
        let fresh = Movie(context: context)
        try compare(.set, reads, bench) {
            for number in 0..<reads { fresh.year = Int32(truncatingIfNeeded: number) }
            return Int(fresh.year)
        }
    }

    private static func compare(_ name: LineName, _ count: Int, _ bench: Bench, _ run: @escaping () -> Int) throws {
        try bench.compare(name, operations: count, [Contender(peer: .strata) { _ in run() }])
    }

    /// A hundred owners and their movies stay in memory, since this keeps references to them.
    private static func members(_ stores: MovieStores, _ context: ManagedObjectContext, _ bench: Bench) throws {
        let owners = try stores.strata.ownerIDs.prefix(100).map { try context.existingObject(with: $0, as: Owner.self) }
        let held = owners.map { Array($0.movies) }
        let hops = held.reduce(0) { $0 + $1.count }
        let turns = max(1, 100_000 / hops)
        try compare(.membersHot, hops * turns, bench) {
            var sum = 0
            for _ in 0..<turns {
                for owner in owners { for movie in owner.movies { sum += Int(movie.year) } }
            }
            return sum
        }
        withExtendedLifetime(held) {}
    }
}
