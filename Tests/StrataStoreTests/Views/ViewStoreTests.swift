import Foundation
import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Views beside what happens to a store: other definitions, migrations, damage, copies.
@Suite struct ViewStoreTests {
    /// A store in a directory that is removed afterwards.
    private func withLocation(_ body: (StoreLocation, URL) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "views-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        try body(.directory(url), url)
    }

    private func fill(_ fixture: StoreFixture) throws {
        let studio = try fixture.insert("Studio", ["name": .string("Mosfilm")])
        for year in 0..<6 {
            _ = try fixture.insert(
                year.isMultiple(of: 2) ? "Film" : "Series",
                [
                    "title": .string("t\(year % 3)"), "year": .integer(Int64(1970 + year)), "rating": .double(0.1),
                    "gross": .decimal(Decimal(year) / 10), "released": .boolean(true),
                    "studio": year < 4 ? .objectID(studio) : .null,
                ])
        }
    }

    private func rows(_ store: Store, _ name: String, at eventNumber: EventNumber? = nil) throws -> [String] {
        try store.read(at: try eventNumber ?? store.head()) { snapshot in
            try snapshot.rows(ViewRequest(name)).map { $0.map { "\($0)" }.joined(separator: " ") }
        }
    }

    @Test func aStoreWithoutViewsHasNoTablesForThem() throws {
        try withLocation { location, _ in
            let plain = try ManagedObjectModel(entities: FilmViews.entities())
            let fixture = try StoreFixture(location, model: plain)
            try fill(fixture)
            #expect(fixture.store.file.tables.views == nil)
            #expect(!fixture.store.file.header.hasViews)
            let info = try fixture.store.file.environment.info()
            #expect(StoreTables.declaredViewNames.allSatisfy { info.tables[$0] == nil })
            fixture.store.close()
        }
    }

    /// Another process has given the store another model since the one to be installed was made.
    @Test func aModelThatWasMadeFromAFormerOneIsNotInstalled() throws {
        try withLocation { location, _ in
            let plain = try ManagedObjectModel(entities: FilmViews.entities())
            try StoreFixture(location, model: plain).store.close()
            try StoreFixture(location, model: try FilmViews.model()).store.close()
            var options = StoreOptions()
            options.replacedModel = ModelVersion(rawValue: 1)
            let error = #expect(throws: StrataError.self) { try Store.open(location, model: plain, options: options) }
            #expect(error?.code == .modelChanged, "\(String(describing: error))")
            options.replacedModel = ModelVersion(rawValue: 2)
            let store = try Store.open(location, model: plain, options: options)
            defer { store.close() }
            #expect(store.schema.version.rawValue == 3 && store.schema.model.views.isEmpty)
        }
    }

    @Test func aViewDeclaredLaterGroupsTheObjectsThatAreThere() throws {
        try withLocation { location, _ in
            let first = try StoreFixture(location, model: try ManagedObjectModel(entities: FilmViews.entities()))
            try fill(first)
            let before = try first.store.head()
            first.store.close()
            let fixture = try StoreFixture(location, model: try FilmViews.model())
            defer { fixture.store.close() }
            #expect(try rows(fixture.store, "Everything").first?.hasPrefix("6 ") == true)
            #expect(try rows(fixture.store, "ByTitleAndYear").count == 6)
            // A past state is read through the view too.
            #expect(try rows(fixture.store, "Everything", at: before).first?.hasPrefix("6 ") == true)
            #expect(try rows(fixture.store, "Everything", at: .zero).first?.hasPrefix("0 ") == true)
            #expect(try fixture.store.verify().isSound)
            #expect(try fixture.store.rebuild().isUnchanged)
            let header = try fixture.store.file.environment.read {
                try StoreFile.meta("header", fixture.store.file.tables, $0).map { try StoreHeader($0) }
            }
            #expect(header?.hasViews == true)
        }
    }

