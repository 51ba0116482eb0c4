import Foundation
import StrataGraph
import StrataModel
import Testing

/// Questions about history that it has no answer to, or only just.
@Suite(.verifiesStores) struct HostileHistoryTests {
    let container: PersistentContainer
    let context: ManagedObjectContext

    init() throws {
        container = try makeContainer([Movie.self, FamilyMember.self] + graphEntities)
        context = container.newBackgroundContext()
    }

    private func save() throws -> TransactionNumber {
        try context.save()
        return try #require(try container.transactions().last).number
    }

    // MARK: Moments

    @Test func beforeTheFirstTransactionThereIsNothing() throws {
        let movie = Movie(context: context)
        movie.title = "A"
        _ = try save()
        for moment in [HistoryMoment.date(.distantPast), .event(.zero)] {
            let past = try container.context(asOf: moment)
            #expect(try past.fetch(FetchRequest<Movie>()).isEmpty && past.count(for: FetchRequest<Movie>()) == 0)
            #expect(thrownError { _ = try past.existingObject(with: movie.objectID) }?.code == .referentialIntegrity)
        }
        let future = try container.context(asOf: .date(.distantFuture))
        #expect(try future.count(for: FetchRequest<Movie>()) == 1)
    }

    @Test func whatIsNotYetInTheLogIsRefused() throws {
        Movie(context: context).title = "A"
        let last = try save()
        let beyond = EventNumber(rawValue: try container.head().rawValue + 1)
        #expect(thrownError { _ = try container.context(asOf: .event(beyond)) }?.code == .futureEvent)
        let next = TransactionNumber(rawValue: last.rawValue + 1)
        #expect(thrownError { _ = try container.context(asOf: .transaction(next)) }?.code == .futureEvent)
        #expect(thrownError { try context.revert(next) }?.code == .futureEvent)
        #expect(thrownError { try container.setTag("later", at: .event(beyond)) }?.code == .futureEvent)
        #expect(thrownError { _ = try container.context(asOf: .tag("none")) }?.code == .unknownKey)
    }

    @Test func aContextOfThePastStaysWhereItsTagWas() throws {
        let movie = Movie(context: context)
        movie.title = "A"
        _ = try save()
        try container.setTag("here")
        let past = try container.context(asOf: .tag("here"))
        movie.title = "B"
        _ = try save()
        try container.setTag("here")
        #expect(try past.existingObject(with: movie.objectID, as: Movie.self).title == "A")
        #expect(try container.removeTag("here"))
        past.refreshAllObjects()
        #expect(try past.existingObject(with: movie.objectID, as: Movie.self).title == "A")
    }

    @Test func aMomentWithinATransactionIsItsEnd() throws {
        for title in ["A", "B", "C"] { Movie(context: context).title = title }
        let transaction = try save()
        let record = try #require(try container.transactions().last { $0.number == transaction })
        let past = try container.context(asOf: .event(record.firstEvent))
        #expect(try past.count(for: FetchRequest<Movie>()) == 3 && past.eventNumber == record.lastEvent)
    }

    @Test func thePastIsAskedOverItsOwnLinksAndExplains() throws {
        let ann = FamilyMember(context: context), bob = FamilyMember(context: context)
        (ann.name, bob.name) = ("Ann", "Bob")
        for title in ["A", "B", "C"] {
            let movie = Movie(context: context)
            (movie.title, movie.familyMember) = (title, ann)
        }
        let then = try save()
        ann.favoriteMovies.first?.familyMember = bob
        (ann.name, bob.name) = ("Bob", "Ann")
        _ = try save()
        let past = try container.context(asOf: .transaction(then))
        let request = try FetchRequest<Movie>(format: "familyMember.name == %@", "Ann")
        #expect(try past.count(for: request) == 3 && context.count(for: request) == 1)
        let plan = try past.explain(request)
        #expect(plan.result.rows == 3)
        let owner = try past.existingObject(with: ann.objectID, as: FamilyMember.self)
        #expect(owner.name == "Ann" && owner.favoriteMovies.count == 3)
        #expect(owner.favoriteMovies.allSatisfy { $0.familyMember === owner })
    }

    // MARK: Taking back

