import Foundation
import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Full texts in a store: random histories, migrations, damage, copies, bounds.
@Suite struct TextStoreTests {
    private func withLocation(_ body: (StoreLocation, URL) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "texts-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        try body(.directory(url), url)
    }

    @Test(arguments: RandomTesting.seeds)
    func queriesFindWhatTheTextsSay(seed: UInt64) throws {
        var oracle = try TextOracle(seed: seed)
        for step in 0..<40 {
            try oracle.step()
            guard step % 4 == 0 else { continue }
            let problem = try oracle.problem(oracle.objects)
            try #require(problem == nil, "seed \(seed), step \(step)")
            let (layer, changed) = try oracle.pending()
            let unsaved = try oracle.problem(pending: layer, changed)
            try #require(unsaved == nil, "seed \(seed), step \(step), unsaved")
        }
        for (eventNumber, objects) in oracle.history.enumerated().filter({ $0.offset % 9 == 0 }).map(\.element) {
            let problem = try oracle.problem(at: eventNumber, objects)
            #expect(problem == nil, "seed \(seed), event \(eventNumber)")
        }
        #expect(try oracle.fixture.store.verify().isSound, "seed \(seed)")
        #expect(try oracle.fixture.store.rebuild().isUnchanged, "seed \(seed)")
        var limits = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 2_000)
        limits.batchInBytes = 900
        #expect(try oracle.fixture.store.rebuild(limits).isUnchanged, "seed \(seed)")
    }

    /// Each step has fewer words than it takes to go on, or a few objects.
    @Test(arguments: [2_000, 6_000]) func listsMadeInStepsAreThoseMadeAtOnce(stepInBytes: Int) throws {
        var oracle = try TextOracle(seed: 12)
        for _ in 0..<60 { try oracle.step() }
        let file = oracle.fixture.store.file
        let table = try #require(file.tables.views?.texts)
        func lists(_ transaction: ReadTransaction) throws -> [[UInt8]] {
            try transaction.withCursor(table) { cursor in
                var lists: [[UInt8]] = []
                var found = try cursor.first()
                while found {
                    lists.append(Array(cursor.key) + [0, 0] + Array(cursor.value))
                    found = try cursor.next()
                }
                return lists
            }
        }
        let kept = try file.environment.read { try lists($0) }
        try file.environment.write { transaction in
            let histories = try file.histories(for: file.readHead(transaction), transaction)
            let plan = IndexMap.of(try #require(histories.newest))
            let projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
            try transaction.clear(table)
            try projector.fill(plan.texts.texts, plan, table, transaction, stepInBytes: stepInBytes)
        }
        #expect(try file.environment.read { try lists($0) } == kept && kept.count > 20)
        oracle.fixture.store.close()
    }

    @Test func aStoreWithoutFullTextHasNoTableForIt() throws {
        try withLocation { location, _ in
            let fixture = try StoreFixture(location, model: try TextOracle.model([]))
            _ = try fixture.insert("Film", ["title": .string("Stalker")])
            #expect(fixture.store.file.tables.views == nil)
            #expect(!fixture.store.file.header.hasTexts)
            let film = try fixture.entity("Film").id
            let error = #expect(throws: StrataError.self) {
                try fixture.store.read(at: fixture.store.head()) {
                    try $0.fetch(StoreRequest(entityID: film, predicate: .matchesText("stalker")))
                }
            }
            #expect(error?.code == .invalidRequest)
            // A named attribute is read row by row.
            let found = try fixture.store.read(at: fixture.store.head()) {
                try $0.fetch(StoreRequest(entityID: film, predicate: .matchesText("stalker", in: "title")))
            }
            #expect(found.count == 1)
            fixture.store.close()
        }
    }

    @Test func declaringAndDroppingAFullTextMakesAndRemovesItsLists() throws {
        try withLocation { location, _ in
            var oracle = try TextOracle(seed: 4, location, model: try TextOracle.model([]))
            for _ in 0..<20 { try oracle.step() }
            let early = try #require(oracle.history.dropFirst(5).first)
            for names in [["title", "plot"], ["plot"], [], ["title", "plot"]] {
                oracle.fixture.store.close()
                oracle.fixture = try StoreFixture(location, model: try TextOracle.model(names))
                if !names.isEmpty {
                    #expect(try oracle.problem(oracle.objects, names: names) == nil)
                    #expect(try oracle.problem(at: early.0, early.1, names: names) == nil)
                    try oracle.step()
                    #expect(try oracle.problem(oracle.objects, names: names) == nil)
                }
                #expect(try oracle.fixture.store.verify().isSound)
                #expect(try oracle.fixture.store.rebuild().isUnchanged)
            }
            let header = try oracle.fixture.store.file.environment.read {
                try StoreFile.meta("header", oracle.fixture.store.file.tables, $0).map { try StoreHeader($0) }
            }
            #expect(header?.hasTexts == true && header?.hasViews == true)
            oracle.fixture.store.close()
        }
    }

    @Test func verifyFindsAWordThatIsMissing() throws {
        let fixture = try StoreFixture(model: try TextOracle.model())
        _ = try fixture.insert("Film", ["title": .string("Stalker in the zone")])
        let table = try #require(fixture.store.file.tables.views?.texts)
        try fixture.store.file.write { transaction in
            let cursor = try transaction.writeCursor(table)
            defer { cursor.close() }
            #expect(try cursor.last())
            try cursor.delete()
        }
        let report = try fixture.store.verify()
        #expect(!report.isSound)
        #expect("\(report)".contains("viewTexts"))
        #expect(try !fixture.store.rebuild().isUnchanged)
        #expect(try fixture.store.verify().isSound)
    }

    @Test func requestsOnTextsAreBounded() throws {
        let fixture = try StoreFixture(model: try TextOracle.model())
        var changes = try fixture.changes()
        let long = String(repeating: "the zone ", count: 200)
        for _ in 0..<300 { _ = try fixture.insert("Film", ["plot": .string(long)], into: &changes) }
        try fixture.save(changes)
        let film = try fixture.entity("Film").id
        let request = StoreRequest(entityID: film, predicate: .matchesText("\"the zone the zone\""), sort: [.relevance])
        try fixture.store.read(at: fixture.store.head()) { snapshot in
            #expect(try snapshot.fetch(request).count == 300)
            try snapshot.limit(RequestBudget(steps: 1000), nil)
            let error = #expect(throws: StrataError.self) { try snapshot.fetch(request) }
            #expect(error?.code == .budgetExceeded)
        }
    }

    @Test func explainNamesTheText() throws {
        let fixture = try StoreFixture(model: try TextOracle.model())
        var changes = try fixture.changes()
        for number in 0..<500 {
            let words = number.isMultiple(of: 50) ? "zone of wishes" : "room \(number)"
            _ = try fixture.insert(
                "Film", ["plot": .string(words), "year": .integer(Int64(1900 + number % 100))], into: &changes)
        }
        try fixture.save(changes)
        let film = try fixture.entity("Film").id
        let request = StoreRequest(
            entityID: film, predicate: .matchesText("zone") && (try FetchPredicate(format: "year == 1900")),
            sort: [.relevance])
        try fixture.store.read(at: fixture.store.head()) { snapshot in
            let text = try snapshot.explain(request).description
            #expect(text.contains("text of Film matching zone"))
            #expect(text.contains("sort by relevance"))
            #expect(try snapshot.fetch(request).count == 5)
        }
    }
}
