import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct MergePolicyTests: TwoContextSuite {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init() throws { (container, mine, theirs) = try makeTwoContexts() }

    private func lastConflicts() throws -> [ConflictRecord] {
        try #require(try container.transactions().last).conflicts
    }

    private func stored(_ movie: Movie) throws -> (title: String, rating: Double)? {
        let fresh = container.newBackgroundContext()
        guard let object = try? fresh.existingObject(with: movie.objectID, as: Movie.self) else { return nil }
        return (object.title, object.rating)
    }

    /// Both change the rating, each another property too: title mine, rating of the others.
    private func conflictingRatings(_ policy: MergePolicy) throws -> Movie {
        let (a, b) = try sharedMovie()
        a.rating = 1
        b.rating = 2
        b.title = "Theirs"
        try theirs.save()
        mine.mergePolicy = policy
        try mine.save()
        #expect(!mine.hasChanges)
        return a
    }

    @Test func storeTrumpTakesTheirValue() throws {
        let movie = try conflictingRatings(.mergeByPropertyStoreTrump)
        #expect(movie.rating == 2 && movie.title == "Theirs")
        #expect(try stored(movie)! == ("Theirs", 2))
    }

    @Test func objectTrumpKeepsMyValueAndMergesTheRest() throws {
        let movie = try conflictingRatings(.mergeByPropertyObjectTrump)
        #expect(movie.rating == 1 && movie.title == "Theirs")
        #expect(try stored(movie)! == ("Theirs", 1))
        let record = try #require(try lastConflicts().first)
        #expect(record.winner == .mine && record.policy == "mergeByPropertyObjectTrump")
        #expect(
            record.conflict.properties == [
                .init(name: "rating", base: .double(0), theirs: .double(2), mine: .double(1))
            ])
        #expect(try container.transactions().last?.metadata.isEmpty == true)
    }

    @Test func overwriteSavesTheWholeObject() throws {
        let movie = try conflictingRatings(.overwrite)
        #expect(try stored(movie)! == ("A", 1))
    }

    @Test func rollbackLeavesTheObjectAsInTheStore() throws {
        let (a, b) = try sharedMovie()
        a.rating = 1
        a.title = "Mine"
        b.rating = 2
        try theirs.save()
        mine.mergePolicy = .rollback
        try mine.save()
        #expect(a.rating == 2 && a.title == "A" && !a.isUpdated)
        #expect(try stored(a)! == ("A", 2))
    }

    @Test func aCustomResolverSeesThreeValuesAndTheEventsBehindTheirs() throws {
        let (a, b) = try sharedMovie()
        a.rating = 1
        theirs.transactionAuthor = "them"
        b.rating = 2
        try theirs.save()
        b.rating = 3
        try theirs.save()
        mine.mergePolicy = .custom("mean") { conflict, events in
            #expect(events.map(\.author) == ["them", "them"] && events.map(\.kind) == [.updated, .updated])
            let property = conflict.properties[0]
            #expect(property.base == .double(0) && property.theirs == .double(3) && property.mine == .double(1))
            return .values(["rating": .double(2)])
        }
        try mine.save()
        #expect(try stored(a)! == ("A", 2))
        #expect(try lastConflicts().map(\.policy) == ["mean"])
    }

    @Test func aCustomResolverMayRefuse() throws {
        let (a, b) = try sharedMovie()
        a.rating = 1
        b.rating = 2
        try theirs.save()
        mine.mergePolicy = .custom { _, _ in .fail }
        #expect(thrownError { try mine.save() }?.code == .merge)
        #expect(a.rating == 1 && mine.hasChanges)
        mine.mergePolicy = .custom { _, _ in .values(["nonsense": .null]) }
        #expect(thrownError { try mine.save() }?.code == .unknownKey)
    }

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func whatOthersDeletedStaysDeletedWhenTheStoreWins(policy: MergePolicy) throws {
        let (a, b) = try sharedMovie()
        a.rating = 1
        let other = Movie(context: mine)
        other.title = "Other"
        theirs.delete(b)
        try theirs.save()
        mine.mergePolicy = policy
        try mine.save()
        #expect(try stored(a) == nil)
        #expect(try stored(other)! == ("Other", 0))
        #expect(try lastConflicts().first?.conflict.isDeletedInStore == true)
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func whatOthersDeletedIsMadeAgainWhenTheContextWins(policy: MergePolicy) throws {
        let (a, b) = try sharedMovie()
        a.rating = 1
        theirs.delete(b)
        try theirs.save()
        mine.mergePolicy = policy
        try mine.save()
        #expect(try stored(a)! == ("A", 1))
        #expect(!a.isInserted && !mine.hasChanges)
        a.rating = 2
        try mine.save()
        #expect(try stored(a)! == ("A", 2))
        #expect(try container.history(of: a.objectID).map(\.kind) == [.updated, .inserted, .deleted, .inserted])
        #expect(try container.verify().isSound)
    }

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func myDeletionIsTakenBackWhenTheStoreWins(policy: MergePolicy) throws {
        let (a, b) = try sharedMovie()
        mine.delete(a)
        b.rating = 2
        try theirs.save()
        mine.mergePolicy = policy
        try mine.save()
        #expect(try stored(a)! == ("A", 2))
        #expect(a.rating == 2 && !a.isDeleted)
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func myDeletionStandsWhenTheContextWins(policy: MergePolicy) throws {
        let (a, b) = try sharedMovie()
        mine.delete(a)
        b.rating = 2
        try theirs.save()
        mine.mergePolicy = policy
        try mine.save()
        #expect(try stored(a) == nil)
        #expect(try lastConflicts().first?.winner == .mine)
    }

    @Test(arguments: [
        MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ])
    func aLinkToWhatOthersDeletedIsCut(policy: MergePolicy) throws {
        let owner = FamilyMember(context: mine)
        owner.name = "Ann"
        try mine.save()
        theirs.refreshAllObjects()
        let movie = Movie(context: mine)
        movie.title = "A"
        movie.familyMember = owner
        theirs.delete(try theirs.existingObject(with: owner.objectID))
        try theirs.save()
        mine.mergePolicy = policy
        try mine.save()
        #expect(movie.familyMember == nil)
        #expect(try stored(movie)?.title == "A")
        #expect(try container.verify().isSound)
    }

    // MARK: Members of what goes

    /// An owner with two movies in both contexts; mine deletes the owner, and the movies with it.
    private func deletedOwner() throws -> (owner: FamilyMember, movies: [Movie], theirs: [Movie]) {
        let owner = FamilyMember(context: mine)
        owner.name = "Ann"
        let movies = ["A", "B"].map { title in
            let movie = Movie(context: mine)
            movie.title = title
            movie.familyMember = owner
            return movie
        }
        try mine.save()
        theirs.refreshAllObjects()
        mine.delete(owner)
        return (owner, movies, try movies.map { try theirs.existingObject(with: $0.objectID, as: Movie.self) })
    }

    @Test(arguments: [
        MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ])
    func aMemberThatOthersChangedGoesWithItsOwner(policy: MergePolicy) throws {
        let (owner, movies, theirMovies) = try deletedOwner()
        theirMovies[0].rating = 2
        try theirs.save()
        #expect(thrownError { try mine.save() }?.context.conflicts.map(\.objectID) == [movies[0].objectID])
        mine.mergePolicy = policy
        try mine.save()
        #expect(!mine.hasChanges)
        let fresh = container.newBackgroundContext()
        #expect(try fresh.count(for: FetchRequest<Movie>()) == 0)
        #expect(try fresh.count(for: FetchRequest<FamilyMember>()) == 0)
        // Nothing that they did is lost silently.
        let record = try #require(try lastConflicts().first)
        #expect(record.winner == .mine && record.policy == policy.name && record.conflict.isDeletedHere)
        #expect(record.conflict.objectID == movies[0].objectID)
        #expect(record.conflict.properties.map(\.theirs) == [.double(2)])
        #expect(try lastConflicts().count == 1 && owner.managedObjectContext == nil)
    }

    @Test func aMemberThatOthersMovedAwayStaysWhenTheStoreWins() throws {
        let (_, movies, theirMovies) = try deletedOwner()
        let other = FamilyMember(context: theirs)
        other.name = "Bob"
        theirMovies[0].familyMember = other
        try theirs.save()
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try mine.save()
        let fresh = container.newBackgroundContext()
        #expect(try fresh.fetch(FetchRequest<Movie>()).map(\.title) == ["A"])
        #expect(try fresh.fetch(FetchRequest<Movie>()).first?.familyMember?.name == "Bob")
        #expect(try lastConflicts().map(\.winner) == [.theirs])
        let mineOther = try mine.existingObject(with: other.objectID, as: FamilyMember.self)
        #expect(mineOther.favoriteMovies.map(\.objectID) == [movies[0].objectID])
    }

    @Test func aMemberThatOthersChangedComesBackWithAnOwnerThatDoes() throws {
        let (owner, _, theirMovies) = try deletedOwner()
        theirMovies[0].rating = 2
        try theirs.existingObject(with: owner.objectID, as: FamilyMember.self).name = "Anna"
        try theirs.save()
        mine.mergePolicy = .mergeByPropertyStoreTrump
        Movie(context: mine).title = "C"
        try mine.save()
        let fresh = container.newBackgroundContext()
        #expect(try fresh.fetch(FetchRequest<FamilyMember>()).map(\.name) == ["Anna"])
        // The member that others left alone went only with its owner.
        #expect(try fresh.fetch(FetchRequest<Movie>()).map(\.rating) == [2, 0, 0])
        #expect(try lastConflicts().map(\.winner) == [.theirs, .theirs])
    }

    @Test func numbersAreCoreDatas() {
        #expect(
            [
                MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
            ].map(\.rawValue) == [0, 1, 2, 3, 4])
    }

    // MARK: Unique values

    private func clash() throws -> (mine: Passport, holder: Person, theirs: ObjectID) {
        let other = Passport(context: theirs)
        other.number = "1"
        try theirs.save()
        let passport = Passport(context: mine)
        passport.number = "1"
        let holder = Person(context: mine)
        holder.name = "Ann"
        passport.holder = holder
        return (passport, holder, other.objectID)
    }

    @Test func anErrorPolicyRefusesATakenValue() throws {
        let (passport, _, other) = try clash()
        let error = thrownError { try mine.save() }
        #expect(error?.code == .constraintMerge)
        #expect(error?.details.isEmpty ?? false)
        #expect(error?.context.key == "number" && error?.context.value == "1")
        #expect(error?.context.objectID == passport.objectID && error?.context.conflictingObjectIDs == [other])
        #expect(passport.isInserted && mine.hasChanges)
    }

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback])
    func aNewObjectGivesWayToTheStoredOne(policy: MergePolicy) throws {
        let (passport, holder, other) = try clash()
        mine.mergePolicy = policy
        try mine.save()
        #expect(passport.managedObjectContext == nil)
        let fresh = container.newBackgroundContext()
        let all = try fresh.fetch(FetchRequest<Passport>())
        #expect(all.map(\.objectID) == [other] && all.first?.number == "1")
        #expect(all.first?.holder?.objectID == holder.objectID)
        #expect(holder.passport?.objectID == other)
        let record = try #require(try lastConflicts().first)
        #expect(record.conflict.properties.first?.name == "number")
        #expect(record.winner == (policy.rawValue == 2 || policy.rawValue == 3 ? .mine : .theirs))
        #expect(try container.verify().isSound)
    }

    @Test func aSavedObjectTakesItsValueBackWhenTheStoreWins() throws {
        let passport = Passport(context: mine)
        passport.number = "2"
        try mine.save()
        let other = Passport(context: theirs)
        other.number = "1"
        try theirs.save()
        passport.number = "1"
        mine.mergePolicy = .mergeByPropertyObjectTrump
        #expect(thrownError { try mine.save() }?.code == .constraintMerge)
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try mine.save()
        #expect(passport.number == "2")
    }

    @Test func twoNewObjectsOfOneSaveCannotShareAValue() throws {
        for _ in 0..<2 { Passport(context: mine).number = "7" }
        #expect(thrownError { try mine.save() }?.code == .constraintMerge)
    }

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback])
    func theFirstOfNewObjectsWithOneUniqueValueStands(policy: MergePolicy) throws {
        mine.mergePolicy = policy
        let all = (0..<3).map { _ in Passport(context: mine) }
        let holders = (0..<3).map { _ in Person(context: mine) }
        for (passport, holder) in zip(all, holders) {
            (passport.number, holder.name, holder.passport) = ("7", "Ann", passport)
        }
        try mine.save()
        let fresh = container.newBackgroundContext()
        #expect(try fresh.fetch(FetchRequest<Passport>()).map(\.objectID) == [all[0].objectID])
        #expect(try fresh.count(for: FetchRequest<Person>()) == 3)
        #expect(all[1].managedObjectContext == nil && all[2].managedObjectContext == nil)
        // Beside one that is stored.
        for _ in 0..<2 { Passport(context: mine).number = "7" }
        try mine.save()
        #expect(try mine.fetch(FetchRequest<Passport>()).map(\.objectID) == [all[0].objectID])
        let child = try mine.newChildContext()
        Passport(context: child).number = "8"
        Passport(context: mine).number = "8"
        try child.save()
        try mine.save()
        #expect(try mine.count(for: FetchRequest<Passport>()) == 2)
    }
}