    @Test func aTransactionWhoseObjectsAreGoneIsAConflict() throws {
        let movie = Movie(context: context), other = Movie(context: context)
        (movie.title, other.title) = ("A", "B")
        let made = try save()
        movie.title = "A2"
        other.title = "B2"
        let changed = try save()
        let id = movie.objectID
        context.delete(movie)
        let deleted = try save()
        let error = thrownError { try context.revert(changed) }
        #expect(error?.code == .merge && error?.context.conflicts.map(\.isDeletedInStore) == [true])
        #expect(!context.hasChanges && other.title == "B2")
        // What is gone stays gone where the store wins; the rest is taken back.
        try context.revert(changed, policy: .mergeByPropertyStoreTrump)
        #expect(other.title == "B" && context.updatedObjects == [other] && context.insertedObjects.isEmpty)
        _ = try save()
        #expect(try #require(try container.transactions().last).conflicts.map(\.conflict.objectID) == [id])
        // What made it has nothing left to take back of it.
        try context.revert(made, policy: .mergeByPropertyObjectTrump)
        #expect(context.deletedObjects == [other])
        context.rollback()
        // The deletion itself: it comes back as it was when it went.
        try context.revert(deleted)
        #expect(try context.existingObject(with: id, as: Movie.self).title == "A2")
        _ = try save()
    }

    @Test func aTransactionIsTakenBackAndThatTakenBack() throws {
        let person = Person(context: context), passport = Passport(context: context), club = Club(context: context)
        (person.name, passport.number, club.title) = ("p", "1", "c")
        _ = try save()
        person.passport = passport
        club.members.insert(person)
        let linked = try save()
        try context.revert(linked)
        #expect(person.passport == nil && passport.holder == nil && person.clubs.isEmpty)
        let reverted = try save()
        try context.revert(reverted)
        #expect(person.passport === passport && passport.holder === person && person.clubs.contains(club))
        _ = try save()
        // Once more changes nothing.
        try context.revert(reverted)
        #expect(try context.changes().isEmpty)
    }

    @Test func aOneToOneThatWentElsewhereIsAConflictOfTheRevert() throws {
        let people = ["a", "b"].map { name in
            let person = Person(context: context)
            person.name = name
            return person
        }
        let passport = Passport(context: context)
        passport.number = "1"
        people[0].passport = passport
        _ = try save()
        people[0].passport = nil
        let taken = try save()
        people[1].passport = passport
        _ = try save()
        #expect(thrownError { try context.revert(taken) }?.code == .merge)
        try context.revert(taken, policy: .mergeByPropertyStoreTrump)
        #expect(people[1].passport === passport && passport.holder === people[1] && people[0].passport == nil)
        context.rollback()
        try context.revert(taken, policy: .mergeByPropertyObjectTrump)
        #expect(people[0].passport === passport && passport.holder === people[0] && people[1].passport == nil)
        _ = try save()
    }

    // MARK: Subscriptions

    @Test(.timeLimit(.minutes(30))) func acknowledgementsOutOfOrderNeverGoBackNorResurrect() async throws {
        let mailer = try container.subscription(named: "mailer")
        for title in ["1", "2", "3"] {
            Movie(context: context).title = title
            _ = try save()
        }
        var iterator = try mailer.transactions().makeAsyncIterator()
        var tokens: [HistoryToken] = []
        while tokens.count < 3, let change = try await iterator.next() {
            if change.transaction.author == nil { tokens.append(change.token) }
        }
        try mailer.acknowledge(tokens[2])
        try mailer.acknowledge(tokens[0])
        try mailer.acknowledge(tokens[1])
        #expect(try mailer.acknowledged() == tokens[2])
        // A second consumer of the name is the same consumer.
        #expect(try container.subscription(named: "mailer", from: .event(.zero)).acknowledged() == tokens[2])
        #expect(try container.removeSubscription(named: "mailer"))
        #expect(thrownError { try mailer.acknowledge(tokens[2]) }?.code == .unknownKey)
        #expect(try container.subscriptions().isEmpty)
        let first = try container.subscription(named: "mailer", from: .event(.zero))
        var again = try first.transactions().makeAsyncIterator()
        #expect(try await again.next()?.transaction.number == container.transactions().first?.number)
    }
}
