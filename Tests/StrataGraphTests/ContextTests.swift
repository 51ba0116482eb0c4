import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct ContextTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer()
        context = container.newBackgroundContext()
    }

    private func movie(_ title: String, _ rating: Double = 0) -> Movie {
        let movie = Movie(context: context)
        movie.title = title
        movie.rating = rating
        return movie
    }

    @Test func faultsThatAreHeldAreReadWhenTheirContextGoes() throws {
        for title in ["A", "B"] { _ = movie(title) }
        try context.save()
        let titles = try container.newBackgroundContext().fetch(
            FetchRequest<Movie>(sortedBy: [SortDescription("title")])
        ).map(\.title)
        #expect(titles == ["A", "B"])

        var other: ManagedObjectContext? = container.newBackgroundContext()
        let held = try #require(try other?.fetch(FetchRequest<Movie>(where: .equal("title", "A"))).first)
        let gone = try #require(try other?.fetch(FetchRequest<Movie>(where: .equal("title", "B"))).first)
        #expect(held.isFault && gone.isFault)
        for movie in try context.fetch(FetchRequest<Movie>()) {
            if movie.title == "A" { movie.title = "changed" } else { context.delete(movie) }
        }
        try context.save()
        other = nil
        #expect(held.title == "A" && gone.title == "B")
        #expect(held.managedObjectContext == nil && !held.isFault)
    }

    @Test func thereIsOneObjectForEachID() throws {
        let first = movie("A")
        try context.save()
        #expect(context.object(with: first.objectID) === first)
        #expect(try context.existingObject(with: first.objectID) === first)
        #expect(context.registeredObject(for: first.objectID) === first)
        #expect(try context.fetch(FetchRequest<Movie>()).first === first)
    }

    @Test func objectsComeAsFaultsAndFireWhenRead() throws {
        let id = movie("A", 3).objectID
        try context.save()
        let other = container.newBackgroundContext()
        let fault = try #require(other.object(with: id) as? Movie)
        #expect(fault.isFault && other.registeredObjects.count == 1)
        #expect(fault.rating == 3 && !fault.isFault)
        var request = FetchRequest<Movie>()
        request.returnsObjectsAsFaults = false
        let third = container.newBackgroundContext()
        #expect(try third.fetch(request).first?.isFault == false)
    }

    @Test func anIDOfNothingIsAnErrorOnlyWhenAskedFor() throws {
        let id = movie("A").objectID
        context.rollback()
        #expect(thrownError { _ = try context.existingObject(with: id) }?.code == .referentialIntegrity)
        #expect(context.registeredObject(for: id) == nil)
        let ghost = try #require(context.object(with: id) as? Movie)
        #expect(ghost.isFault && ghost.title == "" && ghost.isDeleted)
        #expect(
            thrownError { _ = try context.existingObject(with: ObjectID(rawValue: 1 << 63)) }?.code
                == .referentialIntegrity)
    }

    @Test func aContextThatRetainsObjectsKeepsThemUntilItIsToldOtherwise() throws {
        for number in 0..<10_000 { _ = movie("\(number)") }
        try context.save()
        let other = container.newBackgroundContext()
        other.retainsRegisteredObjects = true
        _ = try other.fetch(FetchRequest<Movie>())
        try other.save()
        #expect(other.registeredObjects.count == 10_000)
        other.retainsRegisteredObjects = false
        let fresh = Movie(context: other)
        fresh.title = "saved, which lets go of the rest"
        try other.save()
        #expect(other.registeredObjects.count < 1000)
        other.retainsRegisteredObjects = true
        other.reset()
        #expect(other.registeredObjects.isEmpty)
    }

    @Test func unreferencedCleanObjectsLeaveMemory() throws {
        for number in 0..<20_000 { _ = movie("\(number)") }
        try context.save()
        #expect(context.registeredObjects.count < 1000)
        let other = container.newBackgroundContext()
        for object in try other.fetch(FetchRequest<Movie>()) where object.title == "x" { Issue.record("no such title") }
        let kept = try #require(try other.fetch(FetchRequest<Movie>()).first)
        kept.title = "changed"
        let id = kept.objectID
        for _ in 0..<3 { for object in try other.fetch(FetchRequest<Movie>()) { _ = object.title } }
        #expect((other.object(with: id) as? Movie)?.title == "changed")
    }

    @Test func rollbackBringsEverythingBack() throws {
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        let first = movie("A", 1), second = movie("B", 2)
        first.familyMember = owner
        try context.save()
        first.rating = 5
        first.title = "changed"
        first.familyMember = nil
        second.familyMember = owner
        context.delete(second)
        let new = movie("C")
        new.familyMember = owner
        #expect(owner.favoriteMovies.map(\.title) == ["C"])
        context.rollback()
        #expect(first.rating == 1 && first.title == "A" && first.familyMember === owner)
        #expect(second.familyMember == nil && !second.isDeleted && second.title == "B")
        #expect(new.managedObjectContext == nil && owner.favoriteMovies.map(\.title) == ["A"])
        #expect(!context.hasChanges && context.updatedObjects.isEmpty)
        second.rating = 4
        try context.save()
        #expect(second.rating == 4)
    }

    @Test func refreshDropsOrKeepsChanges() throws {
        let first = movie("A", 1)
        try context.save()
        let other = container.newBackgroundContext()
        let theirs = try other.existingObject(with: first.objectID, as: Movie.self)
        theirs.rating = 2
        try other.save()
        first.title = "mine"
        #expect(first.rating == 1)
        context.refresh(first, mergeChanges: true)
        #expect(first.title == "mine" && first.rating == 2)
        context.refresh(first, mergeChanges: false)
        #expect(first.isFault && first.title == "A" && first.rating == 2 && !context.hasChanges)
    }

    @Test func aContextStaysWhereItStandsUntilItMoves() throws {
        let first = movie("A", 1)
        try context.save()
        let other = container.newBackgroundContext()
        let reader = container.newBackgroundContext()
        let theirs = try other.existingObject(with: first.objectID, as: Movie.self)
        theirs.rating = 2
        let added = Movie(context: other)
        added.title = "B"
        try other.save()
        #expect(try reader.existingObject(with: first.objectID, as: Movie.self).rating == 1)
        #expect(try reader.count(for: FetchRequest<Movie>()) == 1)
        reader.refreshAllObjects()
        #expect(try reader.existingObject(with: first.objectID, as: Movie.self).rating == 2)
        #expect(try reader.count(for: FetchRequest<Movie>()) == 2)
        context.automaticallyMergesChangesFromParent = true
        #expect(try context.count(for: FetchRequest<Movie>()) == 2 && first.rating == 2)
    }

    @Test func resetForgetsEverything() throws {
        let first = movie("A")
        try context.save()
        first.title = "changed"
        _ = movie("B")
        context.reset()
        #expect(!context.hasChanges && context.registeredObjects.isEmpty && first.managedObjectContext == nil)
        #expect(try context.existingObject(with: first.objectID, as: Movie.self).title == "A")
    }

    @Test func resetIsAnnounced() throws {
        let (first, second) = (movie("A"), movie("B"))
        try context.save()
        let third = movie("new")
        var heard: [ContextChanges] = []
        let observation = context.observe(.objectsDidChange) { heard.append($0) }
        let other = container.newBackgroundContext()
        Movie(context: other).title = "C"
        try other.save()
        context.reset()
        #expect(heard.count == 1 && heard.first?.eventNumber == other.eventNumber)
        #expect(heard.first?.invalidatedObjectIDs == [first.objectID, second.objectID, third.objectID])
        #expect(heard.first?.deletedObjectIDs == [] && heard.first?.refreshedObjectIDs == [])
        context.reset()
        #expect(heard.count == 1)
        withExtendedLifetime(observation) {}
    }

    @Test func refreshingANewObjectChangesNothing() throws {
        let new = movie("A", 2)
        for merges in [true, false] {
            context.refresh(new, mergeChanges: merges)
            #expect(new.title == "A" && new.rating == 2 && new.isInserted && !new.isFault)
        }
        try context.save()
        #expect(try container.newBackgroundContext().count(for: FetchRequest<Movie>()) == 1)
    }

    @Test func theFirstTransactionOfAStoreInstallsTheModel() throws {
        let fresh = try makeContainer()
        #expect(try fresh.transactions(after: .zero).map(\.number.rawValue) == [1])
        let events = try fresh.events(through: fresh.head())
        #expect(try events.map(\.kind) == [.modelInstalled] && fresh.currentHistoryToken().transactionNumber == 1)
        let context = fresh.newBackgroundContext()
        Movie(context: context).title = "A"
        try context.save()
        #expect(try fresh.transactions(after: .zero).map(\.number.rawValue) == [1, 2])
    }

    @Test func objectsOutliveTheirContextHarmlessly() throws {
        var short: ManagedObjectContext? = container.newBackgroundContext()
        let object = Movie(context: try #require(short))
        object.title = "A"
        short = nil
        #expect(object.managedObjectContext == nil && object.title == "A")
        object.title = "B"
        #expect(object.familyMember == nil)
    }

    @Test func aPastContextShowsWhatWasAndCannotBeChanged() throws {
        let owner = FamilyMember(context: context)
        owner.name = "Ann"
        let first = movie("A", 1)
        first.familyMember = owner
        try context.save()
        let then = context.eventNumber
        first.rating = 2
        first.familyMember = nil
        owner.name = "Renamed"
        _ = movie("B")
        try context.save()
        let past = try container.context(asOf: .event(then))
        let old = try past.existingObject(with: first.objectID, as: Movie.self)
        #expect(old.rating == 1 && old.familyMember?.name == "Ann")
        #expect(old.familyMember?.favoriteMovies.map(\.title) == ["A"])
        #expect(try past.count(for: FetchRequest<Movie>()) == 1)
        old.rating = 5
        #expect(old.rating == 1)
        #expect(thrownError { try old.setValue(5, forKey: "rating") }?.code == .readOnly)
        #expect(thrownError { try past.save() }?.code == .readOnly)
        past.refreshAllObjects()
        #expect(past.eventNumber == then)
        let new = Movie(context: past)
        #expect(new.managedObjectContext == nil)
        #expect(thrownError { try past.save() }?.code == .readOnly)
    }
}
