import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataCoreData

/// The persistent history of a file as transactions and notes. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct PersistentHistoryTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    /// The columns of the tables, as far as they are read.
    private static let tables = [
        "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
            + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR)",
        "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
            + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)",
        "CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)",
    ]

    /// The kind, the number of the entity, the key and the transaction of each change.
    private static let changes: [(Int, Int, Int, Int)] = [
        // Inserted: two authors, two tags; then the works and a portrait. Two works change later.
        (0, 1, 1, 1), (0, 1, 5, 1), (0, 3, 1, 1), (0, 3, 2, 1),
        (0, 5, 1, 2), (0, 6, 2, 2), (0, 5, 3, 2), (0, 2, 7, 2),
        (1, 6, 2, 3), (2, 3, 9, 3), (1, 5, 1, 4),
        // A tag that is gone, a change of no kind, an entity of no number, a key of no row.
        (0, 3, 10, 5), (2, 3, 10, 5), (9, 3, 1, 5), (0, 99, 1, 5), (0, 1, -5, 5),
    ]

    private static var rows: [String] {
        let changes = Self.changes.enumerated().map { index, change in
            "INSERT INTO ACHANGE VALUES "
                + "(\(index + 1), 16001, 1, \(change.0), \(change.1), \(change.2), \(change.3), NULL)"
        }
        return [
            "INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app'), (2, 16003, 1, 'org.example'), "
                + "(3, 16003, 1, 'view'), (4, 16003, 1, 'Library')",
            "INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, 2, 3, 4, 700000000, NULL), "
                + "(2, 16002, 1, NULL, 2, NULL, 4, 700000060.5, 'sync'), (3, 16002, 1, 1, 2, 3, 4, 700000120, NULL), "
                + "(4, 16002, 1, 1, 2, 3, 4, 700000180, NULL), (5, 16002, 1, 1, 2, 3, 4, 1e300, NULL)",
        ] + changes
    }

    private func write(_ more: [String] = []) throws {
        var fixture = LibraryFile.fixture(moreRows: Self.rows + more)
        fixture.joins += Self.tables
        try fixture.write(to: folder.file)
    }

    private static let expected = {
        var history = CoreDataImportReport.History()
        (history.transactions, history.chained, history.partial, history.notes) = (5, 4, 2, 1)
        return history
    }()

    private func imported() throws -> CoreDataImportReport {
        try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
    }

    @Test func rowsComeInTheTransactionsThatChangedThemLast() throws {
        try write()
        #expect(try CoreDataImporter(folder.file, options: .init()).check().history == Self.expected)
        #expect(try imported().history == Self.expected)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        #expect(try store.verify(.full).isSound)
        let comparison = try CoreDataVerification.run(folder.file, store, options: .init())
        #expect(comparison.isEqual && comparison.additional == 0, "\(comparison.differences)")
        let all = try store.transactions(before: nil, limit: 100)
        let chain = Array(all.filter { $0.metadata["coredata.transaction"] != nil }.reversed())
        #expect(chain.map { $0.metadata["coredata.transaction"] } == ["1", "2", "3", "4"])
        #expect(chain.map(\.author) == ["app", "sync", "app", "app"])
        #expect(chain.map(\.contextName) == ["view", "import", "view", "view"])
        let second = chain[1].metadata
        #expect(second["coredata.date"] == "2023-03-08T20:27:40.500Z" && second["coredata.context"] == nil)
        #expect(second["coredata.bundle"] == "org.example" && second["coredata.process"] == "Library")
        #expect(second["coredata.changes"] == "inserted=4 updated=0 deleted=0")
        // By entity: authors, novels and poems, tags, portraits.
        let counts = try chain.map { transaction in
            try store.read(at: transaction.lastEvent) { snapshot in
                try ["Author", "Novel", "Poem", "Tag", "Portrait"].map { name in
                    try snapshot.count(of: try #require(store.schema.entity(named: name)).id)
                }
            }
        }
        #expect(counts == [[2, 0, 0, 2, 0], [2, 1, 0, 2, 1], [2, 1, 1, 2, 1], [2, 2, 1, 2, 1]])
        #expect(
            try store.metadata()["coredata.history.1"]
                == .string(
                    "1e+300; author=app; context=view; bundle=org.example; process=Library; "
                        + "inserted=3 updated=0 deleted=1"))
    }

    @Test func anInterruptedImportGoesOnWithTheHistory() throws {
        let many = 20...3_019
        try write(
            many.map { "INSERT INTO ZTAG VALUES (\($0), 3, 1, 'tag \($0)')" }
                + ["INSERT INTO ATRANSACTION (Z_PK, ZTIMESTAMP) VALUES (6, 0), (7, 1)"]
                + many.map { key in
                    "INSERT INTO ACHANGE VALUES (\(key + 100), 16001, 1, 0, 3, \(key), \(key < 2_000 ? 6 : 7), NULL)"
                })
        try folder.interruptImport(after: 2)
        let report = try imported()
        #expect(report.wasResumed && report.rows == 3_008 && report.history.chained == 6)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        #expect(try store.verify(.full).isSound)
        #expect(try CoreDataVerification.run(folder.file, store, options: .init()).isEqual)
        let numbers = try store.transactions(before: nil, limit: 100)
            .compactMap { $0.metadata["coredata.transaction"] }
        #expect(numbers.reversed() == ["1", "2", "3", "4", "6", "7"])
    }

    @Test func aHistoryOfOtherColumnsIsLeftOut() throws {
        var fixture = LibraryFile.fixture()
        fixture.joins += ["CREATE TABLE ATRANSACTION (Z_PK INTEGER)", "CREATE TABLE ACHANGE (Z_PK INTEGER)"]
        try fixture.write(to: folder.file)
        #expect(try imported().history == CoreDataImportReport.History())
    }
}
