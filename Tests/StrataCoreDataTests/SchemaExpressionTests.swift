import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataCoreData

/// Files whose tables and indexes have expressions, and files with more in their lists than Core Data writes.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct SchemaExpressionTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    private func imported() throws -> CoreDataImportReport {
        try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
    }

    private func write(_ statements: [String]) throws {
        try LibraryFile.fixture().write(to: folder.file)
        let database = try WritableDatabase(folder.file)
        for statement in statements { try database.run(statement) }
        database.close()
    }

    /// Each takes 16 MB for a row; a file of a megabyte can have 50,000. They are in the log, because SQLite checks no
    /// rules in a file that it may not write.
    @Test(arguments: [
        ["CREATE INDEX slow ON ZTAG (length(hex(zeroblob(8000000 + Z_PK))))"],
        ["CREATE INDEX slow ON ZTAG (ZWORD) WHERE replace(ZWORD, 'a', 'b') > ''"],
        [
            "CREATE TABLE ZSLOW (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZA CHECK (length(hex(zeroblob(ZA))) > 0))",
            "INSERT INTO ZSLOW (Z_PK, ZA) VALUES (1, 8000000)",
        ],
        ["ALTER TABLE ZTAG ADD COLUMN ZB AS (instr(ZWORD, ZWORD))"],
    ])
    func expressionsThatTakeLongAreRefused(statements: [String]) throws {
        try LibraryFile.fixture().write(to: folder.file, inLog: statements)
        let error = #expect(throws: StrataError.self) { try imported() }
        #expect(error?.code == .persistentStoreOpen)
        let reason = "a rule, column or index calls a function that Core Data does not use"
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    }

    @Test func otherExpressionsOfIndexesDoNoHarm() throws {
        try write([
            "CREATE INDEX fine ON ZTAG (lower(ZWORD), abs(Z_OPT))",
            "CREATE INDEX part ON ZTAG (ZWORD) WHERE ZWORD LIKE 'a%'",
        ])
        #expect(try imported().faultCount == 0)
        #expect(try folder.reading { try CoreDataVerification.run(folder.file, $0, options: .init()) }.isEqual)
    }

    @Test func valuesOfGeneratedColumnsComeOver() throws {
        let names = ["number", "double", "triple"]
        let fixture = CoreDataFixture(
            entities: [
                EntityDescription(
                    name: "Page",
                    properties: names.map {
                        .attribute(AttributeDescription(name: $0, type: .integer64, isOptional: true))
                    })
            ],
            tables: [
                (
                    "ZPAGE",
                    "ZNUMBER INTEGER, ZDOUBLE INTEGER GENERATED ALWAYS AS (ZNUMBER * 2) VIRTUAL, "
                        + "ZTRIPLE INTEGER GENERATED ALWAYS AS (ZNUMBER * 3) STORED"
                )
            ], rows: ["INSERT INTO ZPAGE (Z_PK, Z_ENT, Z_OPT, ZNUMBER) VALUES (1, 1, 1, 7)"])
        try fixture.write(to: folder.file)
        let report = try imported()
        #expect(report.rows == 1 && report.faultCount == 0 && report.notes == [], "\(report.notes)")
        try folder.reading { store in
            let comparison = try CoreDataVerification.run(folder.file, store, options: .init())
            #expect(comparison.isEqual && comparison.values.total == 3, "\(comparison.differences)")
        }
    }

    @Test func moreEntitiesThanCoreDataWritesAreRefused() throws {
        try write([
            "INSERT INTO Z_PRIMARYKEY WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                + "SELECT i, 'E' || i, 0, 0 FROM n"
        ])
        let error = #expect(throws: StrataError.self) { try imported() }
        #expect(error?.message.hasSuffix("has more than 4000 entities.") == true)
    }

    /// The identifier is part of the new store's metadata, which has a limit of its own.
    @Test func aLongIdentifierIsRefusedBeforeAnythingIsMade() throws {
        try write(["UPDATE Z_METADATA SET Z_UUID = hex(zeroblob(2000000))"])
        let error = #expect(throws: StrataError.self) { try CoreDataImporter(folder.file, options: .init()).check() }
        #expect(error?.message.hasSuffix("has an identifier of 4000000 bytes: Core Data's have 36.") == true)
    }
}
