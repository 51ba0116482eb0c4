import Foundation
import StrataGraph
import StrataModel

// Reads of a store with a shared log, beside the same reads of one with its own.

extension SharedWorkload {
    private static let movies = 50_000
    private static let nodes = 1_000

    /// A store, and the ids of what was put there.
    private struct Filled {
        let container: PersistentContainer
        let movies: [ObjectID]
        let nodes: [ObjectID]
    }

    private func filled(_ name: String, log: String?) throws -> Filled {
        let container = try store(name, log: log)
        var movies: [ObjectID] = []
        for first in stride(from: 0, to: Self.movies, by: 10_000) {
            let context = container.newBackgroundContext()
            for number in first..<first + 10_000 {
                let row = MovieRow(number, owners: 1)
                let movie = Movie(context: context)
                movie.title = row.title
                movie.year = row.year
                movie.rating = row.rating
                movies.append(movie.objectID)
            }
            try context.save()
        }
        let context = container.newBackgroundContext()
        let nodes = (0..<Self.nodes).map { number in
            let node = Node(context: context)
            node.number = Int32(number)
            return node
        }
        var random = Random(seed: 8)
        let order = nodes.shuffled(using: &random)
        for (index, node) in order.enumerated() { node.next = order[(index + 1) % order.count] }
        try context.save()
        return Filled(container: container, movies: movies, nodes: nodes.map(\.objectID))
    }

    func reading() throws -> [Result] {
        let stores = [try filled("reading-shared", log: newLog()), try filled("reading-own", log: nil)]
        defer { for store in stores { store.container.close() } }
        let ratios = try [("fault", fault), ("fetch of 100", fetch), ("hop", hop)].map { name, body in
            (name, try ratio(stores, body))
        }
        return ratios.map { name, ratio in
            Result(
                measure: "a \(name), by the same with a log of its own", value: ratio, unit: "x", reach: 1.02, aim: 1)
        }
    }

    /// The fastest round of the first store by that of the second, which take turns: what others do on the machine
    /// lengthens rounds and shortens none.
    private func ratio(_ stores: [Filled], _ body: (Filled, UInt64) throws -> Int) throws -> Double {
        var times: [[Double]] = [[], []]
        for round in 0...40 {
            var answers: [Int] = []
            for turn in 0..<2 {
                let index = (turn + round) % 2
                let time = try nanoseconds { answers.append(try body(stores[index], UInt64(round))) }
                if round > 0 { times[index].append(time) }
            }
            guard answers[0] == answers[1] else { throw BenchError("The stores give different answers.") }
        }
        return (times[0].min() ?? 0) / (times[1].min() ?? 1)
    }

    private func fault(_ store: Filled, seed: UInt64) throws -> Int {
        let context = store.container.newBackgroundContext()
        var random = Random(seed: seed)
        var sum = 0
        for _ in 0..<20_000 {
            let id = store.movies[Int.random(in: 0..<store.movies.count, using: &random)]
            sum &+= Int(try context.existingObject(with: id, as: Movie.self).year)
        }
        return sum
    }

    private func fetch(_ store: Filled, seed: UInt64) throws -> Int {
        let context = store.container.newBackgroundContext()
        var random = Random(seed: seed)
        var sum = 0
        for _ in 0..<100 {
            var request = try FetchRequest<Movie>(
                where: .greaterThanOrEqual("rating", .double(.random(in: 0...4.9, using: &random))),
                sortedBy: [SortDescription("rating")], limit: 100)
            request.returnsObjectsAsFaults = false
            for movie in try context.fetch(request) { sum &+= Int(movie.year) }
        }
        return sum
    }

    private func hop(_ store: Filled, seed: UInt64) throws -> Int {
        let context = store.container.newBackgroundContext()
        let nodes = try store.nodes.map { try context.existingObject(with: $0, as: Node.self) }
        var (node, sum) = (nodes[Int(seed) % nodes.count], 0)
        for _ in 0..<200_000 {
            sum &+= Int(node.number)
            guard let following = node.next else { throw BenchError("The chain has an end.") }
            node = following
        }
        return sum
    }
}
