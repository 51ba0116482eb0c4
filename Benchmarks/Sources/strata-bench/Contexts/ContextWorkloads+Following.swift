import Foundation
import StrataGraph
import StrataModel

// The cost of other contexts' saves for a context that merges automatically, and for live results.

extension ContextWorkloads {
    private static let touched = [1, 10, 100, 1000]

    /// The first fetch of a context that merges automatically, after a save that changed few of its objects.
    func following() throws {
        let container = try open("following")
        let ids = try fill(container, 100_000)
        var costs: [Int: [Double]] = [:]
        for held in [10_000, 100_000] {
            let reader = container.newBackgroundContext()
            reader.automaticallyMergesChangesFromParent = true
            let objects = try ids.prefix(held).map { try reader.existingObject(with: $0, as: Movie.self) }
            costs[held] = try Self.touched.map { touched in
                try time(
                    of: touched, ids, container, then: { for object in objects.prefix(touched) { _ = object.rating } }
                ) {
                    // Finds nothing, so that its time is that of the merge.
                    _ = try reader.fetchObjectIDs(FetchRequest<Movie>(format: "year == 0"))
                }
            }
            withExtendedLifetime(objects) {}
        }
        container.close()
        report("automatic merge of k objects", costs, ofWhat: "in memory")
    }

    /// Live results sorted by an attribute, after a save that changed it in few of them.
    func results() throws {
        var costs: [Int: [Double]] = [:]
        for count in [10_000, 100_000] {
            let container = try open("results-\(count)")
            let ids = try fill(container, count)
            let reader = container.newBackgroundContext()
            let controller = FetchedResultsController(
                fetchRequest: try FetchRequest<Movie>().sorted(by: \.rating), context: reader)
            var reported = 0
            controller.onChange = { reported += $0.moves.count + $0.updates.count }
            try controller.performFetch()
            costs[count] = try Self.touched.map { touched in
                try time(of: touched, ids, container, then: {}) { reader.refreshAllObjects() }
            }
            precondition(reported >= Self.touched.reduce(0, +), "The results did not report every change.")
            container.close()
        }
        report("live results after k changes", costs, ofWhat: "results")
    }

    /// The median time of `body` after saves that each gave so many movies another rating.
    private func time(
        of touched: Int, _ ids: [ObjectID], _ container: PersistentContainer, then after: () -> Void,
        _ body: () throws -> Void
    ) throws -> Double {
        var random = Random(seed: UInt64(touched))
        return try median(7) { _ in
            let writer = container.newBackgroundContext()
            for id in ids.prefix(touched) {
                try writer.existingObject(with: id, as: Movie.self).rating = Double.random(in: 0...5, using: &random)
            }
            try writer.save()
            let time = try nanoseconds(body)
            after()
            return time
        }
    }

    /// Reached if k changes cost at most three times as much among ten times as many objects, and about k times as much
    /// as one change.
    private func report(_ name: String, _ costs: [Int: [Double]], ofWhat: String) {
        guard let few = costs[10_000], let many = costs[100_000] else { return }
        for (count, times) in [(10_000, few), (100_000, many)] {
            let list = zip(Self.touched, times).map { "\($0): \(Quantity.time($1))" }.joined(separator: ", ")
            let isReached = zip(few, many).allSatisfy { $1 <= 3 * $0 } && times[3] / 1000 <= 3 * times[2] / 100
            report("\(name), \(count) \(ofWhat)", list, isReached)
        }
    }
}
