import StrataGraph
import StrataModel
import Testing

/// Changes that are taken back after others changed the same object: what they saved is what holds.
@Suite(.verifiesStores) struct TakenBackChangeTests {
    private let container: PersistentContainer
    private let others: ManagedObjectContext
    private let mine: ManagedObjectContext
    private let theirs: Person
    private let own: Person

    init() throws {
        container = try makeContainer(graphEntities)
        others = container.newBackgroundContext()
        theirs = Person(context: others)
        theirs.name = "old"
        theirs.boss = Person(context: others)
        theirs.boss?.name = "boss"
        try others.save()
        mine = container.newBackgroundContext()
        own = try mine.existingObject(with: theirs.objectID, as: Person.self)
        #expect(own.name == "old" && own.boss?.reports.count == 1)
    }

    private func expectTheirs(_ name: String) throws {
        #expect(own.name == name && !mine.hasChanges)
        #expect(try mine.count(for: FetchRequest<Person>().where { $0.name == name }) == 1)
        // And a change of it is one of what they saved.
        own.name = "mine again"
        try mine.save()
        let last = try #require(try container.history(of: own.objectID).first)
        #expect(last.changes.map(\.before) == [.string(name)])
    }

    @Test(arguments: [false, true]) func whatOthersSavedShowsAfterASave(savesMore: Bool) throws {
        own.name = "mine"
        theirs.name = "theirs"
        try others.save()
        mine.refreshAllObjects()
        #expect(own.name == "mine")
        own.name = "old"
        if savesMore { Person(context: mine).name = "another" }
        try mine.save()
        try expectTheirs("theirs")
    }

    @Test func anUndoneChangeIsNoneEither() throws {
        let undo = ObjectUndoManager()
        mine.undoManager = undo
        own.name = "mine"
        mine.processPendingChanges()
        theirs.name = "theirs"
        try others.save()
        mine.refreshAllObjects()
        try undo.undo()
        try mine.save()
        try expectTheirs("theirs")
    }

    @Test func aToOneAndItsToManyAgree() throws {
        let before = try #require(own.boss)
        let other = Person(context: others)
        other.name = "other"
        own.boss = nil
        theirs.boss = other
        try others.save()
        mine.refreshAllObjects()
        own.boss = before
        try mine.save()
        #expect(own.boss?.objectID == other.objectID)
        #expect(before.reports.isEmpty && own.boss?.reports.map(\.objectID) == [own.objectID])
    }

    @Test func anObjectThatOthersDeletedIsGone() throws {
        own.name = "mine"
        others.delete(theirs)
        try others.save()
        mine.refreshAllObjects()
        own.name = "old"
        try mine.save()
        #expect(!mine.hasChanges)
        #expect(thrownError { _ = try mine.existingObject(with: own.objectID) }?.code == .referentialIntegrity)
        #expect(try mine.count(for: FetchRequest<Person>()) == 1)
    }

    @Test func membersStayWhenOthersSaveTwice() throws {
        let boss = try #require(own.boss)
        own.name = "mine"
        theirs.name = "theirs"
        try others.save()
        mine.refreshAllObjects()
        own.name = "old"
        theirs.name = "theirs again"
        try others.save()
        mine.refreshAllObjects()
        #expect(own.boss === boss && boss.reports.count == 1 && boss.reports.contains(own))
        #expect(boss.reports.map(\.objectID) == [own.objectID])
        try mine.save()
        try expectTheirs("theirs again")
        #expect(boss.reports.count == 1)
    }

    @Test func objectsThatWereNeverSavedGoWithASaveOfNothing() throws {
        weak var made: Person?
        do {
            let person = Person(context: mine)
            made = person
            mine.delete(person)
        }
        try mine.save()
        #expect(made == nil)
    }
}
