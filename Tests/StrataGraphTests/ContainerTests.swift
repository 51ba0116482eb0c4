import Foundation
import Observation
import StrataModel
import StrataStore
import Testing

@testable import StrataGraph

@Suite(.verifiesStores) struct ContainerTests {
    private func directory() -> URL {
        FileManager.default.temporaryDirectory
            .appending(path: "strata-\(UUID().uuidString)", directoryHint: .isDirectory)
    }

    private func container(at url: URL, readOnly: Bool = false) throws -> PersistentContainer {
        let container = try PersistentContainer(
            name: "Movies", entities: [Movie.self, FamilyMember.self], at: .url(url),
            options: .init(durability: .disposable, isReadOnly: readOnly))
        try container.loadPersistentStores()
        return container
    }

    /// What this process has open below a directory.
    private func openFiles(below directory: URL) throws -> [String] {
        let path = directory.path(percentEncoded: false)
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0.hasPrefix(path) }
    }

    @Test func aContainerThatIsLetGoClosesItsStore() async throws {
        weak var store: Store?
        let url = directory()
        defer { try? FileManager.default.removeItem(at: url) }
        func use() throws {
            let container = try PersistentContainer(
                name: "Test", entities: [Movie.self, FamilyMember.self], at: .url(url))
            try container.loadPersistentStores()
            let context = container.newBackgroundContext()
            Movie(context: context).title = "A"
            try context.save()
            #expect(try context.fetch(FetchRequest<Movie>(where: .equal("title", "A"))).count == 1)
            store = container.store
            #expect(try !openFiles(below: url).isEmpty)
        }
        try use()
        #expect(store == nil)
        // The writer's thread lets go of the last file when it has ended.
        for _ in 0..<200 where try !openFiles(below: url).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try openFiles(below: url) == [])
    }

    @Test func aStoreIsThereAgainWhenItIsOpenedAgain() throws {
        let url = directory()
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try container(at: url)
        let context = first.newBackgroundContext()
        let movie = Movie(context: context)
        movie.title = "A"
        try context.save()
        let uri = try first.uriRepresentation(of: movie.objectID)
        first.close()
        let second = try container(at: url)
        let again = second.newBackgroundContext()
        #expect(try again.existingObject(with: second.objectID(forURIRepresentation: uri), as: Movie.self).title == "A")
        #expect(thrownError { _ = try context.count(for: FetchRequest<Movie>()) }?.code == .storeClosed)
        second.close()
    }

    @Test func aReadOnlyContainerRefusesChanges() throws {
        let url = directory()
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try container(at: url)
        let context = first.newBackgroundContext()
        let movie = Movie(context: context)
        movie.title = "A"
        try context.save()
        first.close()
        let second = try container(at: url, readOnly: true)
        let reader = second.newBackgroundContext()
        let same = try reader.existingObject(with: movie.objectID, as: Movie.self)
        same.title = "B"
        #expect(same.title == "A")
        reader.delete(same)
        #expect(!same.isDeleted)
        #expect(thrownError { try reader.save() }?.code == .readOnly)
        #expect(thrownError { _ = try reader.insertNewObject(forEntityName: "Movie") }?.code == .readOnly)
        second.close()
    }

    /// As a shell reads `~`, also where a service sets another `HOME` than the user database has.
    @Test(arguments: [
        (["XDG_DATA_HOME": "/data", "HOME": "/home/ann"], "/data/Movies"),
        (["XDG_DATA_HOME": "data", "HOME": "/home/ann"], "/home/ann/.local/share/Movies"),
        (["HOME": "/home/ann"], "/home/ann/.local/share/Movies"),
    ])
    func theDefaultDirectoryFollowsXDG(environment: [String: String], path: String) {
        let url = PersistentContainer.defaultDirectoryURL(for: "Movies", environment)
        #expect(url.standardizedFileURL.path == path)
        let user = FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share/Movies")
        #expect(PersistentContainer.defaultDirectoryURL(for: "Movies", [:]).path == user.path)
        #expect(PersistentContainer.defaultDirectoryURL(for: "Movies").lastPathComponent == "Movies")
    }

    @Test func aModelThatMakesNoSenseIsRefusedWithItsFaults() throws {
        let error = thrownError {
            _ = try PersistentContainer(name: "Bad", entities: [ManagedObject.self], at: .inMemory)
        }
        #expect(error?.code == .invalidModel)
        // Without its partner the inverse and the destination are missing.
        let alone = thrownError { _ = try PersistentContainer(name: "Bad", entities: [Rule.self], at: .inMemory) }
        #expect(alone?.code == .invalidModel && !(alone?.details.isEmpty ?? true))
    }

    @Test func backgroundTasksRunOnTheirOwnThreadsAndMayBlock() async throws {
        let container = try makeContainer()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<24 {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        let movie = Movie(context: context)
                        movie.title = "\(number)"
                        try context.save()
                        return number
                    }
                }
            }
            var sum = 0
            for try await number in group { sum += number }
            #expect(sum == 276)
        }
        let context = container.newBackgroundContext()
        #expect(try context.count(for: FetchRequest<Movie>()) == 24)
        await #expect(throws: StrataError.self) {
            try await container.performBackgroundTask { try $0.setAway() }
        }
    }

    @Test func anActorOwnsAContext() async throws {
        let container = try makeContainer()
        let actor = ContextActor(adopting: container.newBackgroundContext())
        let id = try await actor.perform { context in
            let movie = Movie(context: context)
            movie.title = "A"
            try context.save()
            return movie.objectID
        }
        let title = try await actor.perform { try $0.existingObject(with: id, as: Movie.self).title }
        #expect(title == "A")
    }

    @MainActor @Test func theViewContextIsOneAndOnTheMainActor() throws {
        let container = try makeContainer()
        let context = container.viewContext
        #expect(context === container.viewContext)
        let movie = Movie(context: context)
        movie.title = "A"
        try context.save()
    }

    @MainActor @Test func observersHearOfChangesOfPropertiesTheyRead() async throws {
        let container = try makeContainer()
        let context = container.viewContext
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        let movie = Movie(context: context)
        movie.title = "A"
        try context.save()
        let heard = Heard()
        withObservationTracking {
            _ = movie.title
        } onChange: {
            heard.add("title")
        }
        withObservationTracking {
            _ = movie.rating
        } onChange: {
            heard.add("rating")
        }
        withObservationTracking {
            _ = owner.favoriteMovies.count
        } onChange: {
            heard.add("movies")
        }
        movie.rating = 3
        #expect(heard.all == ["rating"])
        movie.title = "B"
        #expect(heard.all == ["rating", "title"])
        movie.familyMember = owner
        #expect(heard.all == ["rating", "title", "movies"])
        // What another context saved is announced when this one takes it.
        withObservationTracking {
            _ = movie.rating
        } onChange: {
            heard.add("elsewhere")
        }
        try context.save()
        let id = movie.objectID
        try await container.performBackgroundTask { background in
            try background.existingObject(with: id, as: Movie.self).rating = 4
            try background.save()
        }
        context.refreshAllObjects()
        #expect(heard.all.last == "elsewhere" && movie.rating == 4)
    }

    @MainActor @Test func inheritedPropertiesAreAnnouncedAsTheirClassDeclaresThem() throws {
        let container = try makeContainer(graphEntities)
        let employee = Employee(context: container.viewContext)
        employee.name = "Ann"
        let heard = Heard()
        let person: Person = employee
        withObservationTracking {
            _ = person.name
        } onChange: {
            heard.add("name")
        }
        employee.name = "Bob"
        #expect(heard.all == ["name"])
    }
}

private final class Heard: @unchecked Sendable {
    // Only the main actor's tests use it.
    private(set) var all: [String] = []

    func add(_ name: String) { all.append(name) }
}

extension ManagedObjectContext {
    fileprivate func setAway() throws {
        throw StrataError(.invalidRequest, "on purpose")
    }
}