    @Test func anotherDefinitionTakesThePlaceOfTheOldOne() throws {
        try withLocation { location, _ in
            let first = try StoreFixture(location, model: try FilmViews.model([FilmViews.everything]))
            try fill(first)
            let id = try first.store.views().first?.id
            first.store.close()
            var changed = FilmViews.everything
            changed.keys = [ViewKey("released")]
            let second = try StoreFixture(location, model: try FilmViews.model([changed]))
            #expect(try second.store.views().map(\.groupCount) == [1])
            #expect(try second.store.views().first?.id != id)
            #expect(try rows(second.store, "Everything").first?.contains(" 6 ") == true)
            #expect(try second.store.verify().isSound)
            second.store.close()
            let third = try StoreFixture(location, model: try FilmViews.model([]))
            let tables = third.store.file.tables
            let left = try third.store.file.environment.read { transaction in
                try (tables.views.map { [$0.groups, $0.values] } ?? []).map { try transaction.count($0) }
            }
            #expect(left == [0, 0])
            #expect(try third.store.verify().isSound)
            #expect(try third.store.rebuild().isUnchanged)
            third.store.close()
        }
    }

    @Test func aMigrationChangesTheGroups() throws {
        try withLocation { location, _ in
            var byTitleAndYear = FilmViews.byTitleAndYear
            // A text has no place in an order.
            byTitleAndYear.orders.removeAll { $0.columns.contains { $0.keyPath == "when" } }
            let views = [byTitleAndYear, FilmViews.films]
            let first = try StoreFixture(location, model: try FilmViews.model(views))
            try fill(first)
            first.store.close()
            // `year` becomes text, with other values, and the old rows are read through the new layout.
            var entities = FilmViews.entities(extra: [
                .attribute(AttributeDescription(name: "stars", type: .integer16, defaultValue: .integer(3)))
            ])
            entities[0].properties = entities[0].properties.map { property in
                guard case .attribute(var attribute) = property, attribute.name == "year" else { return property }
                attribute.type = .string
                return .attribute(attribute)
            }
            var films = FilmViews.films
            films.keys = [ViewKey("stars")]
            films.aggregates = [ViewAggregate("works", .count), ViewAggregate("stars2", .sum, "stars")]
            for limit in [200_000, 1] {
                var options = StoreOptions()
                options.migration.limits.objectsInOneCommit = limit
                let copy = FileManager.default.temporaryDirectory.appending(path: "views-\(UUID().uuidString).strata")
                guard case .directory(let source) = location else { return }
                try FileManager.default.copyItem(at: source, to: copy)
                defer { try? FileManager.default.removeItem(at: copy) }
                let model = try ManagedObjectModel(entities: entities).adding(views: [byTitleAndYear, films])
                let second = try StoreFixture(.directory(copy), model: model, options: options)
                #expect(try rows(second.store, "Films") == ["3 3 9"])
                #expect(try rows(second.store, "ByTitleAndYear").contains { $0.contains("1973") })
                #expect(try rows(second.store, "ByTitleAndYear").count == 6)
                #expect(try second.store.verify().isSound)
                #expect(try second.store.rebuild().isUnchanged)
                second.store.close()
            }
        }
    }

