import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores, .timeLimit(.minutes(30))) struct LiveResultsTests {
    private func addPeople(_ names: [String], to container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            for name in names { Person(context: context).name = name }
            try context.save()
        }
    }

    private func addOne(_ name: String, to container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        Person(context: context).name = name
        try context.save()
    }

    @MainActor @Test func theViewContextMovesByItselfWhenOthersSave() async throws {
        let container = try makeContainer(graphEntities)
        let context = container.viewContext
        context.automaticallyMergesChangesFromParent = true
        var merged: [ContextChanges] = []
        let (events, news) = AsyncStream.makeStream(of: Void.self)
        let observation = context.observe(.didMerge) { changes in
            merged.append(changes)
            news.yield()
        }
        let before = context.eventNumber
        try await addPeople(["a"], to: container)
        for await _ in events { break }
        let head = try container.head()
        #expect(context.eventNumber > before && context.eventNumber == head)
        #expect(merged.count == 1 && merged[0].insertedObjectIDs.count == 1 && merged[0].refreshed.isEmpty)
        withExtendedLifetime(observation) {}
    }

    /// Whoever waits for results is told when the container is closed.
    @Test func closingEndsThoseWhoWait() async throws {
        func expectEnd<Steps: AsyncIteratorProtocol>(
            _ steps: Steps, _ container: PersistentContainer, isolation: isolated (any Actor)? = #isolation
        ) async throws {
            var steps = steps
            #expect(try await steps.next(isolation: isolation) != nil)
            container.close()
            do {
                _ = try await steps.next(isolation: isolation)
                Issue.record("there was another step")
            } catch let error as StrataError {
                #expect(error.code == .storeClosed)
            }
        }
        let first = try makeContainer(graphEntities)
        try await expectEnd(first.results(for: FetchRequest<Person>()).makeAsyncIterator(), first)
        let second = try makeContainer(graphEntities)
        let context = second.newBackgroundContext()
        try await expectEnd(context.results(for: FetchRequest<Person>()).makeAsyncIterator(), second)
    }

    @Test func aContextBehindAnActorMovesByItself() async throws {
        let container = try makeContainer(graphEntities)
        let actor = ContextActor(adopting: container.newBackgroundContext())
        let (events, news) = AsyncStream.makeStream(of: Int.self)
        await actor.perform { context in
            context.automaticallyMergesChangesFromParent = true
            let observation = context.observe(.didMerge) { news.yield($0.insertedObjectIDs.count) }
            context.userInfo["observation"] = KeptObservation(observation)
        }
        try await addPeople(["a", "b"], to: container)
        for await count in events {
            #expect(count == 2)
            break
        }
        let eventNumber = await actor.perform { $0.eventNumber }
        let head = try container.head()
        #expect(eventNumber == head)
    }

    @MainActor @Test func aSequenceOfResultsFollowsOthersAndItsContext() async throws {
        let container = try makeContainer(graphEntities)
        let context = container.viewContext
        context.automaticallyMergesChangesFromParent = true
        var names: [[String]] = []
        for try await update in context.results(for: try FetchRequest<Person>().sorted(by: \.name)) {
            names.append(update.objects(Person.self, in: context).map(\.name))
            switch names.count {
            case 1: try await addPeople(["b"], to: container)
            case 2:
                #expect(update.difference?.insertions.count == 1)
                Person(context: context).name = "a"
                context.processPendingChanges()
            case 3: context.rollback()
            case 4: #expect(update.difference?.deletions.count == 1)
            default: break
            }
            if names.count == 4 { break }
        }
        #expect(names == [[], ["b"], ["a", "b"], ["b"]])
    }

    @Test func aContainerIsWatchedWithoutAContext() async throws {
        let container = try makeContainer(graphEntities)
        let results = container.results(for: try FetchRequest<Person>().sorted(by: \.name))
        let seen = Task {
            var counts: [Int] = []
            for try await update in results {
                counts.append(update.snapshot.numberOfItems)
                if update.snapshot.numberOfItems == 3 { return counts }
            }
            return counts
        }
        try await addPeople(["a", "b", "c"], to: container)
        // However the steps fell, the last one has all of them.
        let counts = try await seen.value
        #expect(counts.last == 3)
    }

    @Test func coalescingMakesOneStepOfManySaves() async throws {
        let container = try makeContainer(graphEntities)
        var options = LiveResultsOptions()
        options.coalescing = .seconds(2)
        var steps = container.results(for: FetchRequest<Person>(), options: options).makeAsyncIterator()
        let first = try await steps.next()
        #expect(first?.objectIDs.isEmpty == true)
        // Without waiting in between, for a task that waits may go on much later.
        for name in ["a", "b", "c"] { try addOne(name, to: container) }
        let update = try await steps.next()
        #expect(update?.objectIDs.count == 3 && update?.difference?.insertions.count == 3)
    }

    @Test func theKeyPathFilterPassesOverOtherChanges() async throws {
        let container = try makeContainer(graphEntities)
        let context = container.newBackgroundContext()
        let person = Person(context: context)
        person.name = "a"
        try context.save()
        let reader = ResultSteps(container.results(for: FetchRequest<Person>(), keyPaths: ["name"]))
        _ = try await reader.next()
        let boss = Person(context: context)
        boss.name = "x"
        person.boss = boss
        try context.save()
        let inserted = try await reader.next()
        #expect(inserted?.difference?.insertions.count == 1 && inserted?.difference?.updates.isEmpty == true)
        person.boss = nil
        try context.save()
        person.name = "b"
        try context.save()
        let updated = try await reader.next()
        #expect(updated?.difference?.updates.map(\.objectID) == [person.objectID])
    }

    @Test func anEndedTaskEndsTheSequence() async throws {
        let container = try makeContainer(graphEntities)
        let results = container.results(for: FetchRequest<Person>())
        let task = Task {
            var count = 0
            for try await _ in results { count += 1 }
            return count
        }
        task.cancel()
        switch await task.result {
        case .success(let count): #expect(count <= 1)
        case .failure(let error): #expect(error is CancellationError)
        }
    }
}

/// Reads one step after another.
private final class ResultSteps<Base: AsyncSequence> {
    private var iterator: Base.AsyncIterator
    init(_ base: Base) { iterator = base.makeAsyncIterator() }

    func next() async throws -> Base.Element? { try await iterator.next() }
}

/// Keeps an observation as long as its context; both stay in the context's isolation.
private struct KeptObservation: @unchecked Sendable {
    let observation: ContextObservation
    init(_ observation: ContextObservation) { self.observation = observation }
}
