import Foundation
import StrataGraph
import StrataStore
import Testing

/// Names of moments, and positions of consumers.
@Suite struct BookmarkCommandTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private func run(_ command: String, _ arguments: String...) throws -> Tool.Result {
        try Tool.run([command, store.path] + arguments)
    }

    @Test func tagsAreListedSetMovedAndRemoved() throws {
        #expect(
            try run("tag").output
                == """
                tag        event  transaction  time
                first cut     13  t3           2026-01-01T00:00:03.000Z

                """)
        try store.expectUntouched()
        let set = try run("tag", "second cut", "--at", "t4", "--author", "eve")
        #expect(set.exitCode == 0 && set.output.contains("second cut     14  t4"), "\(set)")
        #expect(try run("query", "Film", "--at", "second cut", "--columns", "title", "--format", "csv").exitCode == 0)
        #expect(try run("log", "--author", "eve").output.contains("maintenance"))
        // An existing tag moves.
        #expect(try run("tag", "second cut", "--at", "t2", "--json").output.contains("\"transaction\" : 2"))
        #expect(try run("tag", "second cut", "--remove").output == "removed second cut\n")
        let missing = try run("tag", "frist cut", "--remove")
        #expect(missing.exitCode == 2 && missing.error.contains("Did you mean 'first cut'?"), "\(missing)")
        #expect(try run("tag", "--remove").exitCode == 2)
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    @Test func subscriptionsShowTheirPositionAndLagAndAreDropped() throws {
        #expect(try run("subscriptions").output == "no subscription\n")
        try store.expectUntouched()
        let opened = try Store.open(.directory(store.directory), model: nil)
        let container = try PersistentContainer(over: opened)
        _ = try container.subscription(named: "mailer", from: .transaction(TransactionNumber(rawValue: 3)))
        _ = try container.subscription(named: "search")
        opened.close()
        #expect(
            try run("subscriptions").output
                == """
                subscription  position  lag  waiting since
                mailer              t3    2  2026-01-01T00:00:04.000Z
                search              t5    0  -

                """)
        let wrong = try run("subscriptions", "--drop", "mialer")
        #expect(wrong.exitCode == 2 && wrong.error.contains("Did you mean 'mailer'?"), "\(wrong)")
        #expect(try run("subscriptions", "--drop", "mailer").output == "dropped mailer\n")
        #expect(try run("subscriptions", "--json").output.contains("\"lag\" : 0"))
    }
}
