import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Columns that types of the app make: in processes that have the type, and in those that do not.
@Suite struct ProjectionTests {
    /// A view with code under a name of its own.
    private struct Bags {
        let code: ProjectionCode
        let view: ViewDescription

        init(_ upkeep: ViewUpkeep = .inline, _ name: String = #function) {
            code = FilmViews.bag("ProjectionTests.\(name)")
            code.register()
            var view = FilmViews.bags
            view.keys = [ViewKey("released")]
            view.aggregates[1].projection = ProjectionReference(code.typeName, inputs: ["title"])
            view.upkeep = upkeep
            self.view = view
        }

        /// As in a process that does not have the type.
        func without<R>(_ body: () throws -> R) rethrows -> R {
            ProjectionCode.forget(code.typeName)
            defer { code.register() }
            return try body()
        }
    }

    private func fixture(_ views: [ViewDescription], _ location: StoreLocation = .inMemory) throws -> StoreFixture {
        var options = StoreOptions()
        options.viewKeeping = .byHand
        return try StoreFixture(location, model: try FilmViews.model(views), options: options)
    }

    @discardableResult
    private func film(_ title: String, _ fixture: StoreFixture) throws -> ObjectID {
        try fixture.insert("Film", ["title": .string(title), "released": .boolean(true)])
    }

    private func bag(_ store: Store, at eventNumber: EventNumber? = nil) throws -> String {
        try store.read(at: try eventNumber ?? store.head()) { snapshot in
            try snapshot.rows(ViewRequest("Bags")).map { "\($0[$0.startIndex + 2])" }.joined(separator: "; ")
                .replacing("\"", with: "").replacing("\\", with: "")
        }
    }

    private func state(_ store: Store) throws -> ViewUpkeepState { try store.viewState("Bags") }

    @Test(arguments: ViewUpkeep.allCases) func aProjectionIsKeptAndReadAtEveryMoment(upkeep: ViewUpkeep) throws {
        let bags = Bags(upkeep, "kept\(upkeep)")
        let fixture = try fixture([bags.view])
        let store = fixture.store
        let first = try film("A", fixture)
        try film("B", fixture)
        try store.keepViews()
        let early = try store.head()
        try fixture.update(first, ["title": .string("C")])
        try film("B", fixture)
        #expect(try bag(store) == "(B: 2, C: 1)")
        #expect(try bag(store, at: early) == "(A: 1, B: 1)")
        try store.keepViews()
        try fixture.delete(first)
        #expect(try bag(store) == "(B: 2)")
        #expect(try bag(store, at: early) == "(A: 1, B: 1)")
        let report = try store.verify()
        #expect(report.isSound && report.uncheckedViews.isEmpty)
        try store.keepViews()
        #expect(try store.rebuild().isUnchanged && store.rebuild(view: "Bags"))
    }

    @Test func aWriterWithoutTheTypeLeavesTheViewBehind() throws {
        let bags = Bags()
        let fixture = try fixture([bags.view, FilmViews.everything])
        let store = fixture.store
        try film("A", fixture)
        let position = try store.head()
        try bags.without {
            try film("B", fixture)
            let state = try state(store)
            #expect(state.phase == .live && state.eventNumber == position && state.lagInEvents == 1)
            // What is there is there to be read, at the event that it has reached.
            #expect(try bag(store, at: position) == "(A: 1)")
            let error = #expect(throws: StrataError.self) { try bag(store) }
            #expect(error?.code == .viewFailed && error?.message.contains(bags.code.typeName) == true)
            let report = try store.verify()
            #expect(report.isSound && report.uncheckedViews == ["Bags"])
            // Other views are in step.
            #expect(try store.viewState("Everything").lagInEvents == 0)
            try store.keepViews()
            #expect(try self.state(store).lagInEvents == 1)
        }
        // Behind, and never wrong.
        #expect(try bag(store) == "(A: 1, B: 1)")
        try film("C", fixture)
        #expect(try state(store).eventNumber == position)
        #expect(try store.verify().isSound)
        try store.keepViews()
        #expect(try state(store).lagInEvents == 0 && bag(store) == "(A: 1, B: 1, C: 1)")
        // From here on saves keep it again.
        try film("D", fixture)
        #expect(try state(store).lagInEvents == 0 && store.verify().isSound)
    }

