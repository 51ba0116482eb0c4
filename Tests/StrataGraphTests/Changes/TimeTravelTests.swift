import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct TimeTravelTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer([Movie.self, FamilyMember.self] + graphEntities)
        context = container.newBackgroundContext()
    }

    private func save(_ reason: String? = nil, by author: String? = nil) throws -> TransactionNumber {
        context.transactionReason = reason
        context.transactionAuthor = author
        try context.save()
        return try #require(try container.transactions().last?.number)
    }

    private func movie(_ title: String) -> Movie {
        let movie = Movie(context: context)
        movie.title = title
        return movie
    }

    // MARK: Who, when, why

    @Test func transactionsSayWhyAndWhatTheyBelongTo() throws {
        _ = movie("A")
        context.transactionCorrelationID = "request 7"
        context.transactionMetadata = ["screen": "list"]
        _ = try save("import", by: "ann")
        let transaction = try #require(try container.transactions().last)
        #expect(transaction.reason == "import" && transaction.author == "ann")
        #expect(transaction.correlationID == "request 7" && transaction.metadata == ["screen": "list"])
    }

    @Test func batchesSayWhyAndWhatTheyBelongToToo() throws {
        (context.name, context.transactionAuthor) = ("importer", "ann")
        (context.transactionReason, context.transactionCorrelationID) = ("import", "request 7")
        context.transactionMetadata = ["file": "movies.csv"]
        _ = try context.execute(BatchInsertRequest<Movie>([["title": .string("A")], ["title": .string("B")]]))
        _ = try context.execute(BatchUpdateRequest<Movie>(setting: ["rating": .constant(.double(3))]))
        _ = try context.execute(BatchDeleteRequest<Movie>())
        let transactions = try container.transactions().suffix(3)
        #expect(Set(transactions.map(\.id)).count == 3)
        for transaction in transactions {
            #expect(transaction.reason == "import" && transaction.author == "ann")
            #expect(transaction.correlationID == "request 7" && transaction.metadata == ["file": "movies.csv"])
            #expect(transaction.contextName == "importer")
        }
    }

    @Test func blameNamesTheEventBehindEachProperty() throws {
        let movie = movie("A")
        let first = try save(by: "ann")
        movie.rating = 3
        let second = try save(by: "ben")
        movie.rating = 4
        let third = try save(by: "cat")
        let blame = try container.blame(movie.objectID)
        #expect(blame["title"]?.transaction.number == first && blame["title"]?.author == "ann")
        #expect(blame["rating"]?.transaction.number == third && blame["rating"]?.author == "cat")
        #expect(second < third)
    }

    @Test func theHistoryOfAnObjectHasItsLinks() throws {
        let person = Person(context: context)
        person.name = "P"
        let club = Club(context: context)
        club.title = "C"
        _ = try save()
        person.clubs.insert(club)
        _ = try save()
        club.members.remove(person)
        _ = try save()
        #expect(try container.history(of: person.objectID).map(\.kind) == [.unlinked, .linked, .inserted])
        #expect(try container.history(of: club.objectID).map(\.kind) == [.unlinked, .linked, .inserted])
    }

    // MARK: Tags

    @Test func tagsNameMomentsAndMove() throws {
        let movie = movie("A")
        _ = try save()
        try container.setTag("first", author: "ann")
        movie.title = "B"
        _ = try save()
        let past = try container.context(asOf: .tag("first"))
        #expect(try past.existingObject(with: movie.objectID, as: Movie.self).title == "A")
        #expect(try container.tags().keys.sorted() == ["first"])
        let event = try #require(try container.events(through: try container.head()).last { $0.kind == .maintenance })
        #expect(event.author == "ann" && event.changes.first?.after == .string("first"))
        try container.setTag("first", at: .now)
        let moved = try container.context(asOf: .tag("first"))
        #expect(try moved.existingObject(with: movie.objectID, as: Movie.self).title == "B")
        #expect(try container.removeTag("first"))
        #expect(try !container.removeTag("first"))
        #expect(throws: StrataError.self) { try container.context(asOf: .tag("first")) }
        #expect(throws: StrataError.self) { try container.setTag("") }
        #expect(throws: StrataError.self) { try container.setTag(String(repeating: "x", count: 500)) }
    }

    @Test func tagsSurviveARebuildAndAReopening() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-tags-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try makeContainer([Movie.self, FamilyMember.self], at: .url(directory))
        let context = store.newBackgroundContext()
        Movie(context: context).title = "A"
        try context.save()
        try store.setTag("kept", at: .event(context.eventNumber))
        #expect(try store.rebuildViews().isUnchanged)
        #expect(try store.verify().isSound)
        let eventNumber = try store.eventNumber(at: .tag("kept"))
        store.close()
        let again = try makeContainer([Movie.self, FamilyMember.self], at: .url(directory))
        #expect(try again.eventNumber(at: .tag("kept")) == eventNumber)
        again.close()
    }

    // MARK: Differences

    @Test func changesBetweenTwoMomentsLeaveOutTheSteps() throws {
        let kept = movie("A")
        let gone = movie("G")
        let start = try save()
        kept.title = "B"
        let brief = movie("brief")
        _ = try save()
        kept.title = "C"
        context.delete(brief)
        context.delete(gone)
        let new = movie("N")
        let end = try save()
        let changes = try container.changes(from: .transaction(start), to: .transaction(end))
        #expect(Set(changes.map(\.objectID)) == [kept.objectID, gone.objectID, new.objectID])
        let byID = Dictionary(uniqueKeysWithValues: changes.map { ($0.objectID, $0) })
        #expect(byID[kept.objectID]?.kind == .updated)
        #expect(byID[kept.objectID]?["title"]?.before == .string("A"))
        #expect(byID[kept.objectID]?["title"]?.after == .string("C"))
        #expect(byID[gone.objectID]?.kind == .deleted && byID[new.objectID]?.kind == .inserted)
        let back = try container.changes(of: kept.objectID, from: .transaction(end), to: .transaction(start))
        #expect(back?["title"]?.after == .string("A"))
        #expect(try container.changes(from: .transaction(end), to: .now).isEmpty)
        #expect(throws: StrataError.self) {
            try container.changes(from: .transaction(start), to: .transaction(TransactionNumber(rawValue: 999)))
        }
    }

    /// The oldest state has no objects, or is the one where a truncated history begins.
    @Test func theBeginningIsAMoment() throws {
        let first = movie("A")
        _ = try save()
        first.title = "B"
        _ = try save()
        // A context that is held would keep the state that it shows.
        #expect(try container.context(asOf: .beginning).count(for: FetchRequest<Movie>()) == 0)
        #expect(try container.changes(from: .beginning, to: .now).map(\.kind) == [.inserted])
        let truncation = try container.truncateHistory(before: .now)
        let later = try container.context(asOf: .beginning)
        #expect(later.eventNumber == truncation.baseline?.eventNumber)
        #expect(try later.existingObject(with: first.objectID, as: Movie.self).title == "B")
    }

    /// An object has its entity's name wherever it is printed.
    @Test func aDeletedObjectNamesWhatItLedTo() throws {
        let member = FamilyMember(context: context)
        member.name = "Ann"
        let film = movie("A")
        film.familyMember = member
        _ = try save()
        context.delete(film)
        _ = try save()
        let deleted = try #require(try container.deletedObject(film.objectID))
        #expect("\(deleted)".contains("familyMember: FamilyMember/p\(member.objectID.row)"), "\(deleted)")
    }

    @Test func linksAreToldOnce() throws {
        let person = Person(context: context)
        person.name = "P"
        let club = Club(context: context)
        club.title = "C"
        let start = try save()
        person.clubs.insert(club)
        let end = try save()
        let changes = try container.changes(from: .transaction(start), to: .transaction(end))
        #expect(changes.count == 1 && changes[0].links.count == 1)
        #expect(changes[0].kind == .updated && changes[0].links[0].added.count == 1)
    }

    @Test func deletedObjectsKeepTheirLastValues() throws {
        let movie = movie("A")
        _ = try save()
        movie.rating = 2
        _ = try save()
        #expect(try container.deletedObject(movie.objectID) == nil)
        context.delete(movie)
        _ = try save("cleaning", by: "ann")
        let gone = try #require(try container.deletedObject(movie.objectID))
        #expect(gone.values["title"] == .string("A") && gone.values["rating"] == .double(2))
        #expect(gone.event.transaction.reason == "cleaning" && gone.entityName == "Movie")
        #expect(try container.deletedObjects(ofEntity: "Movie") == [gone])
        #expect(throws: StrataError.self) { try container.deletedObjects(ofEntity: "Moovie") }
    }

    // MARK: Going back

    @Test func aTransactionIsTakenBackAsANewOne() throws {
        let kept = movie("A")
        let gone = movie("G")
        let owner = FamilyMember(context: context)
        owner.name = "O"
        gone.familyMember = owner
        _ = try save()
        let goneID = gone.objectID
        kept.title = "B"
        context.delete(gone)
        let new = movie("N")
        let bad = try save()
        try context.revert(bad)
        #expect(kept.title == "A" && new.isDeleted)
        let back = try context.existingObject(with: goneID, as: Movie.self)
        #expect(back.title == "G" && back.familyMember === owner)
        #expect(owner.favoriteMovies.map(\.objectID) == [goneID])
        _ = try save("revert")
        let now = try container.context(asOf: .now)
        #expect(try now.fetch(FetchRequest<Movie>()).map(\.title).sorted() == ["A", "G"])
        #expect(try container.history(of: goneID).map(\.kind) == [.inserted, .deleted, .inserted])
    }

    @Test func whatWasChangedSinceIsAConflict() throws {
        let movie = movie("A")
        _ = try save()
        movie.title = "B"
        movie.rating = 1
        let bad = try save()
        movie.title = "C"
        _ = try save()
        let error = try #require(throws: StrataError.self) { try context.revert(bad) }
        #expect(error.code == .merge && !context.hasChanges)
        let property = try #require(error.context.conflicts.first?.properties.first)
        #expect(property.name == "title" && property.base == .string("B"))
        #expect(property.theirs == .string("C") && property.mine == .string("A"))
        try context.revert(bad, policy: .mergeByPropertyStoreTrump)
        #expect(movie.title == "C" && movie.rating == 0)
        context.rollback()
        try context.revert(bad, policy: .mergeByPropertyObjectTrump)
        #expect(movie.title == "A" && movie.rating == 0)
    }

    @Test func anObjectIsRestoredAsItWas() throws {
        let movie = movie("A")
        let owner = FamilyMember(context: context)
        owner.name = "O"
        movie.familyMember = owner
        _ = try save()
        let then = context.eventNumber
        movie.title = "B"
        movie.familyMember = nil
        _ = try save()
        try context.restore(movie.objectID, at: then)
        #expect(movie.title == "A" && movie.familyMember === owner)
        _ = try save()
        let id = movie.objectID
        context.delete(movie)
        _ = try save()
        let again = try #require(try context.restore(id, at: then) as? Movie)
        #expect(again.title == "A" && again.objectID == id)
        _ = try save()
        #expect(try context.restore(id, at: .zero) == nil)
        _ = try save()
        #expect(try container.context(asOf: .now).count(for: FetchRequest<Movie>()) == 0)
    }
}
