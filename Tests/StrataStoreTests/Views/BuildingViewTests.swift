import Foundation
import Locking
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// New and changed views that are built beside the saves, and the ones that they replace.
@Suite struct BuildingViewTests {
    private static func byTitle(
        _ condition: String? = nil, version: Int = 1, _ upkeep: ViewUpkeep = .inline
    ) throws -> ViewDescription {
        var view = ViewDescription(
            name: "ByTitle", version: version, entityName: "Work",
            where: try condition.map { try FetchPredicate(format: $0) }, keys: [ViewKey("title")],
            aggregates: [ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross")],
            orders: [ViewOrder("gross", isAscending: false)])
        view.upkeep = upkeep
        return view
    }

    /// A store that has a view already, so that it has the tables.
    private func fixture(
        _ views: [ViewDescription] = [FilmViews.films], _ keeping: ViewKeeping = .byHand, objects: Int = 3,
        location: StoreLocation = .inMemory
    ) throws -> StoreFixture {
        var options = StoreOptions()
        options.viewKeeping = keeping
        options.viewStepLimits.objects = objects
        return try StoreFixture(location, model: try FilmViews.model(views), options: options)
    }

    private func film(_ title: String, _ gross: Int, _ fixture: StoreFixture) throws -> ObjectID {
        try fixture.insert("Film", ["title": .string(title), "gross": .decimal(Decimal(gross))])
    }

    private func rows(
        _ store: Store, at eventNumber: EventNumber? = nil, through schema: Schema? = nil, limit: Int = 0
    ) throws -> [String] {
        let sort = limit > 0 ? [SortDescription("gross", isAscending: false)] : []
        return try store.read(at: try eventNumber ?? store.head(), through: schema) { snapshot in
            try snapshot.rows(ViewRequest("ByTitle", sortedBy: sort, limit: limit)).map {
                $0.map { "\($0)" }.joined(separator: " ").replacing("\"", with: "")
            }
        }
    }

    private func explanation(
        _ store: Store, at eventNumber: EventNumber? = nil, through schema: Schema? = nil
    ) throws -> String {
        try store.read(at: try eventNumber ?? store.head(), through: schema) {
            try $0.explain(ViewRequest("ByTitle")).description
        }
    }

    private func groups(_ store: Store) throws -> Int {
        try store.views().first { $0.description.name == "ByTitle" }?.groupCount ?? 0
    }

    private func phase(_ store: Store) throws -> ViewUpkeepState.Phase { try store.viewState("ByTitle").phase }

    // MARK: Building

    /// While one step is written the next one is made. It is dropped if another worker was first.
    @Test func aStepThatWasPreparedIsWrittenOnlyWhereItBegins() throws {
        let fixture = try fixture()
        let store = fixture.store
        for number in 0..<20 { _ = try film("t\(number % 4)", number, fixture) }
        try store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle()]))
        let workers = (store.viewWorker(), store.viewWorker())
        var prepared: ViewStep?
        _ = try workers.0.advance("ByTitle", &prepared)
        #expect(prepared != nil && prepared?.before != nil)
        #expect(try phase(store) == .building(3.0 / 20))
        var others: ViewStep?
        _ = try workers.1.advance("ByTitle", &others)
        #expect(try phase(store) == .building(6.0 / 20))
        _ = try workers.0.advance("ByTitle", &prepared)
        #expect(try prepared == nil && phase(store) == .building(6.0 / 20))
        // The other one's next step is still good, whatever was saved since it was made.
        _ = try film("t9", 100, fixture)
        _ = try workers.1.advance("ByTitle", &others)
        #expect(try phase(store) == .building(9.0 / 21))
        try store.keepViews()
        #expect(try rows(store) == ["t0 5 40", "t1 5 45", "t2 5 50", "t3 5 55", "t9 1 100"])
        #expect(try phase(store) == .live && store.verify().isSound)
    }

    @Test func aNewViewOfManyObjectsIsBuiltBesideTheSaves() throws {
        let fixture = try fixture()
        let store = fixture.store
        var films: [ObjectID] = []
        for number in 0..<8 { films.append(try film("t\(number % 3)", number, fixture)) }
        let before = try store.head()
        try store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle()]))
        #expect(try phase(store) == .building(0) && groups(store) == 0)
        #expect(try explanation(store).contains("made anew from the objects"))
        #expect(try rows(store) == ["t0 3 9", "t1 3 12", "t2 2 7"])
        try store.keepViews(steps: 1)
        #expect(try phase(store) == .building(3.0 / 8) && groups(store) == 3)
        #expect(try store.verify().isSound)
        // Saves on both sides of where it is; the rows are those of the objects at once.
        try fixture.update(films[0], ["title": .string("t9")])
        try fixture.delete(films[1])
        try fixture.update(films[7], ["gross": .decimal(100)])
        let last = ["t0 2 9", "t1 2 104", "t2 2 7", "t9 1 0"]
        #expect(try rows(store) == last && rows(store, limit: 1) == ["t1 2 104"])
        #expect(try groups(store) == 3)
        #expect(try store.verify().isSound)
        try store.keepViews(steps: 1)
        #expect(try store.verify().isSound && rows(store) == last)
        try store.keepViews()
        #expect(try phase(store) == .live && rows(store) == last && groups(store) == 4)
        #expect(try !explanation(store).contains("anew"))
        // From here on a save keeps it.
        _ = try film("t7", 1, fixture)
        #expect(try groups(store) == 5 && rows(store).last == "t9 1 0" && rows(store).contains("t7 1 1"))
        #expect(try rows(store, at: before) == ["t0 3 9", "t1 3 12", "t2 2 7"])
        #expect(try store.verify().isSound)
        #expect(try store.rebuild().isUnchanged)
    }

    @Test func aViewOfFewObjectsIsThereWithItsModel() throws {
        let fixture = try fixture(objects: 8)
        for number in 0..<8 { _ = try film("A", number, fixture) }
        try fixture.store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle()]))
        #expect(try phase(fixture.store) == .live && groups(fixture.store) == 1)
    }

    @Test func aBuildingViewAnswersNoRequestThatGroupsObjects() throws {
        let fixture = try fixture()
        let store = fixture.store
        let view = ViewDescription(
            name: "ByYear", entityName: "Work", keys: [ViewKey("year")], aggregates: [ViewAggregate("works", .count)])
        for number in 0..<8 { _ = try fixture.insert("Film", ["year": .integer(Int64(number % 2))]) }
        try store.adopt(try FilmViews.model([FilmViews.films, view]))
        let asked = RowsRequest(
            objects: StoreRequest(entityID: try fixture.entity("Work").id),
            columns: [OutputColumn("year"), OutputColumn("works", .function(.count, [.evaluatedObject]))],
            groupBy: ["year"])
        let head = try store.head()
        #expect(try !store.read(at: head) { try $0.explain(asked).description }.contains("view ByYear"))
        try store.keepViews()
        #expect(try store.read(at: head) { try $0.explain(asked).description }.contains("view ByYear"))
    }

    @Test func aBusyWriterIsOvertaken() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "building-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try fixture(location: .directory(url))
        for number in 0..<300 { _ = try film("t\(number % 7)", 1, first) }
        try first.store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle()]))
        first.store.close()
        var options = StoreOptions()
        options.viewStepLimits.objects = 20
        options.viewStepLimits.eventsInLastStep = 10
        let next = try StoreFixture(
            .directory(url), model: try FilmViews.model([FilmViews.films, Self.byTitle()]), options: options)
        defer { next.store.close() }
        var count = 300
        while try phase(next.store) != .live {
            try #require(count < 20_000)
            _ = try film("t\(count % 7)", 1, next)
            count += 1
        }
        let total = try rows(next.store).reduce(0) { $0 + (Int($1.split(separator: " ")[1]) ?? 0) }
        #expect(total == count)
        for _ in 0..<5 { _ = try film("late", 1, next) }
        #expect(try rows(next.store).first == "late 5 5")
        #expect(try next.store.verify().isSound)
        #expect(try next.store.rebuild().isUnchanged)
    }

    @Test func anObjectThatCannotBeGroupedStopsTheBuilding() throws {
        let fixture = try fixture()
        let store = fixture.store
        let bad = try film("(", 1, fixture)
        for number in 0..<5 { _ = try film("A", number, fixture) }
        try store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle("NOT 'x' MATCHES title")]))
        try store.keepViews()
        guard case .failed(let failure) = try phase(store) else {
            Issue.record("it has not failed")
            return
        }
        #expect(failure.object == bad && failure.reason.contains("pattern"))
        #expect { _ = try rows(store) } throws: { ($0 as? StrataError)?.code == .viewFailed }
        // Nothing may be left out of a view that is kept in each commit.
        #expect { try store.skipEvent(ofView: "ByTitle") } throws: { ($0 as? StrataError)?.code == .invalidRequest }
        // As long as it is not there, it refuses no save.
        _ = try film("B", 5, fixture)
        #expect(try store.verify().isSound)
        _ = try store.rebuild()
        #expect(try phase(store) == .building(0))
        try store.keepViews()
        guard case .failed = try phase(store) else { return }
        try fixture.update(bad, ["title": .string("C")])
        try store.retryView("ByTitle")
        try store.keepViews()
        #expect(try store.rebuild().isUnchanged && store.verify().isSound)
        #expect(try phase(store) == .live && rows(store) == ["A 5 10", "B 1 5", "C 1 1"])
        #expect { _ = try film("(", 1, fixture) } throws: { ($0 as? StrataError)?.code == .invalidRequest }
    }

    @Test func aRebuildMakesTheViewWhole() throws {
        for whole in [true, false] {
            let fixture = try fixture()
            let store = fixture.store
            for number in 0..<8 { _ = try film("t\(number % 3)", number, fixture) }
            try store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle()]))
            try store.keepViews(steps: 1)
            if whole { _ = try store.rebuild() } else { _ = try store.rebuild(view: "ByTitle") }
            #expect(try phase(store) == .live && groups(store) == 3)
            _ = try film("t9", 1, fixture)
            #expect(try groups(store) == 4 && store.verify().isSound)
        }
    }

    @Test func erasuresAndTruncationsHaveTheBuildingBeginAnew() throws {
        let fixture = try fixture()
        let store = fixture.store
        let first = try film("secret", 1, fixture)
        for number in 0..<8 { _ = try film("t\(number % 3)", number, fixture) }
        try store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle()]))
        try store.keepViews(steps: 1)
        #expect(try groups(store) == 3)
        _ = try store.erase(ErasureRequest(objects: [first], note: MaintenanceNote(author: "test")))
        #expect(try groups(store) == 0 && phase(store) == .building(0))
        _ = try film("t9", 9, fixture)
        #expect(try groups(store) == 0 && store.verify().isSound)
        try store.keepViews(steps: 1)
        #expect(try groups(store) == 3)
        _ = try film("t9", 9, fixture)
        let report = try store.truncateHistory(through: try store.head(), MaintenanceNote(author: "test"))
        #expect(report.holds.map(\.name) == ["ByTitle"])
        _ = try store.truncateHistory(through: try store.head(), force: .holds, MaintenanceNote(author: "test"))
        #expect(try groups(store) == 0 && store.verify().isSound)
        try store.keepViews()
        #expect(try rows(store) == ["t0 3 9", "t1 3 12", "t2 2 7", "t9 2 18"] && phase(store) == .live)
    }

    // MARK: Replacing

    @Test func aReplacedViewIsReadThroughItsModelUntilTheNewOneIsComplete() throws {
        for upkeep in ViewUpkeep.allCases {
            let fixture = try fixture([try Self.byTitle(upkeep)])
            let store = fixture.store
            for number in 0..<8 { _ = try film("t\(number % 3)", number, fixture) }
            try store.keepViews()
            let (old, moment) = (store.schema, try store.head())
            try store.adopt(try FilmViews.model([Self.byTitle("gross > 2", version: 2)]))
            let wasRead = "with what changed since \(moment)"
            #expect(try explanation(store, at: moment, through: old).contains(wasRead))
            let before = ["t0 3 9", "t1 3 12", "t2 2 7"]
            #expect(try rows(store, at: moment, through: old) == before)
            #expect(try rows(store) == ["t0 2 9", "t1 2 11", "t2 1 5"])
            _ = try film("t2", 10, fixture)
            try store.keepViews(steps: 1)
            #expect(try rows(store, at: moment, through: old) == before && store.verify().isSound)
            while try phase(store) != .live { try store.keepViews(steps: 1) }
            #expect(try store.verify().isSound)
            try store.keepViews()
            #expect(try !explanation(store, at: moment, through: old).contains(wasRead))
            #expect(try rows(store, at: moment, through: old) == before)
            #expect(try rows(store, at: moment) == ["t0 2 9", "t1 2 11", "t2 1 5"])
            #expect(try store.verify().isSound)
            #expect(try store.rebuild().isUnchanged)
        }
    }

    @Test func aViewThatIsGoneIsDroppedInSteps() throws {
        let fixture = try fixture([FilmViews.films, try Self.byTitle()])
        let store = fixture.store
        for number in 0..<8 { _ = try film("t\(number)", number, fixture) }
        func records() throws -> Int {
            try store.statistics().tables.filter { StoreTables.declaredViewNames.contains($0.name) }
                .reduce(0) { $0 + $1.entryCount }
        }
        let all = try records()
        try store.adopt(try FilmViews.model([FilmViews.films]))
        #expect(try records() == all && store.verify().isSound)
        try store.keepViews(steps: 1)
        #expect(try records() == all - 3 && store.verify().isSound)
        try store.keepViews()
        #expect(try records() < 4 && store.verify().isSound)
        #expect(try store.rebuild().isUnchanged)
    }

    // MARK: Migrations

    @Test func aMigrationLeavesTheViewsAloneThatItDoesNotTouch() throws {
        let fixture = try fixture([try Self.byTitle(.catchingUp)])
        let store = fixture.store
        for number in 0..<8 { _ = try film("t\(number % 3)", number, fixture) }
        try store.keepViews()
        let position = try store.head()
        _ = try film("t3", 1, fixture)
        // An attribute with values; then it becomes a text, and then another takes its place.
        let stars = AttributeDescription(name: "votes", type: .integer32, defaultValue: .integer(5))
        var text = stars
        text.type = .string
        text.defaultValue = .string("")
        var other = stars
        other.name = "marks"
        for extra in [[.attribute(stars)], [.attribute(text)], [.attribute(other)]] as [[PropertyDescription]] {
            try store.adopt(try FilmViews.model([Self.byTitle(.catchingUp)], extra: extra))
            let state = try store.viewState("ByTitle")
            #expect(state.phase == .live && state.eventNumber == position)
            #expect(try rows(store) == ["t0 3 9", "t1 3 12", "t2 2 7", "t3 1 1"])
            #expect(try store.verify().isSound)
        }
        try store.keepViews(steps: 1)
        #expect(try store.viewState("ByTitle").lagInEvents == 0 && groups(store) == 4)
        #expect(try store.verify().isSound)
        #expect(try store.rebuild().isUnchanged)
    }
}

extension BuildingViewTests {
    private static func byTitle(_ upkeep: ViewUpkeep) throws -> ViewDescription { try byTitle(nil, upkeep) }
}
