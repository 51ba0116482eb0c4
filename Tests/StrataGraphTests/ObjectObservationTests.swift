import Foundation
import Observation
import StrataGraph
import StrataModel
import Synchronization
import Testing

/// Objects of observing contexts tell the Observation framework of every way in which they become others.
@Suite(.verifiesStores) struct ObjectObservationTests {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let person: Person

    init() throws {
        container = try makeContainer(graphEntities)
        context = container.newBackgroundContext()
        context.observesObjects = true
        person = Person(context: context)
        person.name = "a"
        try context.save()
    }

    /// How often something that `read` reads is said to change while `change` runs.
    private func changes(_ read: () -> Void, _ change: () throws -> Void) rethrows -> Int {
        let heard = Heard()
        withObservationTracking(read) { heard.count.add(1, ordering: .relaxed) }
        try change()
        return heard.count.load(ordering: .relaxed)
    }

    private final class Heard: Sendable {
        let count = Atomic(0)
    }

    @Test func aPropertyChangeIsSeen() {
        #expect(changes({ _ = person.name }, { person.name = "b" }) == 1)
        #expect(changes({ _ = person.boss }, { person.name = "c" }) == 0)
    }

    @Test func aMergeIsSeen() throws {
        let other = container.newBackgroundContext()
        let count = try changes({ _ = person.name }) {
            try other.existingObject(with: person.objectID, as: Person.self).name = "theirs"
            try other.save()
            context.refreshAllObjects()
        }
        #expect(count == 1 && person.name == "theirs")
    }

    @Test func aMergeIntoAChangedObjectIsSeen() throws {
        let other = container.newBackgroundContext()
        let count = try changes({ _ = person.boss }) {
            person.name = "mine"
            let theirs = try other.existingObject(with: person.objectID, as: Person.self)
            theirs.boss = theirs
            try other.save()
            context.refreshAllObjects()
        }
        #expect(count == 1 && person.boss === person)
    }

    @Test func aRefreshIsSeen() {
        #expect(changes({ _ = person.name }, { context.refresh(person, mergeChanges: false) }) == 1)
    }

    @Test func aRollbackIsSeen() {
        person.name = "b"
        #expect(changes({ _ = person.name }, { context.rollback() }) == 1)
    }

    @Test func anotherMemberIsSeenAtBothEnds() {
        let friend = Person(context: context)
        friend.name = "f"
        #expect(changes({ _ = person.friends.count }, { person.friends.insert(friend) }) == 1)
        #expect(changes({ _ = friend.friends.count }, { person.friends.remove(friend) }) == 1)
        #expect(changes({ _ = person.reports.count }, { friend.boss = person }) == 1)
        #expect(changes({ _ = friend.boss }, { person.reports.remove(friend) }) == 1)
    }

    /// A member that others linked: the owner's row is the same.
    @Test func aMemberThatOthersLinkedIsSeen() throws {
        let other = container.newBackgroundContext()
        let count = try changes({ _ = person.reports.count }) {
            let theirs = try other.existingObject(with: person.objectID, as: Person.self)
            let report = Person(context: other)
            report.name = "r"
            report.boss = theirs
            try other.save()
            context.refreshAllObjects()
        }
        #expect(count == 1 && person.reports.count == 1)
    }

    /// The tracking of a process that reads in one place and is told in another.
    @MainActor @Test func aSaveElsewhereReachesWhoTracksTheViewContext() async throws {
        let snapshot = container.viewContext
        snapshot.automaticallyMergesChangesFromParent = true
        let shown = try snapshot.existingObject(with: person.objectID, as: Person.self)
        let (events, news) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking({ _ = shown.name }) { news.yield() }
        let id = person.objectID
        try await container.performBackgroundTask { context in
            try context.existingObject(with: id, as: Person.self).name = "elsewhere"
            try context.save()
        }
        for await _ in events { break }
        // Told before the value changes, as Observation does.
        await Task.yield()
        #expect(shown.name == "elsewhere")
    }
}
