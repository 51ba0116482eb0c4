import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct MergeTests: TwoContextSuite {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init() throws { (container, mine, theirs) = try makeTwoContexts() }

    @Test func differentAttributesNeverConflict() throws {
        let (a, b) = try sharedMovie()
        a.title = "Mine"
        b.rating = 3
        try theirs.save()
        try mine.save()
        #expect(a.title == "Mine" && a.rating == 3)
        theirs.refreshAllObjects()
        #expect(b.title == "Mine" && b.rating == 3)
    }

    @Test func theSameAttributeIsAConflictWithThreeValues() throws {
        let (a, b) = try sharedMovie()
        a.rating = 1
        a.title = "Mine"
        b.rating = 2
        try theirs.save()
        let before = mine.eventNumber
        let error = thrownError { try mine.save() }
        #expect(error?.code == .merge && error?.context.conflicts.count == 1)
        let conflict = try #require(error?.context.conflicts.first)
        #expect(conflict.objectID == a.objectID && !conflict.isDeletedInStore && !conflict.isDeletedHere)
        #expect(
            conflict.properties == [
                .init(name: "rating", base: .double(0), theirs: .double(2), mine: .double(1))
            ])
        #expect(a.rating == 1 && a.title == "Mine" && mine.hasChanges && mine.eventNumber == before)
        mine.rollback()
        mine.refreshAllObjects()
        #expect(a.rating == 2)
    }

    /// Both read 0 and added 2: merged silently, one of the two would be lost.
    @Test func theSameValueOnBothSidesIsAConflict() throws {
        let (a, b) = try sharedMovie()
        a.rating = 2
        b.rating = 2
        try theirs.save()
        #expect(thrownError { try mine.save() }?.code == .merge)
        mine.mergePolicy = .custom { conflict, _ in
            guard case .double(let base)? = conflict.properties.first?.base,
                case .double(let theirs)? = conflict.properties.first?.theirs,
                case .double(let mine)? = conflict.properties.first?.mine
            else { return .fail }
            return .values(["rating": .double(theirs + mine - base)])
        }
        try mine.save()
        #expect(a.rating == 4)
    }

    @Test func theSameValueOnBothSidesOverrulesNobody() throws {
        let (a, b) = try sharedMovie()
        a.rating = 2
        b.rating = 2
        try theirs.save()
        mine.mergePolicy = .mergeByPropertyStoreTrump
        try mine.save()
        #expect(a.rating == 2 && !mine.hasChanges)
        #expect(try container.transactions().allSatisfy(\.conflicts.isEmpty))
    }

    @Test func theSameTargetOnBothSidesIsNoConflict() throws {
        let owner = FamilyMember(context: mine)
        owner.name = "O"
        let (a, b) = try sharedMovie()
        a.familyMember = owner
        b.familyMember = try theirs.existingObject(with: owner.objectID, as: FamilyMember.self)
        try theirs.save()
        try mine.save()
        #expect(a.familyMember === owner && !mine.hasChanges)
    }

    @Test func validationSeesTheMergedObject() throws {
        let (a, b) = try sharedMovie()
        a.title = "Mine"
        b.rating = 4
        try theirs.save()
        try mine.save()
        a.rating = 5
        try mine.save()
        #expect(a.rating == 5)
    }

    @Test func changingWhatOthersDeletedIsAConflict() throws {
        let (a, b) = try sharedMovie()
        a.rating = 1
        theirs.delete(b)
        try theirs.save()
        let error = thrownError { try mine.save() }
        #expect(error?.context.conflicts.first?.isDeletedInStore == true)
        mine.rollback()
        try mine.save()
    }

    @Test func deletingWhatOthersChangedIsAConflict() throws {
        let (a, b) = try sharedMovie()
        mine.delete(a)
        b.rating = 2
        try theirs.save()
        let error = thrownError { try mine.save() }
        #expect(error?.context.conflicts.first?.isDeletedHere == true)
        #expect(error?.context.conflicts.first?.properties.first?.theirs == .double(2))
    }

    @Test func deletingWhatOthersDeletedIsAgreed() throws {
        let (a, b) = try sharedMovie()
        mine.delete(a)
        theirs.delete(b)
        try theirs.save()
        try mine.save()
        #expect(!mine.hasChanges)
    }

    @Test func whatWasLinkedHereAndDeletedByBothIsAgreed() throws {
        let container = try makeContainer(graphEntities)
        let mine = container.newBackgroundContext()
        let theirs = container.newBackgroundContext()
        (mine.mergePolicy, theirs.mergePolicy) = (.error, .error)
        let person = Person(context: mine)
        let friend = Person(context: mine)
        (person.name, friend.name) = ("person", "friend")
        try mine.save()
        theirs.refreshAllObjects()
        person.name = "mine"
        person.friends.insert(friend)
        mine.delete(friend)

        theirs.delete(try theirs.existingObject(with: friend.objectID, as: Person.self))
        try theirs.save()
        try mine.save()
        #expect(person.name == "mine" && person.friends.isEmpty)
    }

    @Test func differentMembersOfOneOwnerNeverConflict() throws {
        let owner = FamilyMember(context: mine)
        owner.name = "Ann"
        try mine.save()
        theirs.refreshAllObjects()
        let theirOwner = try theirs.existingObject(with: owner.objectID, as: FamilyMember.self)
        let one = Movie(context: mine), two = Movie(context: theirs)
        one.title = "1"
        two.title = "2"
        one.familyMember = owner
        two.familyMember = theirOwner
        try theirs.save()
        try mine.save()
        #expect(owner.favoriteMovies.count == 2)
        #expect(Set(owner.favoriteMovies.map(\.title)) == ["1", "2"])
    }

    @Test func theSamePairLinkedTwiceIsOneMember() throws {
        let club = Club(context: mine)
        club.title = "Chess"
        let ann = Person(context: mine)
        ann.name = "Ann"
        try mine.save()
        theirs.refreshAllObjects()
        let theirClub = try theirs.existingObject(with: club.objectID, as: Club.self)
        let theirAnn = try theirs.existingObject(with: ann.objectID, as: Person.self)
        theirClub.members.insert(theirAnn)
        club.members.insert(ann)
        ann.name = "Anna"
        try theirs.save()
        try mine.save()
        #expect(club.members.count == 1 && ann.clubs.count == 1)
        mine.refreshAllObjects()
        #expect(club.members.count == 1)
    }

    @Test(arguments: [true, false]) func whoseDeletionIsPendingIsNoMemberOfWhatOthersLinkItTo(isRead: Bool) throws {
        let club = Club(context: mine), ann = Person(context: mine), bob = Person(context: mine)
        (club.title, ann.name, bob.name) = ("Chess", "Ann", "Bob")
        try mine.save()
        theirs.refreshAllObjects()
        let theirClub = try theirs.existingObject(with: club.objectID, as: Club.self)
        for person in [ann, bob] {
            theirClub.members.insert(try theirs.existingObject(with: person.objectID, as: Person.self))
        }
        if isRead { #expect(club.members.isEmpty && Array(club.members).isEmpty) }
        mine.delete(ann)
        try theirs.save()
        mine.refreshAllObjects()
        #expect(club.members.count == 1 && !club.members.contains(ann))
        #expect(Array(club.members) == [bob] && club.members.count == 1)
        #expect(try mine.fetch(FetchRequest<Club>(format: "ANY members.name == 'Ann'")).isEmpty)
        // Once nobody deletes it, it is one.
        mine.rollback()
        #expect(club.members.count == 2 && club.members.contains(ann) && Set(club.members) == [ann, bob])
        mine.delete(ann)
        #expect(club.members.count == 1)
        try mine.save()
        #expect(club.members.count == 1 && Array(club.members) == [bob])
        theirs.refreshAllObjects()
        #expect(theirClub.members.count == 1)
    }

    @Test(arguments: [true, false]) func aDeletedMemberOfOneIsNotListedByWhomOthersGaveItTo(isCascaded: Bool) throws {
        let (ann, bob) = (FamilyMember(context: mine), FamilyMember(context: mine))
        (ann.name, bob.name) = ("Ann", "Bob")
        let movie = Movie(context: mine)
        movie.title = "A"
        movie.familyMember = ann
        let id = movie.objectID
        try mine.save()
        theirs.refreshAllObjects()
        let theirMovie = try theirs.existingObject(with: id, as: Movie.self)
        theirMovie.familyMember = try theirs.existingObject(with: bob.objectID, as: FamilyMember.self)
        #expect(bob.favoriteMovies.isEmpty)
        mine.delete(isCascaded ? ann : movie)
        try theirs.save()
        mine.refreshAllObjects()
        #expect(bob.favoriteMovies.count == 0 && Array(bob.favoriteMovies).isEmpty)
        mine.rollback()
        #expect(bob.favoriteMovies.count == 1 && bob.favoriteMovies.map(\.title) == ["A"])
        #expect(ann.favoriteMovies.isEmpty)
    }

    /// As above, of a member that a cascade deleted without an object of it.
    @Test func aMemberDeletedAsARowIsNotListedByWhomOthersGaveItTo() throws {
        let (ann, bob) = (FamilyMember(context: theirs), FamilyMember(context: theirs))
        (ann.name, bob.name) = ("Ann", "Bob")
        let movie = Movie(context: theirs)
        movie.title = "A"
        movie.familyMember = ann
        try theirs.save()
        mine.refreshAllObjects()
        let myBob = try mine.existingObject(with: bob.objectID, as: FamilyMember.self)
        mine.delete(try mine.existingObject(with: ann.objectID))
        movie.familyMember = bob
        try theirs.save()
        mine.refreshAllObjects()
        #expect(myBob.favoriteMovies.count == 0 && Array(myBob.favoriteMovies).isEmpty)
        mine.rollback()
        #expect(myBob.favoriteMovies.count == 1 && myBob.favoriteMovies.map(\.title) == ["A"])
    }

    @Test func membersThatOthersAddedAreCascaded() throws {
        let owner = FamilyMember(context: mine)
        owner.name = "Ann"
        try mine.save()
        theirs.refreshAllObjects()
        let movie = Movie(context: theirs)
        movie.title = "late"
        movie.familyMember = try theirs.existingObject(with: owner.objectID, as: FamilyMember.self)
        try theirs.save()
        mine.delete(owner)
        try mine.save()
        #expect(try mine.count(for: FetchRequest<Movie>()) == 0)
    }

    @Test func aLinkToWhatOthersDeletedIsAConflict() throws {
        let owner = FamilyMember(context: mine)
        owner.name = "Ann"
        try mine.save()
        theirs.refreshAllObjects()
        let movie = Movie(context: mine)
        movie.title = "A"
        movie.familyMember = owner
        theirs.delete(try theirs.existingObject(with: owner.objectID))
        try theirs.save()
        let error = thrownError { try mine.save() }
        #expect(error?.code == .merge)
        #expect(error?.context.conflicts.first?.properties.first?.name == "familyMember")
        movie.familyMember = nil
        try mine.save()
    }

    @Test func othersChangesShowAfterASave() throws {
        let (a, b) = try sharedMovie()
        b.rating = 3
        try theirs.save()
        let new = Movie(context: mine)
        new.title = "B"
        try mine.save()
        #expect(a.rating == 3)
    }

    @Test func aValueTwiceInAUniqueAttributeIsRefused() throws {
        let one = Passport(context: mine)
        one.number = "1"
        try mine.save()
        let two = Passport(context: theirs)
        two.number = "1"
        let error = thrownError { try theirs.save() }
        #expect(error?.code == .constraintMerge)
        two.number = "2"
        try theirs.save()
    }

    @Test func anObjectThatIsOnlyLinkedNeedNotBeRead() throws {
        let one = Person(context: mine), two = Person(context: mine)
        (one.name, two.name) = ("1", "2")
        try mine.save()
        let context = container.newBackgroundContext()
        let first = try context.existingObject(with: one.objectID, as: Person.self)
        let fault = try #require(context.object(with: two.objectID) as? Person)
        first.friends.insert(fault)
        try context.save()
        #expect(fault.name == "2" && fault.friends.contains(first))
    }

    @Test func anObjectThatWasWrittenButNotChangedShowsWhatOthersSaved() throws {
        let (a, b) = try sharedMovie()
        let other = Movie(context: mine)
        other.title = "Other"
        a.title = "A"
        b.rating = 3
        try theirs.save()
        try mine.save()
        #expect(a.rating == 3)
    }
}
