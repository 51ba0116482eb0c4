import Foundation
@testable import StrataGraph
import StrataModel
import StrataStore
import Testing

/// Counts rows, not time: a save beside many results reads what it touched and the way to its place.
@Suite(.verifiesStores) struct ResultsCostTests {
    static let count = 100_000

    @Test func aSaveBesideAHundredThousandResultsReadsOnlyWhatItTouched() throws {
        let container = try makeContainer(graphEntities)
        let maker = container.newBackgroundContext()
        var bosses: [ObjectID] = []
        for number in 0..<Self.count {
            let person = Person(context: maker)
            person.name = "name \(number * 7919 % Self.count)"
            if number < 100 {
                bosses.append(person.objectID)
            } else if number % 1000 == 0 {
                person.boss = maker.registeredObject(for: bosses[0]) as? Person
            }
        }
        try maker.save()
        let context = container.newBackgroundContext()
        let controller = FetchedResultsController(
            fetchRequest: try FetchRequest<Person>().sorted(by: \.name), context: context)
        try controller.performFetch()
        let byBoss = FetchedResultsController(
            fetchRequest: try FetchRequest<Person>(
                where: try FetchPredicate(format: "NOT boss.name == 'gone'"), sortedBy: [SortDescription("name")]),
            context: context)
        try byBoss.performFetch()
        #expect(controller.fetchedObjects?.count == Self.count)
        let tracker = try #require(controller.tracker)
        let bossTracker = try #require(byBoss.tracker)
        for touched in [1, 10, 100] {
            let (before, beforeByBoss) = (tracker.readCount, bossTracker.readCount)
            let other = container.newBackgroundContext()
            for number in 0..<touched {
                let person = try other.existingObject(with: bosses[number], as: Person.self)
                person.name = "other \(number * 31 % 100) of \(touched)"
            }
            try other.save()
            context.refreshAllObjects()
            // Judged in both states, and two walks of 17 steps to find the places.
            #expect(tracker.readCount - before <= touched * (2 + 2 * 18))
            // The first boss has a hundred people, whose boss's name the predicate reads.
            #expect(bossTracker.readCount - beforeByBoss <= (touched + 100) * (2 + 2 * 18))
        }
        #expect(tracker.runCount == 1 && bossTracker.runCount == 1)
        #expect(controller.fetchedObjects?.count == Self.count && byBoss.fetchedObjects?.count == Self.count)
    }

    /// Objects of another kind, and values that the request does not read, cost nothing or one look.
    @Test func changesThatTheRequestDoesNotReadAreUpdatesOnly() throws {
        let container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        let people = (0..<100).map { number in
            let person = Person(context: context)
            person.name = "\(number)"
            return person
        }
        let club = Club(context: context)
        club.title = "a"
        try context.save()
        let controller = FetchedResultsController(
            fetchRequest: try FetchRequest<Person>().sorted(by: \.name), context: context)
        try controller.performFetch()
        var differences: [FetchedResultsDifference] = []
        controller.onChange = { differences.append($0) }
        let tracker = try #require(controller.tracker)
        club.title = "x"
        try context.save()
        #expect(tracker.readCount == 0 && differences.isEmpty)
        people[5].boss = people[6]
        try context.save()
        #expect(differences.count == 1 && differences[0].updates.count == 2 && differences[0].moves.isEmpty)
    }
}
