import ArgumentParser
import Foundation
import StrataGraph
import StrataModel
import StrataPostgres

/// Times stores that share a log in PostgreSQL, beside the same appends by hand and beside stores with their own log.
struct SharedWorkload {
    struct Result: Codable {
        let measure: String
        let value: Double
        let unit: String
        /// What the value is to reach, and what it aims at; nil for what is only told.
        var reach: Double?
        var aim: Double?
        /// Whether less is better.
        var isAtMost = true
    }

    /// What is timed.
    enum Part: String, CaseIterable, ExpressibleByArgument { case saving, writers, batches, arriving, reading }

    let address: String
    let directory: URL
    let objects: Int
    let seconds: Double
    var parts = Part.allCases

    func run() throws -> [Result] {
        try PostgresSetup.makeTables(at: address)
        return try parts.flatMap { part in
            let results =
                switch part {
                case .saving: try saving()
                case .writers: try writers()
                case .batches: try batches()
                case .arriving: try arriving()
                case .reading: try reading()
                }
            for result in results {
                FileHandle.standardError.write(Data("\(result.measure): \(result.value) \(result.unit)\n".utf8))
            }
            return results
        }
    }

    // MARK: Stores

    /// A log of its own for a part.
    func newLog() -> String { "bench \(UUID().uuidString)" }

    /// - Parameter log: the lineage of its log; nil for one of its own.
    func store(_ name: String, log: String?) throws -> PersistentContainer {
        var options = PersistentStoreOptions()
        if let log { options = PersistentStoreOptions(log: .postgres(address, lineage: log)) }
        let container = try PersistentContainer(
            name: "shared", entities: [Movie.self, Owner.self, Node.self],
            at: .url(directory.appending(path: "\(name).strata", directoryHint: .isDirectory)), options: options)
        try container.loadPersistentStores()
        return container
    }

    /// Saves one new movie.
    func save(_ number: Int, _ context: ManagedObjectContext) throws {
        let row = MovieRow(number, owners: 1)
        let movie = Movie(context: context)
        movie.title = row.title
        movie.year = row.year
        movie.rating = row.rating
        movie.genre = row.genre
        movie.votes = row.votes
        try context.save()
    }

    // MARK: Saving

    /// One writer of one store, in turns with appends of as many bytes by hand.
    private func saving() throws -> [Result] {
        let (log, bare) = (newLog(), newLog())
        let container = try store("saving", log: log)
        defer { container.close() }
        let context = container.newBackgroundContext()
        for number in 0..<100 { try save(number, context) }
        let hand = try BarePostgres(address)
        try hand.begin(bare)
        let bytes = [UInt8](repeating: 0x53, count: try hand.transactionSize(in: log))
        var (saves, appends): ([Double], [Double]) = ([], [])
        let end = ContinuousClock.now + .seconds(2 * seconds)
        // The first round warms up.
        while ContinuousClock.now < end || saves.count < 60 {
            for _ in 0..<20 {
                saves.append(try nanoseconds { try save(saves.count, context) })
            }
            for _ in 0..<20 {
                appends.append(try nanoseconds { try hand.append(bytes, to: bare, after: appends.count) })
            }
        }
        let (ours, theirs) = (Self.middle(saves.dropFirst(20)), Self.middle(appends.dropFirst(20)))
        // On a busy machine the fastest ones say what both cost without company.
        let (fast, bareFast) = (Self.quick(saves.dropFirst(20)), Self.quick(appends.dropFirst(20)))
        return [
            Result(measure: "durable save, one writer", value: ours / 1e6, unit: "ms"),
            Result(measure: "append by libpq", value: theirs / 1e6, unit: "ms"),
            Result(measure: "durable save by append", value: ours / theirs, unit: "x", reach: 1.5, aim: 1.15),
            Result(measure: "durable save, the fastest tenth", value: fast / 1e6, unit: "ms"),
            Result(measure: "append by libpq, the fastest tenth", value: bareFast / 1e6, unit: "ms"),
        ]
    }

    /// The time that a tenth of the values does not exceed.
    private static func quick(_ values: some Collection<Double>) -> Double { values.sorted()[values.count / 10] }

    static func middle(_ values: some Collection<Double>) -> Double { values.sorted()[values.count / 2] }

    /// Three stores with eight writers each.
    private func writers() throws -> [Result] {
        let log = newLog()
        let stores = try (0..<3).map { try store("writers-\($0)", log: log) }
        defer { for store in stores { store.close() } }
        let threads = stores.flatMap { store in (0..<8).map { _ in store } }
        let seconds = seconds
        let counts = try onThreads(threads) { container in
            let context = container.newBackgroundContext()
            let end = ContinuousClock.now + .seconds(seconds)
            var count = 0
            while ContinuousClock.now < end {
                try save(count, context)
                count += 1
            }
            return count
        }
        for store in stores { try store.catchUp() }
        guard Set(try stores.map { try $0.head() }).count == 1 else { throw BenchError("The stores end differently.") }
        let rate = Double(counts.reduce(0, +)) / seconds
        return [
            Result(
                measure: "saves of 3 stores with 8 writers each", value: rate, unit: "/s", reach: 3_000, aim: 6_000,
                isAtMost: false)
        ]
    }

