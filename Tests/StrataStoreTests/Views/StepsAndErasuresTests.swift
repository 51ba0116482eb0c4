import Foundation
import LMDB
import Locking
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Steps of views, and samples, that were made before values went from the log, and are to be written after it.
@Suite struct StepsAndErasuresTests {
    private static func byTitle(_ upkeep: ViewUpkeep) -> ViewDescription {
        var view = ViewDescription(
            name: "ByTitle", entityName: "Work", keys: [ViewKey("title")],
            aggregates: [
                ViewAggregate("works", .count), ViewAggregate("gross", .sum, "gross"),
                ViewAggregate("years", .countDistinct, "year"),
            ], orders: [ViewOrder("gross", isAscending: false, isRanked: true)])
        view.upkeep = upkeep
        return view
    }

    /// A store with films and a view that has no groups yet.
    private func fixture(_ upkeep: ViewUpkeep, objects: Int) throws -> (StoreFixture, [ObjectID]) {
        var options = StoreOptions()
        options.viewKeeping = .byHand
        options.viewStepLimits.objects = objects
        let fixture = try StoreFixture(model: try FilmViews.model([FilmViews.films]), options: options)
        var films = [try film("secret", 1, fixture)]
        for number in 0..<8 { films.append(try film("t\(number % 3)", number, fixture)) }
        try fixture.store.adopt(try FilmViews.model([FilmViews.films, Self.byTitle(upkeep)]))
        return (fixture, films)
    }

    private func film(_ title: String, _ gross: Int, _ fixture: StoreFixture) throws -> ObjectID {
        try fixture.insert(
            "Film", ["title": .string(title), "gross": .decimal(Decimal(gross)), "year": .integer(Int64(gross))])
    }

    private func rows(_ store: Store) throws -> [String] {
        try store.read(at: try store.head()) { snapshot in
            try snapshot.rows(ViewRequest("ByTitle")).map {
                $0.map { "\($0)" }.joined(separator: " ").replacing("\"", with: "")
            }
        }
    }

    private func groups(_ store: Store) throws -> Int {
        try store.views().first { $0.description.name == "ByTitle" }?.groupCount ?? 0
    }

    /// The thread of the test runs it.
    private struct Work: @unchecked Sendable {
        let run: () throws -> Void
    }

    /// A worker between whose making of a step and its writing something else happens once.
    private func worker(_ store: Store, meanwhile: @escaping () throws -> Void) -> ViewWorker {
        let (direct, isOver, work) = (store.jobsOnWriter(), Locked(false), Work(run: meanwhile))
        var worker = ViewWorker(file: store.file) { job in
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            if isFirst { try work.run() }
            try direct(job)
        }
        worker.limits = store.file.options.viewStepLimits
        return worker
    }

    @Test(arguments: ViewUpkeep.allCases, [[], ["title", "year"]])
    func aStepFromBeforeAnErasureIsNotWritten(upkeep: ViewUpkeep, attributes: [String]) throws {
        for objects in [3, 8] {
            let (fixture, films) = try fixture(upkeep, objects: objects)
            let store = fixture.store
            // The first step begins anew, from a view without a record or with an empty one.
            let beside = worker(store) {
                var request = ErasureRequest(objects: [films[0]], note: MaintenanceNote(author: "test"))
                if !attributes.isEmpty { request.attributes = attributes }
                _ = try store.erase(request)
            }
            var prepared: ViewStep?
            _ = try beside.advance("ByTitle", &prepared)
            #expect(try prepared == nil && groups(store) == 0 && store.verify().isSound)
            try store.keepViews()
            let rest = ["t0 3 9 3", "t1 3 12 3", "t2 2 7 2"]
            #expect(try rows(store) == (attributes.isEmpty ? rest : ["nil 1 1 0"] + rest))
            #expect(try store.rebuild(view: "ByTitle") && store.verify().isSound)
        }
    }