    @Test func aNewViewWaitsForAProcessThatHasTheType() throws {
        let bags = Bags(.inline)
        let fixture = try fixture([FilmViews.everything])
        let store = fixture.store
        try film("A", fixture)
        try bags.without {
            try store.adopt(try FilmViews.model([FilmViews.everything, bags.view]))
            try film("B", fixture)
            #expect(try state(store).phase == .building(0) && store.verify().uncheckedViews == ["Bags"])
            #expect(throws: StrataError.self) { try store.rebuild(view: "Bags") }
        }
        try store.keepViews()
        #expect(try state(store).phase == .live && bag(store) == "(A: 1, B: 1)" && store.verify().isSound)
        // A rebuild of everything without the type leaves it to be built.
        try bags.without { _ = try store.rebuild() }
        #expect(try state(store).phase == .building(0) && bag(store) == "(A: 1, B: 1)")
        try store.keepViews()
        #expect(try state(store).phase == .live && store.verify().isSound)
    }

    @Test func anInlineProjectionThatThrowsRefusesTheSave() throws {
        let bags = Bags()
        let fixture = try fixture([bags.view])
        let store = fixture.store
        let first = try film("A", fixture)
        let before = try store.head()
        let error = #expect(throws: StrataError.self) { try film("(", fixture) }
        #expect(error?.code == .invalidRequest && error?.message.contains("a parenthesis") == true)
        #expect(error?.context.objectID != nil)
        #expect(throws: StrataError.self) { try fixture.update(first, ["title": .string("(")]) }
        #expect(try store.head() == before)
        #expect(try store.verify().isSound)
        try film("B", fixture)
        #expect(try bag(store) == "(A: 1, B: 1)" && store.verify().isSound)
    }

    @Test func anInlineViewBehindAToOneThatThrowsRefusesTheSave() throws {
        let view = ViewDescription(
            name: "Hostile", entityName: "Work", where: try FetchPredicate(format: "NOT 'x' MATCHES studio.name"),
            keys: [ViewKey("studio.name")], aggregates: [ViewAggregate("works", .count)])
        let fixture = try fixture([view])
        let store = fixture.store
        let studio = try fixture.insert("Studio", ["name": .string("A")])
        _ = try fixture.insert("Film", ["released": .boolean(true), "studio": .objectID(studio)])
        let before = try store.head()
        #expect(throws: StrataError.self) { try fixture.update(studio, ["name": .string("(")]) }
        #expect(try store.head() == before && store.verify().isSound)
        try fixture.update(studio, ["name": .string("B")])
        #expect(try store.verify().isSound)
    }

    @Test func oneThatCatchesUpStopsAtTheEventAndGoesOnWithoutTheObject() throws {
        let bags = Bags(.catchingUp)
        var other = FilmViews.everything
        other.upkeep = .catchingUp
        let fixture = try fixture([bags.view, other])
        let store = fixture.store
        let first = try film("A", fixture)
        try store.keepViews()
        try film("B", fixture)
        let last = try store.head()
        try fixture.update(first, ["title": .string("(")])
        try film("C", fixture)
        try store.keepViews()
        let stopped = try state(store)
        guard case .failed(let failure) = stopped.phase else {
            Issue.record("\(stopped.phase)")
            return
        }
        #expect(failure.eventNumber == last.advanced(by: 1) && failure.object == first)
        #expect(failure.reason.contains("a parenthesis") && stopped.eventNumber == last)
        #expect(try store.viewState("Everything").lagInEvents == 0)
        #expect(try bag(store, at: last) == "(A: 1, B: 1)")
        // A later change mends it.
        try fixture.update(first, ["title": .string("D")])
        try store.retryView("Bags")
        try store.keepViews()
        #expect(try state(store).phase == .live && bag(store) == "(B: 1, C: 1, D: 1)")
        // Left out, also by a process without the type.
        try fixture.update(first, ["title": .string("(")])
        try store.keepViews()
        try bags.without { try store.skipEvent(ofView: "Bags") }
        try store.keepViews()
        #expect(try state(store).leftOut == [first] && bag(store) == "(B: 1, C: 1)")
        #expect(try store.verify().isSound)
    }

    @Test func aModelNamesWhatAProjectionCannotRead() throws {
        var view = FilmViews.bags
        view.aggregates[1].projection = ProjectionReference("X", inputs: ["titel", "works", "title", "title"])
        view.orders = [ViewOrder("bag")]
        let error = #expect(throws: StrataError.self) { try FilmViews.model([view]) }
        let text = error.map { "\($0)" } ?? ""
        for part in ["titel", "reads a property twice", "of any length"] { #expect(text.contains(part), "\(text)") }
        view.aggregates[1].projection = nil
        let other = #expect(throws: StrataError.self) { try FilmViews.model([view]) }
        #expect(other.map { "\($0)" }?.contains("names no type of the app") == true)
    }
}
