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

    /// What a listing could not show as it is.
    @Test(arguments: [
        ("", "it is empty"), ("  ", "it has no visible character"), ("\u{200B}", "it has no visible character"),
        (" cut", "it begins with a blank"), ("cut\u{3000}", "it ends with a blank"),
        ("a\u{1B}[2J", "it has the control character U+001B"), ("a\nb", "it has the control character U+000A"),
        ("a\u{202E}b", "it has the control character U+202E"),
    ])
    func namesAreVisibleText(name: String, complaint: String) throws {
        for (arguments, kind) in [
            (["tag", store.path, name], "a tag"), (["tag", store.path, "good", "--author", name], "an author"),
            (["update", store.path, "Film/p5", "rating=1", "--author", name], "an author"),
            (["history", "trim", store.path, "--before", "t3", "--author", name], "an author"),
            (["erase", store.path, "Film/p5", "--author", name], "an author"),
        ] {
            let result = try Tool.run(arguments)
            #expect(result.exitCode == 2 && result.output.isEmpty, "\(arguments) \(result)")
            #expect(result.error.hasSuffix(" is no name for \(kind): \(complaint).\n"), "\(arguments) \(result)")
            #expect(result.error.dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" })
        }
        try store.expectUntouched()
        let opened = try Store.open(.directory(store.directory), model: nil)
        defer { opened.close() }
        let container = try PersistentContainer(over: opened)
        #expect(throws: StrataError.self) { try container.subscription(named: name) }
        #expect(try container.subscriptions().isEmpty)
    }

    @Test func namesOfAnyScriptAreTags() throws {
        let names = ["漢字", "v1 – β/2", "👩🏽‍🚀", "שלום", String(repeating: "x", count: 400)]
        for name in names { #expect(try run("tag", name, "--author", name).exitCode == 0, "\(name)") }
        let listed = try run("tag").output
        #expect(names.allSatisfy { listed.contains("\n\($0)  ") }, "\(listed)")
        for name in names { #expect(try run("tag", name, "--remove").output == "removed \(name)\n") }
        let long = try run("tag", String(repeating: "x", count: 401))
        #expect(long.exitCode == 1 && long.error == "strata: The name of a tag has at most 400 bytes.\n", "\(long)")
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