    @Test(arguments: StoreTables.declaredViewNames)
    func damageIsFoundAndMended(table name: String) throws {
        let fixture = try StoreFixture(model: try FilmViews.model())
        try fill(fixture)
        // More values than the record of a group has itself.
        var changes = try fixture.changes()
        for number in 0..<60 { _ = try fixture.insert("Film", ["rating": .double(Double(number))], into: &changes) }
        try fixture.save(changes)
        let store = fixture.store
        let table = try #require(store.file.tables.viewTables.first { $0.name == name }?.table.main)
        let record = try store.file.environment.read { transaction in
            try transaction.withCursor(table) { cursor in
                _ = try cursor.first()
                return (key: Array(cursor.key), value: Array(cursor.value))
            }
        }
        func write(_ body: (WriteTransaction) throws -> Void) throws {
            try store.file.environment.write { try body($0) }
        }
        func mend() throws {
            #expect(try store.verify().problems.contains { $0.description.contains(name) })
            #expect(try !store.rebuild().isUnchanged)
            #expect(try store.verify().isSound)
        }
        var other = record.value
        other[0] ^= 1
        try write { transaction in
            try record.key.withUnsafeBytes { key in
                try other.withUnsafeBytes { try transaction.put(table, key, $0) }
            }
        }
        try mend()
        try write { transaction in _ = try record.key.withUnsafeBytes { try transaction.delete(table, $0) } }
        try mend()
        try write { transaction in
            try (record.key + [1]).withUnsafeBytes { key in
                try record.value.withUnsafeBytes { try transaction.put(table, key, $0) }
            }
        }
        try mend()
    }

