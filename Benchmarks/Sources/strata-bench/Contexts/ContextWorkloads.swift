import Foundation
import StrataGraph
import StrataModel

/// Each workload makes a store of its own and prints a line.
struct ContextWorkloads {
    let directory: URL

    func open(
        _ name: String, durability: PersistentStoreDurability = .relaxed
    ) throws -> PersistentContainer {
        let url = directory.appending(path: "\(name).strata", directoryHint: .isDirectory)
        let container = try PersistentContainer(
            name: "bench", entities: [Movie.self, Owner.self], at: .url(url), options: .init(durability: durability))
        try container.loadPersistentStores()
        return container
    }

    /// - Returns: the ids of the movies.
    func fill(_ container: PersistentContainer, _ count: Int) throws -> [ObjectID] {
        var ids: [ObjectID] = []
        for first in stride(from: 0, to: count, by: 10_000) {
            let context = container.newBackgroundContext()
            for index in first..<min(count, first + 10_000) {
                let row = MovieRow(index, owners: 1)
                let movie = Movie(context: context)
                movie.title = row.title
                movie.year = row.year
                movie.rating = row.rating
                ids.append(movie.objectID)
            }
            try context.save()
        }
        return ids
    }

    func report(_ name: String, _ text: String, _ isReached: Bool) {
        print(
            name.padding(toLength: 44, withPad: " ", startingAt: 0) + text + "  " + (isReached ? "reached" : "MISSED"))
    }

    // MARK: An idle context

    /// The size of a store's file after many commits, with an idle context and without.
    func growth(commits: Int) throws {
        var sizes: [Int] = []
        for hasIdle in [false, true] {
            let container = try open("growth-\(hasIdle)", durability: .disposable)
            let ids = try fill(container, 1000)
            let idle = container.newBackgroundContext()
            var held: [Movie] = []
            if hasIdle { held = try idle.fetch(FetchRequest<Movie>(format: "rating >= 0")) }
            var sum = held.reduce(0) { $0 + $1.rating }
            let writer = container.newBackgroundContext()
            for number in 0..<commits {
                let movie = try writer.existingObject(with: ids[number % ids.count], as: Movie.self)
                movie.rating = Double((number + number / ids.count) % 50) / 10
                try writer.save()
            }
            sum += held.reduce(0) { $0 + $1.rating }
            precondition(sum >= 0)
            withExtendedLifetime(idle) {}
            let file = container.storeURL?.appending(component: "data.mdb").path(percentEncoded: false) ?? ""
            sizes.append(try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0)
            container.close()
        }
        let ratio = Double(sizes[1]) / Double(max(1, sizes[0]))
        report(
            "file after \(commits) commits, idle context",
            String(
                format: "%.1f MB beside %.1f MB without: %.3f (1.05)", megabytes(sizes[1]), megabytes(sizes[0]), ratio),
            ratio <= 1.05)
    }

    private func megabytes(_ bytes: Int) -> Double { Double(bytes) / 1_000_000 }

    // MARK: Merging

    /// The cost of a save that changed few objects for a context with many.
    func merging() throws {
        let container = try open("merging")
        let ids = try fill(container, 100_000)
        for held in [10_000, 100_000] {
            let reader = container.newBackgroundContext()
            let objects = try ids.prefix(held).map { try reader.existingObject(with: $0, as: Movie.self) }
            var costs: [Double] = []
            for touched in [10, 100, 1000, 10_000] {
                costs.append(
                    try median(5) { round in
                        let writer = container.newBackgroundContext()
                        for id in ids.prefix(touched) {
                            try writer.existingObject(with: id, as: Movie.self).rating = Double(round % 5)
                        }
                        try writer.save()
                        let time = nanoseconds { reader.refreshAllObjects() }
                        for object in objects.prefix(touched) { _ = object.rating }
                        return time
                    })
            }
            withExtendedLifetime(objects) {}
            let perObject = costs[3] / 10_000
            let list = zip(["10", "100", "1,000", "10,000"], costs).map { "\($0): \(Quantity.time($1))" }
            report(
                "merge of k objects, \(held) in memory", list.joined(separator: ", "),
                perObject <= 3 * costs[2] / 1000 && costs[0] < costs[3] / 20)
        }
        container.close()
    }

    // MARK: Writers

    /// Small durable saves of one context, and of eight at once.
    func writers(seconds: Double) throws {
        let container = try open("writers", durability: .full)
        let ids = try fill(container, 8)
        let one = try rate(container, Array(ids.prefix(1)), seconds)
        let eight = try rate(container, ids, seconds)
        container.close()
        report(
            "durable saves a second, 8 contexts",
            String(format: "%.0f beside %.0f of one: %.1f x (3 x)", eight, one, eight / one), eight >= 3 * one)
    }

    private func rate(_ container: PersistentContainer, _ ids: [ObjectID], _ seconds: Double) throws -> Double {
        let counter = Counter()
        let end = Date(timeIntervalSinceNow: seconds)
        let group = DispatchGroup()
        for id in ids {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    let context = container.newBackgroundContext()
                    let movie = try context.existingObject(with: id, as: Movie.self)
                    var count = 0
                    while Date() < end {
                        movie.rating = Double(count % 50) / 10 + 0.05
                        try context.save()
                        count += 1
                    }
                    counter.add(count)
                } catch {
                    fatalError("A writer failed: \(error)")
                }
            }
        }
        group.wait()
        return Double(counter.value) / seconds
    }

    // MARK: Behind

    /// An indexed fetch of a hundred by a context that is ten thousand transactions of ten changes behind.
    func behind(size: Int) throws {
        let container = try open("behind", durability: .disposable)
        let ids = try fill(container, size)
        let lag = try LaggingContext.measure(container, ids)
        container.close()
        let (after, present) = (Spread(lag.after).median, Spread(lag.present).median)
        report(
            "fetch of \(lag.found), 10,000 transactions behind",
            "first \(Quantity.time(lag.first)) (60 ms), then \(Quantity.time(after)) beside \(Quantity.time(present)) now"
                + String(format: ": %.1f (3)", after / present), lag.first < 60e6 && after <= 3 * present)
    }
}

/// A sum that threads add to; its lock guards it.
private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var sum = 0

    func add(_ number: Int) { lock.withLock { sum += number } }
    var value: Int { lock.withLock { sum } }
}
