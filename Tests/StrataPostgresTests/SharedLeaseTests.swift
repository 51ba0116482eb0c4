import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// Leases of a shared log, and the subscriptions that use them.
@Suite struct SharedLeaseTests {
    private let mine = UUID()
    private let theirs = UUID()

    // MARK: The contract

    @Test(arguments: TestLog.all) func aLeaseHasOneHolder(log: TestLog) throws {
        let connection = try log.make()
        let (first, second) = (try connection.connect().leases, try connection.connect().leases)
        let lease = try first.take("work", for: mine, during: .seconds(60))
        #expect(lease.holder == mine && lease.position == nil)
        #expect(lease.remaining > .seconds(50) && lease.remaining <= .seconds(60))
        let seen = try second.take("work", for: theirs, during: .seconds(60))
        #expect(seen.holder == mine && seen.fence == lease.fence)
        #expect(try second.take("other", for: theirs, during: .seconds(60)).holder == theirs)
        // The holder renews it.
        let renewed = try first.take("work", for: mine, during: .seconds(600))
        #expect(renewed.fence == lease.fence && renewed.remaining > .seconds(500))
    }

    @Test(arguments: TestLog.all) func aLeaseThatHasRunOutIsTakenOver(log: TestLog) throws {
        let leases = try log.make().connect().leases
        let lease = try leases.take("work", for: mine, during: .milliseconds(20))
        #expect(try leases.note(7, under: lease))
        Thread.sleep(forTimeInterval: 0.1)
        let taken = try leases.take("work", for: theirs, during: .seconds(60))
        #expect(taken.holder == theirs && taken.fence > lease.fence && taken.position == 7)
        // What the first holder still says comes too late.
        #expect(try !leases.note(8, under: lease))
        try leases.end(lease)
        #expect(try leases.take("work", for: mine, during: .seconds(60)).holder == theirs)
        #expect(try leases.note(9, under: taken))
        #expect(try leases.all(startingWith: "work").map(\.position) == [9])
    }

    @Test(arguments: TestLog.all) func aLeaseThatIsGivenUpIsFree(log: TestLog) throws {
        let leases = try log.make().connect().leases
        let lease = try leases.take("work", for: mine, during: .seconds(600))
        #expect(try leases.note(5, under: lease) && leases.note(3, under: lease))
        try leases.end(lease)
        let taken = try leases.take("work", for: theirs, during: .seconds(600))
        #expect(taken.holder == theirs && taken.fence == lease.fence + 1 && taken.position == 5)
    }

    @Test(arguments: TestLog.all) func leasesAreListedAndRemoved(log: TestLog) throws {
        let (leases, others) = (try log.make().connect().leases, try log.make().connect().leases)
        for name in ["b 2", "a", "b 1"] { _ = try leases.take(name, for: mine, during: .seconds(60)) }
        #expect(try leases.all(startingWith: "b ").map(\.name) == ["b 1", "b 2"])
        #expect(try others.all(startingWith: "").isEmpty)
        #expect(try leases.remove("a") && !leases.remove("a"))
        #expect(try leases.all(startingWith: "").count == 2)
    }

