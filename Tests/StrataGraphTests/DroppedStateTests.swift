import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Synchronization
import Testing

/// The history that a context needs is truncated by force, as another process does it that knows nothing of the context.
@Suite(.verifiesStores) struct DroppedStateTests: TwoContextSuite {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init() throws { (container, mine, theirs) = try makeTwoContexts() }

    private func drop() throws { try container.truncateHistory(before: .now, holders: .overridden) }

    private func change(_ movie: Movie, _ body: (Movie) -> Void = { $0.rating = 4 }) throws {
        body(movie)
        try theirs.save()
        try drop()
    }

    @Test func aSaveThatNeedsNoneOfItShowsWhatOthersSaved() throws {
        let (movie, other) = try sharedMovie()
        try change(other)
        Movie(context: mine).title = "new"
        try mine.save()
        #expect(movie.rating == 4 && movie.title == "A" && mine.unreportedErrors.isEmpty)
        try change(other) { $0.rating = 5 }
        // The next save says nothing of the one before.
        Movie(context: mine).title = "another"
        try mine.save()
        #expect(movie.rating == 5 && mine.unreportedErrors.isEmpty)
    }

    @Test func aSaveMergesWithWhatOthersSaved() throws {
        let (movie, other) = try sharedMovie()
        movie.title = "mine"
        try change(other)
        try mine.save()
        #expect(movie.title == "mine" && movie.rating == 4 && mine.unreportedErrors.isEmpty)
        theirs.refreshAllObjects()
        #expect(other.title == "mine")
    }

    @Test func aConflictIsStillOne() throws {
        let (movie, other) = try sharedMovie()
        movie.title = "mine"
        try change(other) { $0.title = "theirs" }
        #expect(thrownError { try mine.save() }?.code == .merge)
        #expect(movie.title == "mine" && mine.hasChanges)
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try mine.save()
        theirs.refreshAllObjects()
        #expect(movie.title == "mine" && other.title == "mine")
    }

    /// What the rollback cannot read says nothing of the changes that come after it.
    @Test func aRollbackAfterAConflictLeavesNoError() throws {
        let (movie, other) = try sharedMovie()
        movie.title = "mine"
        try change(other) { $0.title = "theirs" }
        #expect(thrownError { try mine.save() }?.code == .merge)
        try change(other) { $0.title = "theirs again" }
        mine.rollback()
        mine.refreshAllObjects()
        #expect(mine.unreportedErrors.isEmpty && movie.title == "theirs again")
        movie.title = "third"
        try mine.save()
        theirs.refreshAllObjects()
        #expect(other.title == "third")
    }

    /// The context has not read the revision that its own save gave the row.
    @Test func whatThisContextSavedLastIsNotOverwrittenUnseen() throws {
        let (movie, other) = try sharedMovie()
        movie.title = "first"
        try mine.save()
        theirs.refreshAllObjects()
        try change(other) { $0.title = "theirs" }
        movie.title = "second"
        #expect(thrownError { try mine.save() }?.code == .merge)
        mine.rollback()
        mine.refreshAllObjects()
        #expect(movie.title == "theirs")
        movie.title = "third"
        try mine.save()
        #expect(mine.unreportedErrors.isEmpty)
    }

    /// Whether others have changed the object since can no longer be told, so its deletion asks the policy.
    @Test func aDeletionOfWhatThisContextSavedLastAsksThePolicy() throws {
        let (movie, _) = try sharedMovie()
        movie.title = "first"
        try mine.save()
        theirs.refreshAllObjects()
        try change(Movie(context: theirs)) { $0.title = "another" }
        mine.delete(movie)
        #expect(thrownError { try mine.save() }?.code == .merge)
        mine.mergePolicy = .mergeByPropertyObjectTrump
        try mine.save()
        theirs.refreshAllObjects()
        #expect(try theirs.fetch(FetchRequest<Movie>()).map(\.title) == ["another"])
    }

    @Test func refreshingGoesOnFromTheNewestState() throws {
        let (movie, other) = try sharedMovie()
        let gone = Movie(context: mine)
        gone.title = "gone"
        try mine.save()
        theirs.refreshAllObjects()
        theirs.delete(try theirs.existingObject(with: gone.objectID, as: Movie.self))
        movie.title = "mine"
        try change(other)
        #expect(thrownError { _ = try mine.fetch(FetchRequest<Movie>()) }?.code == .historyDropped)
        mine.refreshAllObjects()
        #expect(mine.unreportedErrors.isEmpty && movie.title == "mine" && movie.rating == 4 && gone.isDeleted)
        #expect(try mine.fetch(FetchRequest<Movie>()).count == 1)
        try mine.save()
    }

    @Test func aChildSavesOn() throws {
        let (movie, other) = try sharedMovie()
        let child = try mine.newChildContext()
        let draft = try child.existingObject(with: movie.objectID, as: Movie.self)
        draft.title = "draft"
        try change(other)
        try child.save()
        try mine.save()
        #expect(movie.title == "draft" && movie.rating == 4 && draft.rating == 4)
        #expect(mine.unreportedErrors.isEmpty && child.unreportedErrors.isEmpty)
    }

    @Test func undoGoesOn() throws {
        let (movie, other) = try sharedMovie()
        mine.undoManager = ObjectUndoManager()
        movie.title = "mine"
        mine.processPendingChanges()
        try change(other)
        try mine.save()
        try mine.undo()
        #expect(movie.title == "A" && movie.rating == 4)
        try mine.save()
        try mine.redo()
        try mine.save()
        #expect(movie.title == "mine" && movie.rating == 4 && mine.unreportedErrors.isEmpty)
    }

