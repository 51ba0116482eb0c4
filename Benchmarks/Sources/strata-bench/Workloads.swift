import Foundation
import StrataGraph
import StrataModel

/// The first set of workloads: Strata beside the same puts and gets on bare LMDB, in one run.
final class Workloads {
    let size: Int
    let owners: Int
    private let directory: URL
    private var results: [Measurement] = []
    private var movieIDs: [ObjectID] = []
    private var ownerIDs: [ObjectID] = []
    private static let batch = 10_000

    init(size: Int, directory: URL) {
        self.size = size / Self.batch * Self.batch
        owners = max(1, self.size / 10)
        self.directory = directory
    }

    private var storeURL: URL { directory.appending(path: "bench.strata", directoryHint: .isDirectory) }

    func run() throws -> [Measurement] {
        let container = try Self.open(storeURL)
        let bare = try BareLMDB(directory.appending(component: "bare").path(percentEncoded: false))
        try insert(container, bare)
        try faults(container, bare)
        try members(container, bare)
        try hotReads(container)
        try rebuild(container)
        try cascade(container, bare)
        container.close()
        try coldOpen()
        return results
    }

    static func open(_ url: URL) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "bench", entities: [Movie.self, Owner.self], at: .url(url))
        try container.loadPersistentStores()
        return container
    }

    func add(
        _ name: String, _ strata: Double, bare: Double? = nil, bar: String, isReached: Bool, note: String = ""
    ) {
        results.append(
            Measurement(name: name, strata: strata, bare: bare, bar: bar, isReached: isReached, note: note))
        FileHandle.standardError.write(Data("\(name): \(Table.time(strata))\n".utf8))
    }

    // MARK: Inserting

    /// Batches of the two peers take turns, so that both meet the same weather.
    private func insert(_ container: PersistentContainer, _ bare: BareLMDB) throws {
        try insertOwners(container, bare)
        var random = Random(seed: 1)
        var strata = 0.0
        var limit = 0.0
        for first in stride(from: 0, to: size, by: Self.batch) {
            let rows = (first..<first + Self.batch).map { MovieRow($0, owners: owners, &random) }
            limit += try nanoseconds { try bare.insert(rows, first: first) }
            strata += try nanoseconds { try insert(rows, container) }
        }
        let perObject = strata / Double(size)
        let perBare = limit / Double(size)
        add(
            "insert through objects, save", perObject, bare: perBare, bar: "3.0 x LMDB",
            isReached: perObject <= 3 * perBare, note: "two indexes, to-one with inverse")
    }

    private func insertOwners(_ container: PersistentContainer, _ bare: BareLMDB) throws {
        try bare.insertOwners(owners)
        for first in stride(from: 0, to: owners, by: Self.batch) {
            let context = container.newBackgroundContext()
            for index in first..<min(owners, first + Self.batch) {
                let owner = Owner(context: context)
                owner.name = "Owner \(index)"
                ownerIDs.append(owner.objectID)
            }
            try context.save()
        }
    }

    private func insert(_ rows: [MovieRow], _ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        for row in rows {
            let movie = Movie(context: context)
            movie.title = row.title
            movie.year = row.year
            movie.rating = row.rating
            movie.owner = context.object(with: ownerIDs[row.owner]) as? Owner
            movieIDs.append(movie.objectID)
        }
        try context.save()
    }

    // MARK: Reading

    private func faults(_ container: PersistentContainer, _ bare: BareLMDB) throws {
        var random = Random(seed: 2)
        let count = min(size, 200_000)
        let picks = (0..<count).map { _ in Int.random(in: 0..<size, using: &random) }
        var sum = 0.0
        var limit: [Double] = []
        // A warm round for each peer, then three measured ones in turn.
        let strata = try median(4) { round in
            let bareTime = try nanoseconds { for row in picks { sum += Double(try bare.getMovie(row)) } }
            if round > 0 { limit.append(bareTime) }
            let context = container.newBackgroundContext()
            let time = try nanoseconds {
                for row in picks { sum += try context.existingObject(with: movieIDs[row], as: Movie.self).rating }
            }
            return round == 0 ? .infinity : time
        }
        let bareMedian = limit.sorted()[limit.count / 2] / Double(count)
        let fault = strata / Double(count)
        precondition(sum > 0)
        add(
            "random fault by id, one attribute", fault, bare: bareMedian, bar: "2.5 x LMDB",
            isReached: fault <= 2.5 * bareMedian)
    }

    private func members(_ container: PersistentContainer, _ bare: BareLMDB) throws {
        var random = Random(seed: 3)
        let count = min(owners, 20_000)
        let picks = (0..<count).map { _ in Int.random(in: 0..<owners, using: &random) }
        var found = (strata: 0, bare: 0)
        var sum: Int64 = 0
        let limit = try nanoseconds { for row in picks { found.bare += try bare.getMovies(ofOwner: row) } }
        let context = container.newBackgroundContext()
        let cold = try nanoseconds {
            for row in picks {
                let owner = try context.existingObject(with: ownerIDs[row], as: Owner.self)
                for movie in owner.movies {
                    sum += Int64(movie.year)
                    found.strata += 1
                }
            }
        }
        precondition(found.strata == found.bare, "The peers found different movies.")
        let ratio = cold / limit
        add(
            "owner -> 10 movies, cold", cold / Double(count), bare: limit / Double(count), bar: "(2.0 x LMDB later)",
            isReached: ratio <= 2, note: "each movie's year read")
        // Hot: a hundred owners whose graph stays in memory because they are held.
        let held = try picks.prefix(100).map { try context.existingObject(with: ownerIDs[$0], as: Owner.self) }
        let members = held.map { Array($0.movies) }
        let hops = members.reduce(0) { $0 + $1.count }
        let hot = median(5) { _ in
            nanoseconds {
                for _ in 0..<100 {
                    for owner in held { for movie in owner.movies { sum += Int64(movie.year) } }
                }
            }
        }
        withExtendedLifetime(members) {}
        precondition(sum != 0)
        add(
            "owner -> 10 movies, hot, per hop", hot / Double(hops * 100), bar: "(40 ns a hop later)",
            isReached: hot / Double(hops * 100) <= 40)
    }

    private func hotReads(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        let movie = try context.existingObject(with: movieIDs[0], as: Movie.self)
        let owner = Owner(context: context)
        owner.name = "Twelve bytes"
        let rounds = 20_000_000
        var sum = 0.0
        let scalar = median(3) { _ in nanoseconds { for _ in 0..<rounds { sum += movie.rating } } } / Double(rounds)
        add("hot scalar read", scalar, bar: "5 ns", isReached: scalar < 5)
        var length = 0
        let text =
            median(3) { _ in
                nanoseconds { for _ in 0..<rounds / 4 { length &+= owner.name.utf8.count } }
            } / Double(rounds / 4)
        add("hot String read, 12 bytes", text, bar: "20 ns", isReached: text < 20)
        let fresh = Movie(context: context)
        let set =
            median(3) { _ in
                nanoseconds { for round in 0..<rounds { fresh.year = Int32(truncatingIfNeeded: round) } }
            } / Double(rounds)
        add("set a scalar of a changed object", set, bar: "(5 ns later)", isReached: set < 5)
        precondition(sum > 0 && length > 0)
    }

    // MARK: Whole stores

    private func rebuild(_ container: PersistentContainer) throws {
        var events = 0
        var isUnchanged = false
        let time = try nanoseconds {
            let report = try container.rebuildViews()
            events = report.eventCount
            isUnchanged = report.isUnchanged
        }
        precondition(isUnchanged, "The rebuilt views differ.")
        let rate = Double(events) / time * 1e9
        add(
            "rebuild, per event", time / Double(max(1, events)), bar: "(250,000/s later)", isReached: rate >= 250_000,
            note: "\(Int(rate)) events/s, digests before and after included")
    }

    /// In a process of its own, so that nothing is warm but the system's file cache.
    private func coldOpen() throws {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        let picks = stride(from: 0, to: movieIDs.count, by: max(1, movieIDs.count / 100)).prefix(100)
        process.arguments =
            ["cold-open", storeURL.path(percentEncoded: false)] + picks.map { String(movieIDs[$0].rawValue) }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0,
            let cold = try? JSONDecoder().decode(ColdOpen.Result.self, from: output)
        else {
            preconditionFailure("The process that opens the store cold failed.")
        }
        let megabytes = Double(cold.addedBytes) / 1_000_000
        add(
            "cold open, 100 objects read", cold.nanoseconds, bar: "20 ms, 20 MB",
            isReached: cold.nanoseconds < 20e6 && megabytes < 20, note: String(format: "%.1f MB", megabytes))
    }
}