    @Test(arguments: TestLog.all) func ofManyWhoAskAtOnceOneGetsIt(log: TestLog) async throws {
        let connection = try log.make()
        for round in 0..<10 {
            let answers = try await withThrowingTaskGroup(of: (UUID, SharedLease).self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let (me, log) = (UUID(), try connection.connect())
                        defer { log.close() }
                        return (me, try log.leases.take("\(round)", for: me, during: .seconds(60)))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.0 == $0.1.holder } == 1)
            #expect(Set(answers.map(\.1.holder)).count == 1 && Set(answers.map(\.1.fence)) == [1])
        }
    }

    // MARK: Subscriptions

    private func node(_ connection: SharedLogConnection) throws -> PersistentContainer {
        try RaceWorld.container(at: .inMemory, log: PersistentStoreLog(connection))
    }

    private func note(_ text: String, _ container: PersistentContainer) throws {
        try container.saveNote(text, author: text)
    }

    /// Takes transactions on a task of its own until it is cancelled, and acknowledges each.
    private func subscriber(
        _ container: PersistentContainer, _ name: String, _ got: Locked<[String]>
    ) throws -> Task<Void, any Error> {
        let subscription = try container.subscription(named: "mailer")
        return Task.detached {
            for try await change in try subscription.transactions() {
                got.withLock { $0.append("\(name) \(change.transaction.author ?? "")") }
                try subscription.acknowledge(change.token)
            }
        }
    }

    /// Tasks of other tests may take all threads for minutes.
    private func wait(_ isMet: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(600)
        while !isMet(), .now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(isMet())
    }

    @Test(arguments: TestLog.all) func aSubscriptionRunsOnOneNodeAndMovesWhenThatEnds(log: TestLog) async throws {
        let connection = try log.make()
        let (first, second) = (try node(connection), try node(connection))
        defer { second.close() }
        let got = Locked<[String]>([])
        let begun = try subscriber(first, "first", got)
        try note("1", second)
        try await wait { got.withLock { $0 == ["first 1"] } }
        let waiting = try subscriber(second, "second", got)
        for text in ["2", "3"] { try note(text, second) }
        try await wait { got.withLock { $0 == ["first 1", "first 2", "first 3"] } }
        // A node that is closed gives its leases up.
        first.close()
        await #expect(throws: (any Error).self) { try await begun.value }
        for text in ["4", "5"] { try note(text, second) }
        try await wait { got.withLock { $0.suffix(2) == ["second 4", "second 5"] } }
        #expect(got.withLock { $0.count } == 5)
        try await wait { (try? second.subscriptions()["mailer"]) == (try? second.token().transaction) }
        waiting.cancel()
        _ = await waiting.result
    }

    @Test func aSubscriptionMovesWhenItsNodeCannotReachTheLog() async throws {
        let log = MemoryLog()
        let faulty = FaultyLog(log.client(), LogFaults(), seed: 1)
        let first = try node(SharedLogConnection(name: "first", timeout: .milliseconds(50)) { faulty })
        let second = try node(log.connection())
        defer {
            first.close()
            second.close()
        }
        let got = Locked<[String]>([])
        let begun = try subscriber(first, "first", got)
        try note("1", second)
        try await wait { got.withLock { $0 == ["first 1"] } }
        let waiting = try subscriber(second, "second", got)
        faulty.setCut(true)
        try note("2", second)
        // Nobody gets it before the lease has run out by the log's clock.
        try await Task.sleep(for: .milliseconds(50))
        #expect(got.withLock { $0.count } == 1)
        log.passTime(.seconds(60))
        try await wait { got.withLock { $0 == ["first 1", "second 2"] } }
        // What the first one has not acknowledged it cannot any more.
        faulty.setCut(false)
        try first.catchUp()
        let late = try first.subscription(named: "mailer")
        let token = try first.currentHistoryToken()
        do {
            try late.acknowledge(token)
            Issue.record("The second node holds the lease.")
        } catch let error as StrataError {
            #expect(error.code == .leaseLost)
        }
        for task in [begun, waiting] {
            task.cancel()
            _ = await task.result
        }
    }

    @Test func aSubscriptionIsKnownOnEveryNodeAndRemovedOnAll() throws {
        let log = MemoryLog()
        let (first, second) = (try node(log.connection()), try node(log.connection()))
        defer {
            first.close()
            second.close()
        }
        try note("1", first)
        let token = try first.currentHistoryToken()
        _ = try first.subscription(named: "mailer")
        try note("2", first)
        try second.catchUp()
        #expect(try second.subscriptions() == ["mailer": token.transaction])
        // It begins where the subscription is, not where this node is.
        #expect(try second.subscription(named: "mailer").acknowledged().transaction == token.transaction)
        #expect(try second.removeSubscription(named: "mailer"))
        #expect(try first.subscriptions().isEmpty)
    }
}
