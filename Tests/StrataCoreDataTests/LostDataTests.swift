import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataXcode
import Testing

@testable import StrataCoreData

/// Nothing of a file is left out without a fault that counts it. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct LostDataTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    private func imported(_ options: CoreDataImportOptions = .init()) throws -> CoreDataImportReport {
        try PersistentContainer.importCoreDataStore(
            at: URL(filePath: folder.file), to: folder.store, options: options)
    }

    private func compared() throws -> CoreDataComparison {
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        return try CoreDataVerification.run(folder.file, store, options: .init())
    }

    /// Changes the file in place.
    private func change(_ statements: String...) throws {
        let database = try WritableDatabase(folder.file)
        for statement in statements { try database.run(statement) }
        database.close()
    }

    private func given(_ entities: [EntityDescription]) throws -> CoreDataImportOptions {
        let place = folder.url.appending(path: "Given.xcdatamodel", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try ManagedObjectModel(entities: entities).xcodeContents().write(to: place.appending(path: "contents"))
        var options = CoreDataImportOptions()
        options.model = place
        return options
    }

    private static let labels = EntityDescription(
        name: "Tag", properties: [.attribute(AttributeDescription(name: "word", type: .string, isOptional: true))])

    // MARK: Models

    @Test func rowsOfEntitiesThatTheGivenModelLacksAreFaults() throws {
        try LibraryFile.fixture().write(to: folder.file)
        var options = try given([Self.labels])
        let checked = try CoreDataImporter(folder.file, options: options).check()
        #expect(checked.rows == 2 && checked.faultCounts == [.unknownEntity: 6, .strayValue: 3], "\(checked.faults)")
        #expect(
            checked.faults.map(\.description).contains(
                "Author has 2 rows, and the model lacks the entity; they are left out"), "\(checked.faults)")
        options.onFault = .refuse
        let error = #expect(throws: StrataError.self) { try imported(options) }
        #expect(error?.message.hasPrefix("The file has 9 faults, so nothing was made") == true, "\(error as Any)")
    }

    @Test func aStoreIsComparedByTheModelThatItWasMadeWith() throws {
        try LibraryFile.fixture().write(to: folder.file)
        var entities = LibraryFile.entities
        // The file's own model has this as an attribute of another type.
        entities[0].properties[0] = .attribute(
            AttributeDescription(name: "name", type: .transformable, isOptional: true))
        entities[0].uniquenessConstraints = []
        // It is of data, and the file has texts.
        #expect(try imported(try given(entities)).faultCounts == [.unsoundValue: 2])
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.differences == [], "\(comparison.differences)")
    }

    @Test func valuesAndLinksThatTheGivenModelLacksAreFaults() throws {
        var fixture = LibraryFile.fixture()
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        var entities = LibraryFile.entities
        for name in ["works", "tags", "price", "portrait", "author", "workCount"] {
            for index in entities.indices where ["Author", "Tag", "Work", "Portrait"].contains(entities[index].name) {
                entities[index].properties.removeAll { $0.name == name }
            }
        }
        let options = try given(entities)
        let checked = try CoreDataImporter(folder.file, options: options).check()
        let expected = [
            "Author has 1 value in ZPORTRAIT, a column of no property of the model; it is left out",
            "Author has 2 values in ZWORKCOUNT, a column of no property of the model; they are left out",
            "Portrait has 1 value in ZAUTHOR, a column of no property of the model; it is left out",
            "Tag has 3 links in Z_3WORKS, a table of no relationship of the model; they are left out",
            "Work has 2 values in ZPRICE, a column of no property of the model; they are left out",
            "Work has 3 values in ZAUTHOR, a column of no property of the model; they are left out",
        ]
        #expect(checked.faults.map(\.description).sorted() == expected)
        #expect(checked.faultCounts == [.strayValue: 12])
        #expect(try imported(options).faultCounts == checked.faultCounts)
        let comparison = try compared()
        #expect(!comparison.isEqual && comparison.faultCounts == [.strayValue: 12], "\(comparison.differences)")
    }

    @Test func linksOfAToManyWithoutInverseComeOverByTheTables() throws {
        var fixture = LibraryFile.fixture(moreRows: [
            "ALTER TABLE ZTAG ADD COLUMN Z2LABELS INTEGER", "ALTER TABLE ZTAG ADD COLUMN Z_FOK_2LABELS INTEGER",
            "UPDATE ZTAG SET Z2LABELS = 7, Z_FOK_2LABELS = 3 - Z_PK",
        ])
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        let report = try imported()
        #expect(report.faults == [], "\(report.faults)")
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let portrait = store.schema.model.entitiesByName["Portrait"]
        let labels = portrait?.properties.first { $0.name == "labels" }?.relationship
        #expect(labels?.isToMany == true && labels?.isOrdered == true && labels?.destinationEntityName == "Tag")
        #expect(report.pairs == 5)
        #expect(try compared().isEqual)
    }

    @Test func aColumnOfEntitiesSaysWhereAToOneLeads() throws {
        // Both tables have the keys, and the name fits none.
        var fixture = LibraryFile.fixture(moreRows: [
            "ALTER TABLE ZTAG ADD COLUMN ZCHOICE INTEGER", "ALTER TABLE ZTAG ADD COLUMN Z4_CHOICE INTEGER",
            "UPDATE ZTAG SET ZCHOICE = 1, Z4_CHOICE = 5",
        ])
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        _ = try imported()
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let choice = store.schema.model.entitiesByName["Tag"]?.properties.first { $0.name == "choice" }?.relationship
        #expect(choice?.destinationEntityName == "Work")
        #expect(try compared().isEqual)
    }

    @Test func aValueThatIsTooLargeForASaveIsAFault() throws {
        try LibraryFile.fixture(moreRows: ["UPDATE ZWORK SET ZSHAPE = zeroblob(104857601) WHERE Z_PK = 1"])
            .write(to: folder.file)
        let report = try imported()
        #expect(report.faultCounts == [.unsoundValue: 1])
        #expect(
            report.faults.first?.description
                == "Novel/p1.shape has 104857601 bytes, and a row has at most 104857600 of a value; it is left out")
    }

    // MARK: Damage

    @Test func anIndexThatDiffersFromItsTableIsDamage() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try change(
            "CREATE INDEX ZWORK_ZPAGES_INDEX ON ZWORK (ZPAGES)", "PRAGMA writable_schema = ON",
            "UPDATE sqlite_master SET sql = 'CREATE INDEX ZWORK_ZPAGES_INDEX ON ZWORK (ZCOPIES)' "
                + "WHERE name = 'ZWORK_ZPAGES_INDEX'")
        let error = #expect(throws: StrataError.self) { try imported() }
        #expect(error?.message.contains("is damaged: row") == true, "\(error as Any)")
    }

    @Test func linksWithoutAKeyAreFaults() throws {
        try LibraryFile.fixture(moreRows: [
            "INSERT INTO Z_3WORKS VALUES (NULL, 1, 3)", "INSERT INTO Z_3WORKS VALUES (2, NULL, 3)",
        ]).write(to: folder.file)
        let report = try imported()
        #expect(report.pairs == 3 && report.faultCounts == [.danglingKey: 2], "\(report.faults)")
        #expect(report.faults.allSatisfy { $0.sentence.contains("a link without a key") }, "\(report.faults)")
    }

    @Test func aTableThatIsGoneIsAFault() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try change("UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = 'Portrait'", "DROP TABLE ZPORTRAIT")
        let report = try imported()
        #expect(report.faultCounts[.missingTable] == 1, "\(report.faults)")
        #expect(
            report.faults.map(\.description).contains(
                "Portrait has no table in the file; the last key that was given is 7; "
                    + "its objects are missing"), "\(report.faults)")
        #expect(try !compared().isEqual)
    }

    @Test func rowsOfAnEntityThatIsNotInTheListAreFaults() throws {
        var fixture = LibraryFile.fixture()
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        try change("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Portrait'")
        let report = try imported()
        #expect(report.faultCounts[.unknownEntity] == 1, "\(report.faults)")
        #expect(try !compared().isEqual)
    }

    @Test func aFileWhoseLogMayBeMissingHasANote() throws {
        try LibraryFile.fixture().write(to: folder.file, inLog: ["UPDATE ZTAG SET ZWORD = 'lake' WHERE Z_PK = 2"])
        let note = "the file is in WAL mode, and no -wal file lies beside it"
        #expect(try !CoreDataImporter(folder.file, options: .init()).check().notes.contains { $0.hasPrefix(note) })
        try FileManager.default.removeItem(atPath: folder.file + "-wal")
        #expect(try CoreDataImporter(folder.file, options: .init()).check().notes.contains { $0.hasPrefix(note) })
        #expect(try imported().notes.contains { $0.hasPrefix(note) })
    }

    @Test func aSymbolicLinkInPlaceOfAValueIsNotFollowed() throws {
        let name = UUID().uuidString
        let bytes = ([2] + Array(name.utf8) + [0]).map { String(format: "%02X", $0) }.joined()
        try LibraryFile.fixture(moreRows: ["UPDATE ZPORTRAIT SET ZIMAGE = x'\(bytes)'"]).write(to: folder.file)
        let external = folder.url.appending(path: ".Library_SUPPORT/_EXTERNAL_DATA", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: external.appending(path: name), withDestinationURL: URL(filePath: folder.file))
        let report = try imported()
        #expect(report.faultCounts == [.unsoundValue: 1])
        #expect(report.faults.first?.sentence.hasSuffix("which is a symbolic link") == true, "\(report.faults)")
    }

    @Test func oneDanglingKeyDoesNotMakeNumbersOfAToOne() throws {
        var fixture = LibraryFile.fixture(
            moreRows: (10..<50).map { key in
                "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (\(key), 5, 'Title', \(key == 20 ? 99 : 1))"
            })
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        let report = try imported()
        #expect(report.faultCounts[.danglingKey] == 1, "\(report.faults) \(report.notes)")
    }

    // MARK: Numbers

    @Test func thePairsOfAnEarlierRunCount() throws {
        let tags = (10..<310).map { "INSERT INTO ZTAG VALUES (\($0), 3, 1, 'tag')" }
        let works = (10..<110).map {
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE) VALUES (\($0), 5, 'Title')"
        }
        let pairs = (10..<310).map { tag in
            "INSERT INTO Z_3WORKS SELECT \(tag), Z_PK, 1 FROM ZWORK WHERE Z_PK >= 10"
        }
        try LibraryFile.fixture(moreRows: tags + works + pairs).write(to: folder.file)
        try folder.interruptImport(after: 3)
        let report = try imported()
        #expect(report.wasResumed && report.pairs == 30_003, "\(report.pairs)")
    }

    @Test func anImportWithOtherOptionsOrAnotherModelBeginsAgain() throws {
        let works = (10..<30_010).map { key in
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (\(key), 5, 'Title', 1)"
        }
        let tag = "INSERT INTO ZTAG VALUES (20, 3, 1, NULL)"
        try LibraryFile.fixture(moreRows: works + [tag]).write(to: folder.file)
        var listed = CoreDataImportOptions()
        listed.onFault = .list
        let other = try given([Self.labels])
        for (options, rows) in [(listed, 30_009), (other, 3)] {
            try folder.interruptImport(after: 25)
            let report = try imported(options)
            #expect(!report.wasResumed && report.rows == rows, "\(report.rows) \(report.notes)")
            let store = try Store.open(.directory(folder.store), model: nil)
            let words = store.schema.entity(named: "Tag")?.property(named: "word")
            #expect(words?.attribute?.isOptional == (rows == 3))
            store.close()
            try FileManager.default.removeItem(at: folder.store)
        }
    }

    @Test func theFaultsOfAnEarlierRunCount() throws {
        let works = (10..<30_010).map { key in
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (\(key), 5, 'Title', \(key < 12 ? 99 : 1))"
        }
        try LibraryFile.fixture(moreRows: works).write(to: folder.file)
        try folder.interruptImport(after: 25)
        let report = try imported()
        #expect(report.wasResumed && report.faultCounts[.danglingKey] == 2, "\(report.faults)")
    }

    @Test(arguments: [("1 << 60", 1), ("'first'", 1), ("7", 0), ("NULL", 1)]) func aPlaceThatNoneCanHaveIsAFault(
        place: String, faults: Int
    ) throws {
        let row = "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR, Z_FOK_AUTHOR) VALUES (20, 5, 'Title', 1, \(place))"
        try LibraryFile.fixture(moreRows: [row]).write(to: folder.file)
        let found = try imported().faults.filter { $0.kind == .unsoundPlace && $0.key == 20 }
        #expect(found.count == faults, "\(found)")
    }

    @Test func theLastKeyOfAFileIsKeptByAnExport() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try change("UPDATE Z_PRIMARYKEY SET Z_MAX = 70 WHERE Z_NAME = 'Tag'")
        _ = try imported()
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let out = folder.url.appending(path: "Out.sqlite")
        _ = try CoreDataExporter.run(store, to: out)
        let database = try SQLiteDatabase(out.path, .immutable, named: out.path, try SQLiteLibrary.shared.get())
        #expect(try database.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == 70)
        #expect(try database.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Author'") == 5)
    }
}