    // MARK: Batches and new stores

    /// Saves of ten thousand objects, and a new store that receives them all.
    private func batches() throws -> [Result] {
        let log = newLog()
        let container = try store("batches", log: log)
        defer { container.close() }
        let batch = 10_000
        var time = 0.0
        for first in stride(from: 0, to: objects, by: batch) {
            let rows = (first..<first + batch).map { MovieRow($0, owners: 1) }
            time += try nanoseconds { try insert(rows, container) }
        }
        let events = Double(try container.head().rawValue)
        var joined: PersistentContainer?
        let ready = try nanoseconds { joined = try store("joined", log: log) }
        defer { joined?.close() }
        guard try joined?.head() == container.head() else { throw BenchError("The new store is not ready.") }
        return [
            Result(
                measure: "events in batches of \(Quantity.count(batch))", value: events / time * 1e9, unit: "/s",
                reach: 100_000, aim: 200_000, isAtMost: false),
            Result(
                measure: "a new store of \(Quantity.count(objects)) objects ready", value: ready / 1e9, unit: "s",
                reach: 60 * Double(objects) / 1e6, aim: 20 * Double(objects) / 1e6),
        ]
    }

    private func insert(_ rows: [MovieRow], _ container: PersistentContainer) throws {
        var place = 0
        var request = BatchInsertRequest<Movie> { values in
            guard place < rows.count else { return true }
            let row = rows[place]
            values["title"] = .string(row.title)
            values["year"] = .integer(Int64(row.year))
            values["rating"] = .double(row.rating)
            values["genre"] = .string(row.genre)
            values["votes"] = .integer(Int64(row.votes))
            place += 1
            return false
        }
        request.stepSize = rows.count
        try container.newBackgroundContext().execute(request)
    }

    // MARK: Arriving

    /// From before a save at one store until the live results of another have it.
    private func arriving() throws -> [Result] {
        let log = newLog()
        let (first, second) = (try store("arriving-0", log: log), try store("arriving-1", log: log))
        defer {
            first.close()
            second.close()
        }
        let context = first.newBackgroundContext()
        try save(0, context)
        try second.catchUp()
        let arrivals = Arrivals(second)
        try arrivals.wait(for: 1)
        var times: [Double] = []
        let end = ContinuousClock.now + .seconds(2 * seconds)
        while ContinuousClock.now < end || times.count < 100 {
            times.append(
                try nanoseconds {
                    try save(times.count, context)
                    try arrivals.wait(for: times.count + 2)
                })
            // The next save is not one of many: notifications gather those.
            Thread.sleep(forTimeInterval: 0.005)
        }
        arrivals.stop()
        let sorted = times.sorted()
        return [
            Result(
                measure: "save to live result elsewhere, median", value: sorted[sorted.count / 2] / 1e6, unit: "ms",
                reach: 50, aim: 10),
            Result(
                measure: "save to live result elsewhere, 99 of 100", value: sorted[sorted.count * 99 / 100] / 1e6,
                unit: "ms", reach: 150, aim: 50),
        ]
    }

    /// Counts the live results of a store on a task of its own. The variables are guarded by `condition`.
    private final class Arrivals: @unchecked Sendable {
        private let condition = NSCondition()
        private var count = 0
        private var failure: (any Error)?
        private var task: Task<Void, Never>?

        init(_ container: PersistentContainer) {
            task = Task.detached { [self] in
                do {
                    for try await update in container.results(for: FetchRequest<Movie>()) {
                        note(update.snapshot.numberOfItems, nil)
                    }
                } catch {
                    note(0, error)
                }
            }
        }

        private func note(_ count: Int, _ failure: (any Error)?) {
            condition.withLock {
                self.count = max(self.count, count)
                self.failure = failure
                condition.broadcast()
            }
        }

        func wait(for wanted: Int) throws {
            let failure = condition.withLock {
                while count < wanted, self.failure == nil { condition.wait() }
                return self.failure
            }
            if let failure { throw failure }
        }

        func stop() { task?.cancel() }
    }
}

/// Runs a body on a thread for each element.
///
/// - Returns: the results, in the order of the elements.
func onThreads<Element: Sendable, Result: Sendable>(
    _ elements: [Element], _ body: @escaping (Element) throws -> Result
) throws -> [Result] {
    let work = ThreadedWork<Element, Result>(body)
    let group = DispatchGroup()
    for (index, element) in elements.enumerated() {
        group.enter()
        Thread.detachNewThread {
            work.run(element, index)
            group.leave()
        }
    }
    group.wait()
    return try work.all()
}

/// The results of threads; `lock` guards them. The body is called by all of them.
private final class ThreadedWork<Element, Result>: @unchecked Sendable {
    private let body: (Element) throws -> Result
    private let lock = NSLock()
    private var results: [Int: Result] = [:]
    private var failure: (any Error)?

    init(_ body: @escaping (Element) throws -> Result) { self.body = body }

    func run(_ element: Element, _ index: Int) {
        do {
            let result = try body(element)
            lock.withLock { results[index] = result }
        } catch {
            lock.withLock { failure = error }
        }
    }

    func all() throws -> [Result] {
        try lock.withLock {
            if let failure { throw failure }
            return results.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}
