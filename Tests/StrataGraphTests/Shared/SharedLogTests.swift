import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A container whose store shares a log.
func makeNode(
    _ connection: SharedLogConnection, at location: PersistentStoreLocation = .inMemory,
    _ entities: [ManagedObject.Type] = [Movie.self, FamilyMember.self]
) throws -> PersistentContainer {
    let container = try PersistentContainer(
        name: "Node", entities: entities, at: location,
        options: .init(durability: .disposable, log: PersistentStoreLog(connection)))
    try container.loadPersistentStores()
    MadeStores.current?.add(container)
    return container
}

@Suite(.verifiesStores) struct SharedLogTests {
    let log = MemoryLog()

    @Test func whatOneNodeSavesAnotherReads() throws {
        let (first, second) = (try makeNode(log.connection()), try makeNode(log.connection()))
        #expect(first.storeIdentifier == second.storeIdentifier)
        let context = first.newBackgroundContext()
        let movie = Movie(context: context)
        movie.title = "Stalker"
        try context.save()
        try second.wait(for: first.token())
        let other = second.newBackgroundContext()
        #expect(try other.existingObject(with: movie.objectID, as: Movie.self).title == "Stalker")
        #expect(try first.store.logPosition() == second.store.logPosition())
    }

    @Test func aSaveThatAnotherNodeHasOvertakenIsMerged() throws {
        let (first, second) = (try makeNode(log.connection()), try makeNode(log.connection()))
        let mine = first.newBackgroundContext()
        let movie = Movie(context: mine)
        movie.title = "A"
        try mine.save()
        try second.wait(for: first.token())
        let theirs = second.newBackgroundContext()
        let same = try theirs.existingObject(with: movie.objectID, as: Movie.self)
        same.rating = 5
        movie.title = "B"
        try theirs.save()
        try mine.save()
        try second.catchUp()
        theirs.refreshAllObjects()
        #expect(same.title == "B" && same.rating == 5 && movie.rating == 5)
        #expect(try first.store.logPosition() == second.store.logPosition())
    }

    @Test func twoNodesThatChangeOneValueConflict() throws {
        let (first, second) = (try makeNode(log.connection()), try makeNode(log.connection()))
        let mine = first.newBackgroundContext()
        let movie = Movie(context: mine)
        movie.title = "A"
        try mine.save()
        try second.catchUp()
        let theirs = second.newBackgroundContext()
        try theirs.existingObject(with: movie.objectID, as: Movie.self).title = "B"
        movie.title = "C"
        try theirs.save()
        #expect(thrownError { try mine.save() }?.code == .merge)
    }

    @Test func nodesGiveDifferentIDs() throws {
        let nodes = try (0..<3).map { _ in try makeNode(log.connection()) }
        var ids: Set<ObjectID> = []
        for node in nodes {
            let context = node.newBackgroundContext()
            for _ in 0..<10 { ids.insert(Movie(context: context).objectID) }
        }
        #expect(ids.count == 30)
    }
}
