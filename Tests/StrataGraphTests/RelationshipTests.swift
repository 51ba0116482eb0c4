import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct RelationshipTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    /// Objects do not keep their context; the tests must.
    let contexts = Kept()

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
    }

    private func person(_ name: String) -> Person {
        let person = Person(context: context)
        person.name = name
        return person
    }

    private func track(_ title: String) -> Track {
        let track = Track(context: context)
        track.title = title
        return track
    }

    private func song(_ title: String) -> Song {
        let song = Song(context: context)
        song.title = title
        return song
    }

    private func playlist(_ name: String) -> Playlist {
        let playlist = Playlist(context: context)
        playlist.name = name
        return playlist
    }

    private func reread<Object: ManagedObject>(_ object: Object) throws -> (ManagedObjectContext, Object) {
        let other = container.newBackgroundContext()
        contexts.all.append(other)
        return (other, try other.existingObject(with: object.objectID, as: Object.self))
    }

    // MARK: One-to-one

    @Test func oneToOneKeepsBothEnds() throws {
        let ann = person("Ann"), bob = person("Bob")
        let first = Passport(context: context), second = Passport(context: context)
        first.number = "1"
        second.number = "2"
        ann.passport = first
        #expect(first.holder === ann)
        second.holder = bob
        #expect(bob.passport === second)
        // Taking Bob's passport leaves Bob without one, and Ann's old one without a holder.
        ann.passport = second
        #expect(second.holder === ann && bob.passport == nil && first.holder == nil)
        try context.save()
        let (other, again) = try reread(ann)
        #expect(again.passport?.number == "2" && again.passport?.holder === again)
        _ = other
    }

    @Test func oneToOneKeepsBothEndsOfSavedFaults() throws {
        let ann = person("Ann"), bob = person("Bob")
        let first = Passport(context: context)
        first.number = "1"
        ann.passport = first
        try context.save()
        let (other, again) = try reread(bob)
        let passport = try other.existingObject(with: first.objectID, as: Passport.self)
        again.passport = passport
        #expect(passport.holder === again)
        #expect((other.object(with: ann.objectID) as? Person)?.passport == nil)
        try other.save()
    }

    // MARK: Self-referencing

    @Test func aTreeKeepsParentsAndChildren() throws {
        let boss = person("Boss"), ann = person("Ann"), bob = person("Bob")
        ann.boss = boss
        boss.reports.insert(bob)
        #expect(Set(boss.reports) == [ann, bob] && bob.boss === boss)
        bob.boss = ann
        #expect(Array(boss.reports) == [ann] && Array(ann.reports) == [bob])
        try context.save()
        let (other, again) = try reread(boss)
        #expect(again.reports.map(\.name) == ["Ann"])
        _ = other
    }

    @Test func aRelationshipThatIsItsOwnInverseIsSymmetric() throws {
        let ann = person("Ann"), bob = person("Bob"), eve = person("Eve")
        ann.friends.insert(bob)
        eve.friends.insert(ann)
        #expect(bob.friends.contains(ann) && Set(ann.friends) == [bob, eve])
        try context.save()
        let (other, again) = try reread(bob)
        #expect(again.friends.map(\.name) == ["Ann"])
        again.friends.remove(try #require(again.friends.first))
        try other.save()
        context.refreshAllObjects()
        #expect(Array(ann.friends) == [eve] && bob.friends.isEmpty)
    }

    @Test func aFriendOfItselfIsOneMember() throws {
        let ann = person("Ann")
        ann.friends.insert(ann)
        #expect(ann.friends.count == 1)
        try context.save()
        #expect(ann.friends.count == 1 && ann.friends.first === ann)
        ann.friends.remove(ann)
        #expect(ann.friends.isEmpty)
        try context.save()
        #expect(ann.friends.isEmpty)
    }

    // MARK: Many-to-many

    @Test func manyToManyKeepsBothEnds() throws {
        let ann = person("Ann"), bob = person("Bob")
        let chess = Club(context: context), golf = Club(context: context)
        chess.title = "Chess"
        golf.title = "Golf"
        chess.members = [ann, bob]
        bob.clubs.insert(golf)
        #expect(Set(bob.clubs) == [chess, golf] && Array(ann.clubs) == [chess])
        chess.members.insert(ann)
        #expect(chess.members.count == 2)
        try context.save()
        #expect(chess.members.count == 2 && bob.clubs.count == 2)
        let (other, again) = try reread(chess)
        #expect(again.members.count == 2)
        again.members.remove(try #require(again.members.first { $0.name == "Ann" }))
        #expect(again.members.map(\.name) == ["Bob"])
        try other.save()
        let (_, third) = try reread(ann)
        #expect(third.clubs.count == 0)
    }

    @Test func aPairTakenBackBeforeSavingChangesNothing() throws {
        let ann = person("Ann")
        let chess = Club(context: context)
        chess.title = "Chess"
        try context.save()
        let before = context.eventNumber
        chess.members.insert(ann)
        chess.members.remove(ann)
        try context.save()
        #expect(context.eventNumber == before)
        chess.members.insert(ann)
        try context.save()
        #expect(context.eventNumber > before && chess.members.contains(ann) && ann.clubs.contains(chess))
    }

    @Test func aToManyWithoutInverseIsKept() throws {
        let ann = person("Ann")
        let club = Club(context: context)
        club.title = "Chess"
        club.guests.insert(ann)
        try context.save()
        let (other, again) = try reread(club)
        #expect(again.guests.map(\.name) == ["Ann"])
        other.delete(try #require(again.guests.first))
        #expect(again.guests.isEmpty)
        try other.save()
        #expect(again.guests.isEmpty)
    }

    @Test func aToOneWithoutInverseIsNullifiedWhenItsTargetGoes() throws {
        let ann = person("Ann")
        let rule = Rule(context: context)
        rule.text = "No cheating"
        rule.author = ann
        try context.save()
        let (other, again) = try reread(ann)
        other.delete(again)
        try other.save()
        let (_, ruleAgain) = try reread(rule)
        #expect(ruleAgain.author == nil)
    }

    // MARK: Ordered

    @Test func orderedOneToManyKeepsItsOrder() throws {
        let list = playlist("Mix")
        let tracks = ["a", "b", "c"].map(track)
        for track in tracks { list.tracks.append(track) }
        #expect(list.tracks.map(\.title) == ["a", "b", "c"])
        list.tracks.insert(track("x"), at: 1)
        #expect(list.tracks.map(\.title) == ["a", "x", "b", "c"])
        try context.save()
        let (other, again) = try reread(list)
        #expect(again.tracks.map(\.title) == ["a", "x", "b", "c"])
        again.tracks.move(from: 3, to: 0)
        #expect(again.tracks.map(\.title) == ["c", "a", "x", "b"])
        again.tracks.move(from: 0, to: 2)
        #expect(again.tracks.map(\.title) == ["a", "x", "c", "b"])
        again.tracks.remove(at: 1)
        #expect(again.tracks.map(\.title) == ["a", "c", "b"] && again.tracks[2].title == "b")
        try other.save()
        let (_, third) = try reread(list)
        #expect(third.tracks.map(\.title) == ["a", "c", "b"])
    }

    @Test func settingTheToOneAppendsToAnOrderedInverse() throws {
        let list = playlist("Mix")
        for title in ["a", "b"] { track(title).playlist = list }
        #expect(list.tracks.map(\.title) == ["a", "b"])
        try context.save()
        let (other, again) = try reread(list)
        let last = Track(context: other)
        last.title = "c"
        last.playlist = again
        #expect(again.tracks.map(\.title) == ["a", "b", "c"])
        try other.save()
        #expect(again.tracks.map(\.title) == ["a", "b", "c"])
    }

    @Test func orderedManyToManyKeepsItsOrderAndRebalances() throws {
        let list = playlist("Mix")
        let songs = (0..<3).map { song("\($0)") }
        list.songs = ToMany(songs)
        #expect(list.songs.map(\.title) == ["0", "1", "2"])
        // Sixty halvings of the gap between two neighbours use it up and more.
        for number in 0..<60 { list.songs.insert(song("n\(number)"), at: 1) }
        try context.save()
        let expected = ["0"] + (0..<60).reversed().map { "n\($0)" } + ["1", "2"]
        #expect(list.songs.map(\.title) == expected)
        let (other, again) = try reread(list)
        #expect(again.songs.map(\.title) == expected)
        again.songs.move(from: 0, to: 62)
        try other.save()
        let (_, third) = try reread(list)
        #expect(third.songs.map(\.title) == Array(expected.dropFirst()) + ["0"])
        #expect(third.songs[0].playlists.count == 1)
    }

    @Test func makingRoomForMembersOverrulesNoMoveOfOthers() throws {
        let list = playlist("Mix")
        list.songs = ToMany((0..<30).map { song("\($0)") })
        try context.save()
        let (other, again) = try reread(list)
        again.songs.move(from: 2, to: 29)
        try other.save()
        context.mergePolicy = .mergeByPropertyObjectTrump
        for number in 0..<40 { list.songs.insert(song("n\(number)"), at: 15) }
        try context.save()
        let (_, merged) = try reread(list)
        let inserted = (0..<40).reversed().map { "n\($0)" }
        let expected = (0..<15).map(String.init) + inserted + (15..<30).map(String.init)
        #expect(merged.songs.map(\.title) == expected.filter { $0 != "2" } + ["2"])
    }

    @Test func assigningAnOrderedToManyReordersIt() throws {
        let list = playlist("Mix")
        let (a, b, c) = (track("a"), track("b"), track("c"))
        list.tracks = [a, b, c]
        try context.save()
        list.tracks = [c, a]
        #expect(list.tracks.map(\.title) == ["c", "a"] && b.playlist == nil)
        try context.save()
        let (_, again) = try reread(list)
        #expect(again.tracks.map(\.title) == ["c", "a"])
    }

    // MARK: Lazy

    @Test func countingAddingAndRemovingLoadsNoMember() throws {
        let list = playlist("Mix")
        let tracks = (0..<50).map { track("\($0)") }
        for track in tracks { track.playlist = list }
        try context.save()
        let (other, again) = try reread(list)
        let one = try other.existingObject(with: tracks[7].objectID, as: Track.self)
        #expect(again.tracks.count == 50 && again.tracks.contains(one))
        again.tracks.remove(one)
        #expect(again.tracks.count == 49 && !again.tracks.contains(one))
        again.tracks.insert(one)
        #expect(again.tracks.count == 50)
        #expect(other.registeredObjects.count == 2)
    }

    @Test func severalMembersAreAppended() throws {
        let (list, first, second) = (playlist("Mix"), track("first"), track("second"))
        list.tracks.append(contentsOf: [first, second])
        #expect(Set(list.tracks) == [first, second] && first.playlist === list && second.playlist === list)
        try context.save()
    }

    // MARK: Refusals

    @Test func anObjectOfAnotherContextIsRefused() throws {
        let list = playlist("Mix")
        let other = container.newBackgroundContext()
        let stranger = Track(context: other)
        let mine = track("mine")
        list.tracks.insert(stranger)
        #expect(list.tracks.isEmpty)
        let foreignList = Playlist(context: other)
        mine.playlist = foreignList
        #expect(mine.playlist == nil)
        let error = thrownError { try context.save() }
        #expect(error?.code == .otherContext && error?.details.count == 2)
        let refusal = thrownError { try mine.setValue(foreignList, forKey: "playlist") }
        #expect(refusal?.code == .otherContext)
        #expect(refusal?.message.hasSuffix("Ask this context for the object with that id, and link it.") == true)
        #expect(other.insertedObjects.count == 2)
        try context.save()
    }

    @Test func aDeletedObjectIsRefused() throws {
        let list = playlist("Mix")
        let gone = track("gone")
        try context.save()
        context.delete(list)
        gone.playlist = list
        #expect(gone.playlist == nil)
        list.name = "changed"
        #expect(list.name == "Mix")
        let error = thrownError { try context.save() }
        #expect(error?.code == .deletedObject && error?.context.key == "playlist")
        try context.save()
    }
}
