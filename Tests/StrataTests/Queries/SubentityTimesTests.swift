import Foundation
import Strata
import Testing

/// Subentities on or off, at present, in the past, and with unsaved changes; and fetches that end before they are done.
///
/// Two employees and a manager were there `then`; since, one employee went and a manager came; unsaved, an employee
/// came, the first manager went, and the other employee has another name.
@Suite struct SubentityTimesTests {
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private let then: EventNumber

    init() throws {
        container = try makeOpenContainer()
        context = container.newBackgroundContext()
        func add<P: Person>(_ name: String, _ person: P) -> P {
            (person.firstName, person.lastName) = (name, "x")
            return person
        }
        let ann = add("Ann", Employee(context: context))
        let bob = add("Bob", Employee(context: context))
        let mia = add("Mia", Manager(context: context))
        try context.save()
        then = context.eventNumber
        context.delete(ann)
        _ = add("Max", Manager(context: context))
        try context.save()
        _ = add("Cid", Employee(context: context))
        context.delete(mia)
        bob.firstName = "Bea"
    }

    private func names<P: Person>(
        _ context: ManagedObjectContext, of type: P.Type, subentities: Bool, pending: Bool = true
    ) async throws -> [String] {
        var request = try FetchRequest<P>(sortedBy: [SortDescription("firstName")])
        request.includesSubentities = subentities
        request.includesPendingChanges = pending
        let found = try context.fetch(request)
        #expect(try context.count(for: request) == found.count)
        #expect(try context.fetchObjectIDs(request) == found.map(\.objectID))
        #expect(try await context.fetchAsynchronously(request) == found)
        var rows = try RowsFetchRequest(
            of: P.self, columns: [OutputColumn("firstName")], sortedBy: [SortDescription("firstName")])
        rows.includesSubentities = subentities
        rows.includesPendingChanges = pending
        let names = try context.fetchRows(rows).dictionaries.map { $0["firstName"] }
        if pending { #expect(names == found.map { .string($0.firstName) }) }
        return names.map { if case .string(let name)? = $0 { name } else { "?" } }
    }

    @Test func subentitiesAreFoundOrLeftOutAtEveryTime() async throws {
        let past = try container.context(asOf: .event(then)), present = container.newBackgroundContext()
        #expect(try await names(past, of: Person.self, subentities: true) == ["Ann", "Bob", "Mia"])
        #expect(try await names(past, of: Employee.self, subentities: false) == ["Ann", "Bob"])
        #expect(try await names(past, of: Manager.self, subentities: false) == ["Mia"])
        #expect(try await names(present, of: Person.self, subentities: true) == ["Bob", "Max", "Mia"])
        #expect(try await names(present, of: Employee.self, subentities: true) == ["Bob", "Max", "Mia"])
        #expect(try await names(present, of: Employee.self, subentities: false) == ["Bob"])
        #expect(try await names(context, of: Person.self, subentities: true) == ["Bea", "Cid", "Max"])
        #expect(try await names(context, of: Employee.self, subentities: false) == ["Bea", "Cid"])
        #expect(try await names(context, of: Manager.self, subentities: true) == ["Max"])
        for context in [past, present, context] {
            #expect(try await names(context, of: Person.self, subentities: false) == [])
        }
        #expect(
            try await names(context, of: Person.self, subentities: true, pending: false) == ["Bob", "Max", "Mia"])
        #expect(try await names(context, of: Employee.self, subentities: false, pending: false) == ["Bob"])
    }

    // MARK: Progress

    /// Each film asks all films of its studio: minutes, if nothing ends it.
    @Test func aRunningFetchTellsHowFarItIsAndEndsWhenItIsCancelled() async throws {
        let container = try makeOpenContainer(filmEntities)
        let context = container.newBackgroundContext()
        let studio = Studio(context: context)
        let count = 5000
        for number in 0..<count {
            let film = Film(context: context)
            (film.title, film.studio) = ("Film \(number)", studio)
        }
        try context.save()
        let slow = try FetchRequest<Film>(format: "ALL studio.films.title CONTAINS[cd] 'm'")
        for isTaskCancelled in [false, true] {
            let progress = FetchProgress()
            let fetch = Task {
                try await container.newBackgroundContext().countAsynchronously(for: slow, progress: progress)
            }
            // On a thread: a task may have to wait for the whole suite before it goes on.
            let wasRunning = await withCheckedContinuation { reply in
                Thread.detachNewThread {
                    while progress.examinedRowCount == 0 { usleep(1000) }
                    let isRunning = !progress.isFinished && !progress.isCancelled
                    if isTaskCancelled { fetch.cancel() } else { progress.cancel() }
                    reply.resume(returning: isRunning)
                }
            }
            await #expect(throws: CancellationError.self) { try await fetch.value }
            #expect(wasRunning && progress.isFinished && progress.isCancelled)
            #expect((1..<count).contains(progress.examinedRowCount))
        }
        // What was cancelled leaves nothing behind.
        #expect(try context.count(for: FetchRequest<Film>()) == count)
    }
}
