import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

/// A fresh store in memory with the entities of the tests.
func makeContainer(_ entities: [ManagedObject.Type] = [Movie.self, FamilyMember.self]) throws -> PersistentContainer {
    let container = try PersistentContainer(
        name: "Test", entities: entities, at: .inMemory, options: .init(durability: .disposable))
    try container.loadPersistentStores()
    return container
}

let graphEntities: [ManagedObject.Type] = [
    Person.self, Employee.self, Passport.self, Club.self, Rule.self, Playlist.self, Song.self, Track.self,
]

/// The error that `body` throws; fails the test when it throws none.
func thrownError(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) -> StrataError? {
    do {
        try body()
        Issue.record("Nothing was thrown.", sourceLocation: sourceLocation)
    } catch let error as StrataError {
        return error
    } catch {
        Issue.record("Thrown: \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// Holds contexts as long as a test runs.
final class Kept {
    var all: [ManagedObjectContext] = []
}
