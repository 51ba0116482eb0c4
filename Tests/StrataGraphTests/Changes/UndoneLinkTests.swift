import StrataGraph
import Testing

/// Links of many-to-manys after deletions are undone: those that stood, and no others.
@Suite(.verifiesStores) struct UndoneLinkTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let undo = ObjectUndoManager()

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        context.undoManager = undo
    }

    private func endEvent() { context.processPendingChanges() }

    private func expectSaved(_ playlist: Playlist, _ count: Int) throws {
        try context.save()
        #expect(playlist.songs.count == count)
        let fresh = container.newBackgroundContext()
        let found = try fresh.existingObject(with: playlist.objectID, as: Playlist.self)
        #expect(found.songs.count == count && found.songs.map(\.objectID).count == count)
    }

    @Test(arguments: [false, true]) func anUnsavedObjectComesBackWithItsLinks(isOwnerSaved: Bool) throws {
        let playlist = makePlaylist(context)
        if isOwnerSaved { try context.save() }
        let song = makeSong(context)
        playlist.songs.insert(song)
        endEvent()
        context.delete(song)
        endEvent()
        #expect(playlist.songs.isEmpty)
        try undo.undo()
        #expect(playlist.songs.count == 1 && playlist.songs.map(\.objectID) == [song.objectID])
        #expect(playlist.songs.contains(song) && song.playlists.count == 1)
        try expectSaved(playlist, 1)
    }

    @Test func aLinkToWhatIsStillDeletedStaysCut() throws {
        let (playlist, song) = (makePlaylist(context), makeSong(context))
        playlist.songs.insert(song)
        try context.save()
        context.delete(song)
        endEvent()
        context.delete(playlist)
        endEvent()
        try undo.undo()
        #expect(!playlist.isDeleted && playlist.songs.isEmpty && playlist.songs.map(\.objectID).isEmpty)
        try undo.undo()
        #expect(playlist.songs.map(\.objectID) == [song.objectID] && song.playlists.count == 1)
        try undo.redo()
        #expect(playlist.songs.isEmpty)
        try expectSaved(playlist, 0)
    }

    @Test func aLinkToItselfThatWasCutBeforeStaysCut() throws {
        let person = Person(context: context)
        person.name = "p"
        person.friends.insert(person)
        try context.save()
        person.friends.remove(person)
        endEvent()
        context.delete(person)
        endEvent()
        try undo.undo()
        #expect(person.friends.isEmpty && person.friends.map(\.objectID).isEmpty)
        try undo.undo()
        #expect(person.friends.map(\.objectID) == [person.objectID])
    }
}

/// A link that two contexts made is one.
@Suite(.verifiesStores) struct SharedPairTests {
    @Test(arguments: [false, true], [false, true])
    func aLinkThatBothMadeCountsOnce(isFromOtherEnd: Bool, isListed: Bool) throws {
        let (_, mine, theirs) = try makeTwoContexts()
        let (playlist, song) = (makePlaylist(mine), makeSong(mine))
        try mine.save()
        theirs.refreshAllObjects()
        let otherList = try theirs.existingObject(with: playlist.objectID, as: Playlist.self)
        let otherSong = try theirs.existingObject(with: song.objectID, as: Song.self)
        if isListed { #expect(otherList.songs.map(\.objectID).isEmpty && otherSong.playlists.isEmpty) }
        if isFromOtherEnd { otherSong.playlists.insert(otherList) } else { otherList.songs.insert(otherSong) }
        playlist.songs.insert(song)
        try mine.save()
        theirs.refreshAllObjects()
        #expect(otherList.songs.count == 1 && otherSong.playlists.count == 1)
        #expect(otherList.songs.map(\.objectID) == [song.objectID])
        #expect(otherSong.playlists.map(\.objectID) == [playlist.objectID])
        try theirs.save()
        #expect(otherList.songs.count == 1)
        otherList.songs.remove(otherSong)
        #expect(otherList.songs.isEmpty && otherSong.playlists.isEmpty)
        try theirs.save()
        mine.refreshAllObjects()
        #expect(playlist.songs.isEmpty)
    }
}

private func makePlaylist(_ context: ManagedObjectContext) -> Playlist {
    let playlist = Playlist(context: context)
    playlist.name = "list"
    return playlist
}

private func makeSong(_ context: ManagedObjectContext) -> Song {
    let song = Song(context: context)
    song.title = "song"
    return song
}
