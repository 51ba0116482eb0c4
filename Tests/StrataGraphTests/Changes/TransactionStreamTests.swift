import Foundation
import StrataGraph
import StrataModel
import Testing

@Suite(.verifiesStores) struct TransactionStreamTests {
    let container: PersistentContainer

    init() throws { container = try makeContainer([Movie.self, FamilyMember.self]) }

    private func save(_ title: String, in container: PersistentContainer? = nil) throws {
        let context = (container ?? self.container).newBackgroundContext()
        Movie(context: context).title = title
        try context.save()
    }

    private func titles(_ change: TransactionChanges) throws -> [AttributeValue] {
        try change.changes().compactMap { $0["title"]?.after }
    }

    @Test(.timeLimit(.minutes(30))) func aConsumerCatchesUpAndFollows() async throws {
        let token = try container.currentHistoryToken()
        try save("1")
        try save("2")
        var seen: [AttributeValue] = []
        var last = token
        for try await change in try container.transactions(since: token) {
            seen += try titles(change)
            last = change.token
            if seen.count < 5 { try save("\(seen.count + 2)") } else { break }
        }
        #expect(seen == ["1", "2", "3", "4", "5"].map { .string($0) })
        let copy = try JSONDecoder().decode(HistoryToken.self, from: try JSONEncoder().encode(last))
        #expect(copy == last)
        try save("after")
        var iterator = try container.transactions(since: copy).makeAsyncIterator()
        var found = try await iterator.next()
        while let change = found, try titles(change) != [.string("after")] { found = try await iterator.next() }
        #expect(found != nil)
    }

    @Test(.timeLimit(.minutes(30))) func cancellingEndsIt() async throws {
        let changes = try container.transactions(since: try container.currentHistoryToken())
        let task = Task {
            var count = 0
            for try await _ in changes { count += 1 }
            return count
        }
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        #expect(try await task.value == 0)
    }

    @Test(.timeLimit(.minutes(30))) func closingTheContainerEndsItWithAnError() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-feed-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let other = try makeContainer([Movie.self, FamilyMember.self], at: .url(directory))
        let changes = try other.transactions(since: try other.currentHistoryToken())
        let task = Task { for try await _ in changes {} }
        try await Task.sleep(for: .milliseconds(20))
        other.close()
        await #expect(throws: StrataError.self) { try await task.value }
    }

    @Test func tokensOfOtherStoresAndTimesAreRefused() throws {
        let other = try makeContainer([Movie.self, FamilyMember.self])
        let token = try other.currentHistoryToken()
        #expect(throws: StrataError.self) { try container.transactions(since: token) }
    }

    @Test(.timeLimit(.minutes(30))) func aSubscriptionGoesOnWhereItWas() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-sub-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let first = try makeContainer([Movie.self, FamilyMember.self], at: .url(directory))
        try save("before", in: first)
        let mailer = try first.subscription(named: "mailer")
        try save("1", in: first)
        try save("2", in: first)
        var iterator = try mailer.transactions().makeAsyncIterator()
        let one = try #require(try await iterator.next())
        #expect(try titles(one) == [.string("1")])
        try mailer.acknowledge(one.token)
        _ = try await iterator.next()
        // The second was delivered, not acknowledged: it comes again.
        first.close()
        let second = try makeContainer([Movie.self, FamilyMember.self], at: .url(directory))
        let again = try second.subscription(named: "mailer")
        var rest = try again.transactions().makeAsyncIterator()
        let two = try #require(try await rest.next())
        #expect(try titles(two) == [.string("2")])
        try again.acknowledge(two.token)
        try again.acknowledge(one.token)
        #expect(try again.acknowledged() == two.token)
        #expect(try second.subscriptions().keys.sorted() == ["mailer"])
        #expect(try second.removeSubscription(named: "mailer"))
        #expect(throws: StrataError.self) { try again.transactions() }
        second.close()
    }
}
