import Foundation
import StrataModel
import Testing

@testable import LMDB
@testable import StrataStore

/// Stores whose views a build of before the first release with views kept in another form.
@Suite struct FormerViewsTests {
    private func rows(_ store: Store) throws -> [[String]] {
        try FilmViews.all().map { view in
            try store.read(at: try store.head()) { snapshot in
                try snapshot.rows(ViewRequest(view.name)).map { ViewOracle.text(Array($0)) }.sorted()
            }
        }
    }

    private func header(_ store: Store) throws -> StoreHeader? {
        try store.file.environment.read {
            try StoreFile.meta("header", store.file.tables, $0).map { try StoreHeader($0) }
        }
    }

    /// Closes a store of some objects, with records of views that nothing can read.
    private func makeFormerStore(_ location: StoreLocation) throws -> [[String]] {
        let fixture = try StoreFixture(location, model: try FilmViews.model())
        defer { fixture.store.close() }
        let studio = try fixture.insert("Studio", ["name": .string("Mosfilm"), "stars": .integer(3)])
        for year in 0..<7 {
            _ = try fixture.insert(
                "Film",
                [
                    "title": .string("t\(year % 3)"), "year": .integer(Int64(1970 + year)), "rating": .double(0.1),
                    "gross": .decimal(Decimal(year) / 10), "released": .boolean(true), "studio": .objectID(studio),
                ])
        }
        let before = try rows(fixture.store)
        let tables = fixture.store.file.tables
        let views = try #require(tables.views)
        try fixture.store.file.environment.write { transaction in
            for table in [views.groups, views.values, views.orders] {
                let cursor = try transaction.writeCursor(table)
                defer { cursor.close() }
                var isThere = try cursor.first()
                while isThere {
                    try Array(cursor.key).withUnsafeBytes { key in
                        try [UInt8](repeating: 0xFF, count: 20).withUnsafeBytes { try cursor.put(key, $0) }
                    }
                    isThere = try cursor.next()
                }
            }
            // The bit that said of such a store that it has views.
            let bytes = try #require(try StoreFile.meta("header", tables, transaction).map { Array($0) })
            var former = try bytes.withUnsafeBytes { try StoreHeader($0) }
            #expect(former.readCompatibleFlags & 5 == 4)
            former.readCompatibleFlags = former.readCompatibleFlags & ~4 | 1
            try former.encoded().withUnsafeBytes { value in
                try StoreFile.withKey("header") { try transaction.put(tables.meta, $0, value) }
            }
        }
        return before
    }

    @Test func theirViewsAreMadeOfTheObjectsAndThenBuiltAnew() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "former-\(UUID().uuidString).strata")
        defer { try? FileManager.default.removeItem(at: url) }
        let before = try makeFormerStore(.directory(url))
        var reading = StoreOptions()
        reading.isReadOnly = true
        let reader = try Store.open(.directory(url), model: try FilmViews.model(), options: reading)
        #expect(try header(reader)?.hasFormerViews == true)
        #expect(try rows(reader) == before)
        reader.close()
        var options = StoreOptions()
        options.viewKeeping = .byHand
        let fixture = try StoreFixture(.directory(url), model: try FilmViews.model(), options: options)
        defer { fixture.store.close() }
        #expect(try header(fixture.store)?.hasFormerViews == false && header(fixture.store)?.hasViews == true)
        #expect(try fixture.store.viewStates().allSatisfy { $0.upkeep.phase != .live })
        #expect(try rows(fixture.store) == before)
        _ = try fixture.insert("Film", ["year": .integer(1970), "rating": .double(2), "released": .boolean(true)])
        let after = try rows(fixture.store)
        #expect(after != before)
        try fixture.store.keepViews()
        #expect(try fixture.store.viewStates().allSatisfy { $0.upkeep.phase == .live })
        #expect(try rows(fixture.store) == after)
        #expect(try fixture.store.verify().isSound)
        #expect(try fixture.store.rebuild().isUnchanged)
    }
}