    @Test func oneViewIsMadeAnew() throws {
        let fixture = try StoreFixture(model: try FilmViews.model())
        try fill(fixture)
        let store = fixture.store
        let before = try rows(store, "ByStudio")
        #expect(try store.rebuild(view: "ByStudio"))
        for table in try #require(store.file.tables.views).all {
            try store.file.environment.write { transaction in
                let cursor = try transaction.writeCursor(table)
                defer { cursor.close() }
                if try cursor.first() { try cursor.delete() }
            }
        }
        let isUnchanged = try store.views().map { try store.rebuild(view: $0.description.name) }
        #expect(isUnchanged.contains(false))
        #expect(try rows(store, "ByStudio") == before)
        #expect(try store.verify().isSound)
        let error = #expect(throws: StrataError.self) { try store.rebuild(view: "ByStudios") }
        #expect(error?.code == .unknownKey)
    }

    @Test func aViewOfTheStoreStaysWithoutTheModelOfAnApp() throws {
        try withLocation { location, _ in
            var own = FilmViews.byTitleAndYear
            own.isOfStore = true
            let first = try StoreFixture(location, model: try FilmViews.model([own, FilmViews.everything]))
            try fill(first)
            let head = try first.store.head()
            first.store.close()
            // The same model without the view is no other model.
            let second = try StoreFixture(location, model: try FilmViews.model([FilmViews.everything]))
            #expect(try second.store.head() == head)
            #expect(try rows(second.store, own.name).count == 6)
            try fill(second)
            second.store.close()
            // A model that cannot have it goes without it.
            var entities = FilmViews.entities()
            entities[0].properties.removeAll { $0.name == "weight" }
            let third = try StoreFixture(location, model: try ManagedObjectModel(entities: entities))
            #expect(try third.store.views().isEmpty)
            #expect(try third.store.verify().isSound)
            third.store.close()
        }
    }

    @Test func rowsOfEqualColumnsAreInTheOrderOfTheirKeysFromBothEnds() throws {
        let fixture = try StoreFixture(model: try FilmViews.model())
        try fill(fixture)
        let all = try rows(fixture.store, "ByTitleAndYear")
        for isAscending in [true, false] {
            let request = ViewRequest(
                "ByTitleAndYear", sortedBy: [SortDescription("works", isAscending: isAscending)], limit: 4, offset: 1)
            let found = try fixture.store.read(at: try fixture.store.head()) { snapshot in
                try snapshot.rows(request).map { $0.map { "\($0)" }.joined(separator: " ") }
            }
            #expect(found == Array(all.dropFirst().prefix(4)))
        }
    }

    @Test func aReplayedCopyHasTheSameGroups() throws {
        try withLocation { location, url in
            let first = try StoreFixture(location, model: try ManagedObjectModel(entities: FilmViews.entities()))
            try fill(first)
            first.store.close()
            let fixture = try StoreFixture(location, model: try FilmViews.model())
            try fill(fixture)
            let copy = url.deletingLastPathComponent().appending(path: "copy-\(UUID().uuidString).strata")
            defer { try? FileManager.default.removeItem(at: copy) }
            let report = try fixture.store.replay(through: try fixture.store.head(), to: copy)
            #expect(report.verification.isSound)
            let replayed = try Store.open(.directory(copy), model: nil)
            for view in try FilmViews.all() {
                #expect(try rows(replayed, view.name) == (try rows(fixture.store, view.name)))
            }
            replayed.close()
            fixture.store.close()
        }
    }

    /// The other store declares the first view of the file, for which there were no tables before.
    @Test func aStoreThatWasOpenBeforeTheFirstViewSavesOn() throws {
        try withLocation { location, _ in
            let first = try StoreFixture(location, model: try ManagedObjectModel(entities: FilmViews.entities()))
            try fill(first)
            let second = try StoreFixture(location, model: try FilmViews.model())
            try fill(first)
            #expect(try rows(second.store, "Everything").first?.hasPrefix("12 ") == true)
            #expect(try rows(first.store, "Everything") == rows(second.store, "Everything"))
            #expect(try first.store.verify().isSound)
            second.store.close()
            first.store.close()
        }
    }

    /// As `strata verify` has it that began beside `strata views create`.
    @Test(arguments: [VerificationDepth.full, .quick])
    func aStoreThatWasOpenBeforeTheFirstViewIsVerified(depth: VerificationDepth) throws {
        try withLocation { location, _ in
            let first = try StoreFixture(location, model: try ManagedObjectModel(entities: FilmViews.entities()))
            try fill(first)
            var options = StoreOptions()
            options.isReadOnly = true
            let reading = try Store.open(location, model: nil, options: options)
            defer { reading.close() }
            let second = try StoreFixture(location, model: try FilmViews.model())
            try fill(second)
            let report = try reading.verify(depth)
            #expect(report.isSound, "\(report)")
            #expect(depth == .quick || report.digests.contains { $0.name == "viewGroups" })
            #expect(try rows(reading, "Everything") == rows(second.store, "Everything"))
            second.store.close()
            first.store.close()
        }
    }

    @Test func unsavedRowsAreLaidOverTheGroups() throws {
        let fixture = try StoreFixture(model: try FilmViews.model())
        try fill(fixture)
        let film = try fixture.entity("Film")
        let id = try fixture.store.newObjectID(in: film.id)
        var builder = Layer.Builder(schema: fixture.schema)
        builder.setRow(
            id, try fixture.image("Film", ["rating": .double(-2), "released": .boolean(false)]), revision: .zero)
        let head = try fixture.store.head()
        let row = try fixture.store.read(at: head, layers: [builder.finish()]) { snapshot in
            try snapshot.rows(ViewRequest("Everything"))[0].map { "\($0)" }
        }
        #expect(row[0] == "7" && row[3] == "2" && row[4] == "-2.0")
    }

    @Test func rowsAreFilteredSortedAndCut() throws {
        let fixture = try StoreFixture(model: try FilmViews.model())
        try fill(fixture)
        let request = ViewRequest(
            "ByTitleAndYear", where: try FetchPredicate(format: "when > 1970 AND works == 1"),
            sortedBy: [SortDescription("when", isAscending: false)], limit: 2, offset: 1)
        let found = try fixture.store.read(at: try fixture.store.head()) { try $0.rows(request) }
        #expect(found.map { $0[$0.startIndex + 1] } == [.integer(1974), .integer(1973)])
        #expect(found.names == ["title", "when", "works", "rated", "weight", "first", "last", "dearest"])
        for (name, format) in [("ByTitle", "works == 1"), ("ByTitleAndYear", "work == 1")] {
            let error = #expect(throws: StrataError.self) {
                try fixture.store.read(at: try fixture.store.head()) {
                    try $0.rows(ViewRequest(name, where: try FetchPredicate(format: format)))
                }
            }
            #expect(error?.code == .unknownKey)
        }
    }
}
