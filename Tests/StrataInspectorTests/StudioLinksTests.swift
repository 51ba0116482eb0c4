import StrataModel
import StrataStore
import Testing

@testable import StrataInspector

/// The links in an object's history, which Studio keeps from one page to the next.
@Suite struct StudioLinksTests {
    private let visit: StudioVisit
    private let store: Store
    private let film: ObjectID
    private let links = ShownLinks()

    init() throws {
        visit = try StudioVisit()
        store = visit.studio.stores[0].store
        film = try ObjectReference.parse("Film/p5", in: store, past: true)
    }

    private func tool(_ arguments: String...) throws {
        let result = try Tool.run(arguments)
        #expect(result.exitCode == 0, "\(result.error)")
    }

    /// The events, and how many transactions were looked at for them.
    private func look() throws -> (events: [EventNumber], transactions: Int) {
        var transactions = 0
        return (try links.events(of: film, in: store) { transactions += 1 }, transactions)
    }

    @Test func aSecondLookReadsOnlyWhatIsNew() throws {
        let first = try look()
        #expect(first.events.count == 2 && first.transactions == 5)
        let second = try look()
        #expect(second.events == first.events && second.transactions == 1)
        try tool("unlink", visit.store.path, "Film/p5", "genres", "Genre/p3")
        let third = try look()
        #expect(third.events.count == 3 && third.transactions == 2)
        #expect(Array(third.events.dropFirst()) == first.events)
        #expect(try look().events == third.events)
    }

    @Test func whatIsTruncatedIsForgotten() throws {
        #expect(try look().events.count == 2)
        try tool("unlink", visit.store.path, "Film/p5", "genres", "Genre/p3")
        try tool("history", "trim", visit.store.path, "--before", "t3", "--force")
        #expect(try look().events.count == 1)
        let history = try visit.page("object/Film/p5")["history"].items
        #expect(history.flatMap { $0["events"].items }.map { $0["kind"].text } == ["unlinked", "updated"])
    }

    @Test func aRequestThatIsStoppedReadsNoFurther() throws {
        #expect(throws: CancellationError.self) {
            try links.events(of: film, in: store) { throw CancellationError() }
        }
        #expect(try look().events.count == 2)
    }

    @Test func everyMomentShowsItsOwnLinks() throws {
        let then = ["linked", "linked", "inserted"]
        for (moment, kinds) in [("4", ["updated"] + then), ("3", then)] {
            let history = try visit.page("object/Film/p5", ["at": moment])["history"].items
            #expect(history.flatMap { $0["events"].items }.map { $0["kind"].text } == kinds, "\(moment)")
        }
        #expect(try visit.page("object/Film/p5", ["at": "2"])["history"].items.isEmpty)
    }
}
