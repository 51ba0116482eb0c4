import Foundation
import Locking
import StrataModel
import Testing

@testable import StrataGraph
@testable import StrataStore

/// What is done besides the error when damage is met, and looks at all pages that find it before.
@Suite struct DamageResponseTests {
    /// Options that keep what they are told.
    private func listening(_ response: DamageResponse) -> (PersistentStoreOptions, Locked<[StrataError]>) {
        let told = Locked<[StrataError]>([])
        var options = PersistentStoreOptions()
        options.onDamage = response
        options.damageHandler = { error in told.withLock { $0.append(error) } }
        return (options, told)
    }

    @Test(arguments: [DamagedLibrary.Part.objects, .links]) func viewsAreRebuiltWhenDamageIsMet(
        part: DamagedLibrary.Part
    ) throws {
        let (options, told) = listening(.rebuildViews)
        let library = try DamagedLibrary(damaging: part, options: options)
        // The caller gets the error, and the next one the values.
        expectDamage {
            _ = try library.owner.value(forKey: part == .objects ? "name" : "favoriteMovies")
            _ = try library.context.fetch(FetchRequest<Movie>())
        }
        #expect(told.withLock { $0.map(\.code) } == [.corrupt])
        library.container.store.waitForMending()
        library.context.reset()
        let owner = try library.context.existingObject(with: library.owner.objectID, as: FamilyMember.self)
        #expect(owner.name == "Anna" && owner.favoriteMovies.count == 300)
        #expect(Set(owner.favoriteMovies.map(\.title)).count == 300)
        owner.name = "Hanna"
        try library.context.save()
        #expect(try library.container.verify().isSound)
    }

    @Test func aSaveThatMeetsDamageHasTheViewsRebuiltToo() throws {
        let (options, _) = listening(.rebuildViews)
        let library = try DamagedLibrary(damaging: .objects, options: options)
        Movie(context: library.context).title = "new"
        expectDamage { try library.context.save() }
        library.container.store.waitForMending()
        try library.context.save()
        #expect(try library.container.verify().isSound)
        #expect(try library.context.count(for: FetchRequest<Movie>()) == 301)
    }

    @Test func withoutTheOptionNothingIsDone() throws {
        let (options, told) = listening(.report)
        let library = try DamagedLibrary(damaging: .objects, options: options)
        for count in 1...2 {
            expectDamage { _ = try library.context.fetch(FetchRequest<Movie>()) }
            #expect(told.withLock(\.count) == count)
        }
    }

    /// A rebuild would drop views of which the log has no more to tell.
    @Test func nothingIsDroppedWhereTheLogIsDamaged() throws {
        let (options, told) = listening(.rebuildViews)
        let library = try DamagedLibrary(damaging: .log, options: options)
        let before = try Data(contentsOf: library.directory.appending(component: "data.mdb"))
        for _ in 1...2 {
            expectDamage { _ = try library.container.history(of: library.owner.objectID) }
            library.container.store.waitForMending()
        }
        #expect(told.withLock { !$0.isEmpty && $0.allSatisfy { $0.code == .corrupt } })
        #expect(try Data(contentsOf: library.directory.appending(component: "data.mdb")) == before)
        #expect(library.owner.name == "Anna" && library.owner.favoriteMovies.count == 300)
    }

    // MARK: Looks at all pages

    @Test func aLookAtAllPagesNamesTheDamagedOnes() throws {
        let (options, told) = listening(.report)
        let library = try DamagedLibrary(damaging: .links, options: options)
        let report = try library.container.scrub()
        #expect(report.hasChecksums && !report.isSound)
        #expect(
            report.problems.map { $0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces) }
                == library.pages.sorted().map { "page \($0)" })
        #expect(report.pageCount > library.pages.count)
        #expect(told.withLock(\.count) == 1)
        _ = try library.container.rebuildViews()
        #expect(try library.container.scrub(megabytesPerSecond: 1000).isSound)
    }

    @Test func aLookEndsWithItsTask() async throws {
        let library = try DamagedLibrary(damaging: .links)
        let container = library.container
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try container.scrub(megabytesPerSecond: 0.001)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func pagesAreLookedAtInTheBackground() throws {
        var (options, told) = listening(.rebuildViews)
        options.scrubbing = .init(megabytesPerSecond: 1000, interval: .milliseconds(1))
        let library = try DamagedLibrary(damaging: .links, options: options)
        let scrubber = try #require(library.container.store.scrubber.withLock { $0 })
        scrubber.waitForPasses(2)
        library.container.store.waitForMending()
        #expect(told.withLock { !$0.isEmpty })
        #expect(try library.container.scrub().isSound)
        #expect(library.owner.favoriteMovies.count == 300)
    }
}
