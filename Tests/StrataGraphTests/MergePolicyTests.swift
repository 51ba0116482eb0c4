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
        #expect(error?.details.first?.context.conflictingObjectIDs == [other])
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
        mine.mergePolicy = .mergeByPropertyObjectTrump
        #expect(thrownError { try mine.save() }?.code == .constraintMerge)
    }
}