    /// The same for a step in the middle, which was made while the one before was written.
    @Test func aPreparedStepFromBeforeAnErasureIsNotWritten() throws {
        let (fixture, films) = try fixture(.catchingUp, objects: 3)
        let store = fixture.store
        var prepared: ViewStep?
        _ = try store.viewWorker().advance("ByTitle", &prepared)
        #expect(prepared != nil)
        for film in [films[4], films[5]] {
            _ = try store.erase(ErasureRequest(objects: [film], note: MaintenanceNote(author: "test")))
            _ = try store.viewWorker().advance("ByTitle", &prepared)
        }
        try store.keepViews()
        #expect(try rows(store) == ["secret 1 1 1", "t0 2 6 2", "t1 2 8 2", "t2 2 7 2"] && store.verify().isSound)
        #expect(try store.rebuild(view: "ByTitle"))
    }

    /// A thinning by force drops values that a view behind it needs to go on.
    @Test(arguments: [false, true]) func aThinningByForceHasTheViewMadeAnew(isBeside: Bool) throws {
        let (fixture, films) = try fixture(.catchingUp, objects: 100)
        let store = fixture.store
        let note = MaintenanceNote(author: "test")
        func changeAndThin() throws {
            for number in 0..<4 {
                try fixture.update(films[1], ["gross": .decimal(Decimal(number)), "title": .string("n\(number)")])
            }
            _ = try store.thinHistory(of: ["Work"], through: store.head(), force: .holds, note)
        }
        if isBeside {
            // The step is made before the changes.
            var prepared: ViewStep?
            _ = try worker(store, meanwhile: changeAndThin).advance("ByTitle", &prepared)
        } else {
            try store.keepViews()
            try changeAndThin()
        }
        #expect(try store.verify().isSound)
        #expect(try rows(store) == ["n3 1 3 1", "secret 1 1 1", "t0 2 9 2", "t1 3 12 3", "t2 2 7 2"])
        try store.keepViews()
        #expect(try store.viewState("ByTitle").lagInEvents == 0 && groups(store) == 5 && store.verify().isSound)
        #expect(try store.rebuild(view: "ByTitle"))
    }

    /// A truncation does not wait for a view without groups, whose first step may be at a state that is dropped.
    @Test(arguments: ViewUpkeep.allCases) func aStepBehindATruncationIsNotWritten(upkeep: ViewUpkeep) throws {
        let (fixture, films) = try fixture(upkeep, objects: 3)
        let store = fixture.store
        let beside = worker(store) {
            for number in 0..<4 { try fixture.update(films[0], ["gross": .decimal(Decimal(number))]) }
            _ = try store.truncateHistory(through: store.head(), MaintenanceNote(author: "test"))
        }
        var prepared: ViewStep?
        _ = try beside.advance("ByTitle", &prepared)
        #expect(try groups(store) == 0 && store.verify().isSound)
        let all = ["secret 1 3 1", "t0 3 9 3", "t1 3 12 3", "t2 2 7 2"]
        #expect(try rows(store) == all)
        try store.keepViews()
        #expect(try rows(store) == all && store.rebuild(view: "ByTitle") && store.verify().isSound)
    }

    /// Another process has sampled an index before an erasure, and saves after it.
    @Test func samplesFromBeforeAnErasureAreNotSaved() throws {
        let fixture = try StoreFixture(model: try ErasureFixture.model())
        let store = fixture.store
        var changes = try fixture.changes()
        var people: [ObjectID] = []
        for number in 0..<600 {
            people.append(
                try fixture.insert(
                    "Person", ["name": .string("n\(number)"), "code": .string("c")], into: &changes))
        }
        try fixture.save(changes)
        let index = try #require(fixture.schema.indexes.first { $0.name == "byName" })
        func sample(_ cache: StatisticsCache) throws {
            try store.read(at: try store.head()) { snapshot in
                _ = try #require(try cache.index(index, rows: 600, snapshot))
            }
        }
        func saved(_ cache: StatisticsCache) throws -> Int {
            try store.file.write { transaction in
                try cache.save(transaction, store.file.tables)
                let count = try StatisticsRecord.all(transaction, store.file.tables).count
                // The next cache has none to begin with.
                try StatisticsRecord.removeAll(transaction, store.file.tables)
                return count
            }
        }
        let (first, second) = (StatisticsCache(), StatisticsCache())
        try sample(first)
        #expect(try saved(first) == 1)
        try sample(second)
        _ = try store.erase(ErasureRequest(objects: [people[0]], note: ErasureFixture.note()))
        #expect(try saved(second) == 0)
        // It is sampled anew.
        try sample(second)
        #expect(try saved(second) == 1)
    }
}
