import FaultShim
import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport

/// Work of several contexts and writers on one store, with failures of its disk, that follows from a seed alone: one
/// step at a time, without real time. It is recorded, for `SimulationCheck` to cut the power in the middle.
///
/// What comes of the work is observed after every step and kept as a list of states. Each step tells the recorder which
/// state there is now, and up to which one everything has been acknowledged.
final class Simulation {
    private let directory: URL
    private let options: StoreOptions
    private var random: SeededGenerator
    private var container: PersistentContainer
    private var contexts: [ManagedObjectContext] = []
    private(set) var states: [[String]] = []
    private var number = 0

    /// Kinds of marks.
    static let observed = 1
    static let promised = 2

    /// What differs from what the simulation holds to be right.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter directory: of a store that `prepare` has made.
    init(_ directory: URL, _ options: StoreOptions, seed: UInt64) throws {
        self.directory = directory
        self.options = options
        random = SeededGenerator(seed: seed)
        container = try Self.open(directory, options)
        try open()
        try observe(isPromised: true)
    }

    static func open(_ directory: URL, _ options: StoreOptions) throws -> PersistentContainer {
        try PersistentContainer(
            over: try Store.open(.directory(directory), model: try CrashModel.make(), options: options))
    }

    /// A store with the tags that the contexts use.
    static func prepare(_ directory: URL, _ options: StoreOptions) throws {
        let container = try open(directory, options)
        defer { container.close() }
        let context = container.newBackgroundContext()
        for number in 0..<3 {
            try context.insertNewObject(forEntityName: "Tag").setValue("own \(number)", forKey: "label")
        }
        try context.save()
    }

    private func open() throws {
        // The writer sweeps large values first, and grants the turn then.
        try container.store.takeTurn(limit: .seconds(30)).end()
        contexts = (0..<3).map { _ in container.newBackgroundContext() }
    }

    func run(steps: Int) throws {
        for _ in 0..<steps { try step() }
        contexts = []
        container.close()
    }

    private func step() throws {
        let context = contexts[Int.random(in: 0..<contexts.count, using: &random)]
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9: try edit(context)
        case 9..<13: try save(context)
        case 13..<17: try saveWithFailures(context)
        case 17: try saveTogether()
        case 18:
            _ = try container.store.sweepBlobs()
            try observe(isPromised: true)
        default:
            contexts = []
            container.close()
            container = try Self.open(directory, options)
            try open()
            try observe(isPromised: true)
        }
    }

    /// - Parameter isPromised: whether all that is there has been acknowledged.
    private func observe(isPromised: Bool) throws {
        let state = try AppView(container).whole()
        if state != states.last {
            // What is there without an acknowledgement was asked for; nothing else may change anything.
            states.append(state)
        }
        record_mark(Self.observed, states.count - 1)
        if isPromised { record_mark(Self.promised, states.count - 1) }
    }

    // MARK: Changes

    private func movies(_ context: ManagedObjectContext) throws -> [ManagedObject] {
        let numbered = try context.fetch(FetchRequest<ManagedObject>(entityName: "Movie")).map { movie in
            (number: try movie.value(forKey: "number") as? Int64 ?? 0, movie: movie)
        }
        // Larger numbers are those of the other writers.
        return numbered.filter { $0.number < 1_000_000 }.sorted { $0.number < $1.number }.map(\.movie)
    }

    private func tag(_ context: ManagedObjectContext) throws -> ManagedObject? {
        let label = "own \(Int.random(in: 0..<3, using: &random))"
        return try context.fetch(FetchRequest<ManagedObject>(entityName: "Tag"))
            .first { try $0.value(forKey: "label") as? String == label }
    }

    /// One of a few, so that values are stored that are there already.
    private func picture() -> Data {
        Data(repeating: UInt8.random(in: 1...3, using: &random), count: 40_000)
    }

    private func edit(_ context: ManagedObjectContext) throws {
        let movies = try movies(context)
        guard let movie = movies.randomElement(using: &random), Int.random(in: 0..<10, using: &random) > 2 else {
            number += 1
            let movie = try context.insertNewObject(forEntityName: "Movie")
            try movie.setValue(number, forKey: "number")
            return try movie.setValue(try tag(context), forKey: "owner")
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: context.delete(movie)
        case 1: try movie.setValue(picture(), forKey: "picture")
        case 2: try movie.setValue(try tag(context), forKey: "owner")
        case 3:
            let tags = try (0..<2).compactMap { _ in try tag(context) }
            try movie.setValue(Set(tags), forKey: "tags")
        default: try movie.setValue(Double(Int.random(in: 0..<40, using: &random)), forKey: "rating")
        }
    }

    // MARK: Saves

    /// A save that meets another context's changes of the same objects begins anew from the newest state.
    private func save(_ context: ManagedObjectContext) throws {
        do {
            try context.save()
        } catch let error as StrataError where Self.isConflict(error) {
            context.reset()
        }
        try observe(isPromised: true)
    }

    private static func isConflict(_ error: StrataError) -> Bool {
        [.merge, .constraintMerge, .deletedObject].contains(error.code)
            || !error.details.isEmpty && error.details.allSatisfy(isConflict)
    }

    /// A call of the system, or a few, fail in the middle: the save is made, or it is not and can be made again.
    private func saveWithFailures(_ context: ManagedObjectContext) throws {
        fault_arm(
            Int32([FAULT_WRITE, FAULT_SYNC, FAULT_NAME, FAULT_META].randomElement(using: &random) ?? FAULT_SYNC),
            Int.random(in: 1...6, using: &random), [1, 1, 3, 1_000].randomElement(using: &random) ?? 1,
            Bool.random(using: &random) ? EIO : ENOSPC, Int32.random(in: 0...2, using: &random))
        let result = Result { try context.save() }
        let hits = fault_disarm()
        switch result {
        case .success: try observe(isPromised: true)
        case .failure(let error as StrataError) where Self.isConflict(error):
            context.reset()
            try observe(isPromised: hits == 0)
        case .failure(let error as StrataError) where hits > 0 && error.code != .corrupt:
            try observe(isPromised: false)
            try save(context)
        case .failure(let error): throw error
        }
    }

    /// Two writers beside the contexts, whose saves share a commit.
    private func saveTogether() throws {
        let store = container.store
        // Row numbers are leased by the writer, who is to wait.
        guard let movie = store.schema.entity(named: "Movie") else { return }
        _ = try store.newObjectID(in: movie.id)
        let turn = try store.takeTurn(limit: .seconds(30))
        let results = Results()
        let done = DispatchGroup()
        for thread in 2...3 {
            let saver = try Saver(store, thread: thread)
            done.enter()
            Thread.detachNewThread {
                var saver = saver
                results.add(Result { try saver.save() })
                done.leave()
            }
            while store.waitingSaveCount < thread - 1 { usleep(100) }
        }
        turn.end()
        done.wait()
        for result in results.all { _ = try result.get() }
        try observe(isPromised: true)
    }
}

private final class Results: @unchecked Sendable {
    private let lock = NSLock()
    private var results: [Result<Int, any Error>] = []

    var all: [Result<Int, any Error>] { lock.withLock { results } }

    func add(_ result: Result<Int, any Error>) { lock.withLock { results.append(result) } }
}
