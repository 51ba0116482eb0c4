@testable import StrataGraph
import StrataModel
import Testing

/// What a context has listed of a to-many is listed again after a save only where it may have changed.
@Suite(.verifiesStores) struct KnownMembersTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let boss: Person
    let playlist: Playlist

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        boss = Person(context: context)
        boss.name = "Boss"
        for name in ["Ann", "Bob"] {
            let person = Person(context: context)
            person.name = name
            person.boss = boss
        }
        playlist = Playlist(context: context)
        playlist.name = "List"
        for title in ["One", "Two", "Three"] {
            let track = Track(context: context)
            track.title = title
            playlist.tracks.append(track)
        }
        try context.save()
        #expect(names == ["Ann", "Bob"] && titles == ["One", "Two", "Three"])
    }

    private var names: [String?] { boss.reports.map(\.name) }
    private var titles: [String?] { playlist.tracks.map(\.title) }
    /// To-manys whose members need not be listed.
    private var listedCount: Int {
        context.pendingLinks.states.values.count {
            $0.members != nil && $0.generation == context.pendingLinks.memberGeneration
        }
    }

    @Test func aSaveOfValuesLeavesThemListed() throws {
        boss.name = "Chief"
        boss.reports.first?.name = "Anna"
        try context.save()
        #expect(listedCount == 2)
        #expect(names == ["Anna", "Bob"])
        // Nothing that differs is no save, and changes no list either.
        boss.name = "Boss"
        boss.name = "Chief"
        try context.save()
        #expect(listedCount == 2)
    }

    @Test func aSaveOfLinksHasThemListedAgain() throws {
        let ann = try #require(boss.reports.first)
        ann.name = "Anna"
        ann.boss = nil
        try context.save()
        #expect(listedCount == 0)
        #expect(names == ["Bob"])
    }

    @Test func aSaveOfPlacesHasThemListedAgain() throws {
        playlist.tracks.move(from: 2, to: 0)
        try context.save()
        #expect(listedCount == 0)
        #expect(titles == ["Three", "One", "Two"])
    }

    @Test func aSaveOfPairsHasThemListedAgain() throws {
        let club = Club(context: context)
        club.title = "Chess"
        try context.save()
        #expect(names == ["Ann", "Bob"] && Array(club.members).isEmpty)
        club.title = "Golf"
        club.members.insert(boss)
        try context.save()
        #expect(listedCount == 0)
        #expect(club.members.map(\.name) == ["Boss"])
    }

    @Test func newAndDeletedMembersAreListed() throws {
        let eve = Person(context: context)
        eve.name = "Eve"
        eve.boss = boss
        try context.save()
        #expect(names == ["Ann", "Bob", "Eve"])
        context.delete(eve)
        try context.save()
        #expect(names == ["Ann", "Bob"])
    }

    @Test func whatOthersLinkedBeforeTheSaveIsListed() throws {
        let other = container.newBackgroundContext()
        let eve = Person(context: other)
        eve.name = "Eve"
        eve.boss = try other.existingObject(with: boss.objectID, as: Person.self)
        try other.save()
        #expect(names == ["Ann", "Bob"])
        boss.name = "Chief"
        try context.save()
        #expect(names == ["Ann", "Bob", "Eve"])
    }
}
