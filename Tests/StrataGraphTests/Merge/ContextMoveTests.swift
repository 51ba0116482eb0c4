import Foundation
import StrataGraph
import StrataModel
import Testing

/// What differed between the ways in which a context moves, before there was one.
@Suite(.verifiesStores) struct ContextMoveTests {
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init() throws { (container, mine, theirs) = try makeTwoContexts() }

    /// A move of the same member on both sides is no conflict, so what else they changed is shown at once.
    @Test func amongMovesTheOtherValuesAreShownWhenTheContextMovesOn() throws {
        let playlist = Playlist(context: mine)
        playlist.name = "List"
        let tracks = ["A", "B", "C"].map { title in
            let track = Track(context: mine)
            track.title = title
            playlist.tracks.append(track)
            return track
        }
        try mine.save()
        theirs.refreshAllObjects()
        let other = try theirs.existingObject(with: playlist.objectID, as: Playlist.self)
        let last = try theirs.existingObject(with: tracks[2].objectID, as: Track.self)
        other.tracks.move(from: 2, to: 0)
        last.title = "Last"
        try theirs.save()
        playlist.tracks.move(from: 2, to: 1)
        mine.refreshAllObjects()
        #expect(tracks[2].title == "Last")
        #expect(playlist.tracks.map(\.title) == ["A", "Last", "B"])
        try mine.save()
        #expect(playlist.tracks.map(\.title) == ["A", "Last", "B"])
    }

    /// A pair that a child and its parent both linked is one member, also in the count.
    @Test func aChildCountsAMemberOnceThatItsParentAddedToo() throws {
        let person = Person(context: mine)
        person.name = "Ann"
        let club = Club(context: mine)
        club.title = "Chess"
        try mine.save()
        let child = try mine.newChildContext()
        let childPerson = try child.existingObject(with: person.objectID, as: Person.self)
        let childClub = try child.existingObject(with: club.objectID, as: Club.self)
        childClub.members.insert(childPerson)
        club.members.insert(person)
        child.refreshAllObjects()
        #expect(childClub.members.count == 1 && childClub.members.map(\.name) == ["Ann"])
        #expect(childPerson.clubs.count == 1)
        try child.save()
        try mine.save()
        #expect(club.members.count == 1)
    }

    /// Taking back an insertion deletes the object; that others emptied a property is a change that would be lost.
    @Test func revertingAnInsertionAsksAboutAPropertyThatWasEmptied() throws {
        let employee = Employee(context: mine)
        employee.name = "Ann"
        employee.salary = 5
        try mine.save()
        let insertion = try #require(try container.transactions().last).number
        employee.salary = nil
        try mine.save()
        let error = thrownError { try mine.revert(insertion) }
        #expect(error?.context.conflicts.first?.properties.map(\.name) == ["salary"])
        try mine.revert(insertion, policy: .mergeByPropertyObjectTrump)
        #expect(employee.isDeleted)
    }

    /// A link to an object that the parent deleted is a conflict of the child's save, as of any save.
    @Test func aChildThatLinksToWhatItsParentDeletedAsksThePolicy() throws {
        let owner = FamilyMember(context: mine)
        owner.name = "Ann"
        let movie = Movie(context: mine)
        movie.title = "A"
        try mine.save()
        let child = try mine.newChildContext()
        let childMovie = try child.existingObject(with: movie.objectID, as: Movie.self)
        childMovie.familyMember = try child.existingObject(with: owner.objectID, as: FamilyMember.self)
        mine.delete(owner)
        #expect(thrownError { try child.save() }?.code == .merge)
        child.mergePolicy = .mergeByPropertyObjectTrump
        try child.save()
        #expect(movie.familyMember == nil)
    }
}