    @Test func resultsGoOn() throws {
        let (_, other) = try sharedMovie()
        let results = FetchedResultsController(
            fetchRequest: try FetchRequest<Movie>(sortedBy: [SortDescription("title")]), context: mine)
        try results.performFetch()
        let added = Movie(context: theirs)
        added.title = "0"
        try change(other) { $0.title = "B" }
        mine.refreshAllObjects()
        #expect(results.fetchedObjects?.map { $0.title } == ["0", "B"])
        #expect(mine.unreportedErrors.isEmpty)
    }

    private static func saveAndDrop(_ container: PersistentContainer, _ context: ManagedObjectContext) {
        do {
            _ = Hooked(context: context)
            try context.save()
            try container.truncateHistory(before: .now, holders: .overridden)
        } catch {
            Issue.record(error)
        }
    }

    /// Each time the hook runs, the state is dropped from which the validation after it reads the number of members.
    @Test(arguments: 1...2) func aSaveWhoseStateIsDroppedAgainAndAgainIsMade(times: Int) throws {
        let container = try makeContainer([Hooked.self, Crew.self, Sailor.self])
        defer { container.close() }
        let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
        let (hooked, crew) = (Hooked(context: mine), Crew(context: mine))
        try mine.save()
        var left = times
        hooked.willSaveBody = { _ in
            guard left > 0 else { return }
            left -= 1
            Self.saveAndDrop(container, theirs)
        }
        hooked.count = 7
        crew.watch.insert(Sailor(context: mine))
        try mine.save()
        #expect(left == 0 && mine.unreportedErrors.isEmpty)
        theirs.refreshAllObjects()
        #expect(try theirs.existingObject(with: hooked.objectID, as: Hooked.self).count == 7)
        #expect(try theirs.existingObject(with: crew.objectID, as: Crew.self).watch.count == 1)
    }

    /// A hook that reads a fault of a dropped state sees no value; what it makes of that is not saved.
    @Test func whatAHookReadsOfADroppedStateIsReadAgain() throws {
        let container = try makeContainer([Hooked.self])
        defer { container.close() }
        let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
        let (hooked, other) = (Hooked(context: mine), Hooked(context: mine))
        other.name = "kept"
        try mine.save()
        mine.refresh(other, mergeChanges: true)
        var isDropped = false
        hooked.willSaveBody = { hooked in
            if !isDropped {
                isDropped = true
                Self.saveAndDrop(container, theirs)
            }
            let name = other.name ?? "nothing"
            if hooked.name != name { hooked.name = name }
        }
        hooked.count = 7
        try mine.save()
        #expect(hooked.name == "kept" && mine.unreportedErrors.isEmpty)
        theirs.refreshAllObjects()
        #expect(try theirs.existingObject(with: hooked.objectID, as: Hooked.self).name == "kept")
    }

    /// Contexts on several threads move money while another one drops the history again and again.
    @Test(arguments: RandomTesting.seeds) func nothingIsLost(seed: UInt64) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "dropped-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        // Two openings of one store know of each other's contexts, so only the trims by force go too far.
        let first = try RaceWorld.container(at: .url(url))
        let second = try RaceWorld.container(at: .url(url))
        defer {
            first.close()
            second.close()
        }
        try RaceWorld.fill(first)
        let isOver = Mutex(false)
        let trims = Task.detached {
            var random = SeededGenerator(seed: seed)
            while !isOver.withLock({ $0 }) {
                let isForced = Bool.random(using: &random)
                try second.truncateHistory(before: .now, holders: isForced ? .overridden : .respected)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...3, using: &random)))
            }
        }
        let transfers = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await (number.isMultiple(of: 2) ? first : second).performBackgroundTask { context in
                        try Self.transfers(context, seed: seed &* 10 &+ UInt64(number))
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        isOver.withLock { $0 = true }
        try await trims.value
        let end = try RaceWorld.state(first.newBackgroundContext())
        #expect(end.sum == Int64(RaceWorld.accountCount) * RaceWorld.balance && end.hits == Int64(2 * transfers))
        #expect(try first.verify().isSound)
    }

    /// - Returns: how many saves returned.
    private static func transfers(_ context: ManagedObjectContext, seed: UInt64) throws -> Int {
        var random = SeededGenerator(seed: seed)
        var count = 0
        var request = FetchRequest<ManagedObject>(entityName: "Account")
        request.sortDescriptors = [SortDescription("number")]
        for _ in 0..<60 {
            do {
                let accounts = try context.fetch(request)
                let (from, to) = (
                    accounts[Int.random(in: 0..<3, using: &random)], accounts[3 + Int.random(in: 0..<3, using: &random)]
                )
                for (account, amount) in [(from, Int64(-1)), (to, 1)] {
                    let balance = try account.value(forKey: "balance") as? Int64 ?? 0
                    let hits = try account.value(forKey: "hits") as? Int64 ?? 0
                    try account.setValue(balance + amount, forKey: "balance")
                    try account.setValue(hits + 1, forKey: "hits")
                }
            } catch let error as StrataError where error.code == .historyDropped {
                // What was read may be gone at any time.
                context.rollback()
                context.refreshAllObjects()
                continue
            }
            do {
                try context.save()
                count += 1
            } catch let error as StrataError where error.code == .merge {
                context.rollback()
                context.refreshAllObjects()
            }
        }
        #expect(context.unreportedErrors.isEmpty)
        return count
    }
}
