import Foundation
import StrataGraph
import StrataModel

extension Workloads {
    /// An owner of many movies is deleted, and they with it; three times each peer, in turn.
    func cascade(_ container: PersistentContainer, _ bare: BareLMDB) throws {
        // In a store of a million, 100,000 that lie anywhere touch more pages than one save may (`saveTooLarge`).
        let count = min(size, 50_000)
        var random = Random(seed: 4)
        var times: (strata: [Double], bare: [Double]) = ([], [])
        for round in 0..<3 {
            let first = size + round * count
            let rows = (first..<first + count).map { MovieRow($0, owners: 1, &random) }
            try bare.insertCollection(ofOwner: owners + round, rows, first: first)
            let owner = try insertCollection(rows, container)
            times.bare.append(
                try nanoseconds { try bare.deleteCollection(ofOwner: owners + round, rows, first: first) })
            let context = container.newBackgroundContext()
            times.strata.append(
                try nanoseconds {
                    context.delete(try context.existingObject(with: owner))
                    try context.save()
                })
        }
        let left = try container.newBackgroundContext().count(for: FetchRequest<Movie>())
        precondition(left == size, "The movies did not go with their owner.")
        let perObject = times.strata.sorted()[1] / Double(count + 1)
        let perBare = times.bare.sorted()[1] / Double(count + 1)
        add(
            "delete with cascade", perObject, bare: perBare, bar: "3.0 x LMDB", isReached: perObject <= 3 * perBare,
            note: "an owner with \(count) movies, one save")
    }

    private func insertCollection(_ rows: [MovieRow], _ container: PersistentContainer) throws -> ObjectID {
        let context = container.newBackgroundContext()
        let owner = Owner(context: context)
        owner.name = "Collector"
        for row in rows {
            let movie = Movie(context: context)
            movie.title = row.title
            movie.year = row.year
            movie.rating = row.rating
            movie.owner = owner
        }
        try context.save()
        return owner.objectID
    }
}
