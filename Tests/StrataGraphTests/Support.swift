import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Synchronization
import Testing

/// A store with the entities of the tests, in memory unless it is to stand somewhere.
func makeContainer(
    _ entities: [ManagedObject.Type] = [Movie.self, FamilyMember.self], at location: PersistentStoreLocation = .inMemory
) throws -> PersistentContainer {
    let container = try PersistentContainer(
        name: "Test", entities: entities, at: location, options: .init(durability: .disposable))
    try container.loadPersistentStores()
    MadeStores.current?.add(container)
    return container
}

/// The stores that a test made.
final class MadeStores: Sendable {
    @TaskLocal static var current: MadeStores?
    private let made = Mutex<[PersistentContainer]>([])

    var all: [PersistentContainer] { made.withLock { $0 } }

    func add(_ container: PersistentContainer) { made.withLock { $0.append(container) } }
}

/// After each test: checksums, indexes against objects, links against their inverses, and a replay of the log that ends
/// with the live views.
struct VerifyingStores: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let stores = MadeStores()
        try await MadeStores.$current.withValue(stores) { try await function() }
        for container in stores.all where container.isLoaded {
            let report = try container.verify()
            #expect(report.isSound, "\(report)")
        }
    }
}

extension Trait where Self == VerifyingStores {
    /// Every store of the test is verified when the test is over.
    static var verifiesStores: VerifyingStores { VerifyingStores() }
}

let graphEntities: [ManagedObject.Type] = [
    Person.self, Employee.self, Passport.self, Club.self, Rule.self, Playlist.self, Song.self, Track.self,
]

/// Tests of what two contexts of one store do to each other.
protocol TwoContextSuite {
    var mine: ManagedObjectContext { get }
    var theirs: ManagedObjectContext { get }
}

extension TwoContextSuite {
    /// A saved movie in both contexts.
    func sharedMovie() throws -> (mine: Movie, theirs: Movie) {
        let movie = Movie(context: mine)
        movie.title = "A"
        try mine.save()
        theirs.refreshAllObjects()
        return (movie, try theirs.existingObject(with: movie.objectID, as: Movie.self))
    }
}

func makeTwoContexts() throws -> (PersistentContainer, ManagedObjectContext, ManagedObjectContext) {
    let container = try makeContainer([Movie.self, FamilyMember.self] + graphEntities)
    return (container, container.newBackgroundContext(), container.newBackgroundContext())
}

/// The error that `body` throws; fails the test when it throws none.
func thrownError(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> StrataError? {
    do {
        try body()
        Issue.record("Nothing was thrown.", sourceLocation: sourceLocation)
    } catch let error as StrataError {
        return error
    } catch {
        Issue.record("Thrown: \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// Holds contexts as long as a test runs.
final class Kept {
    var all: [ManagedObjectContext] = []
}

/// Loads a container, runs `body` with a context, saves, verifies and closes.
@discardableResult
func withLoaded<R>(_ container: PersistentContainer, _ body: (ManagedObjectContext) throws -> R) throws -> R {
    try container.loadPersistentStores()
    defer { container.close() }
    let context = container.newBackgroundContext()
    let result = try body(context)
    if context.hasChanges { try context.save() }
    let report = try container.store.verify()
    #expect(report.isSound, "\(report.problems.map(\.description))")
    return result
}
