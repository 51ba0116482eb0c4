import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataCoreData

/// Files whose keys are no row numbers, such as tables that were rebuilt by hand. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct OtherKeysTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    private func change(_ statements: [String]) throws {
        let database = try WritableDatabase(folder.file)
        for statement in statements { try database.run(statement) }
        database.close()
    }

    private func change(_ statements: String...) throws { try change(statements) }

    private func imported() throws -> CoreDataImportReport {
        try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
    }

    private func reading<R>(_ body: (Store) throws -> R) throws -> R { try folder.reading(body) }

    private func compared() throws -> CoreDataComparison {
        try reading { try CoreDataVerification.run(folder.file, $0, options: .init()) }
    }

    private func uri(_ path: String) throws -> URL {
        try #require(URL(string: "x-coredata://7D6B1E2C-0000-4000-8000-00000000C0DE/\(path)"))
    }

    // MARK: The graph of a store, by names

    /// A sentence for each value and link, in which objects have their names.
    private func graph() throws -> [String] {
        try reading { store in
            try store.read(at: try store.head()) { snapshot in
                var lines: [String] = []
                var names: [ObjectID: String] = [:]
                for entity in store.schema.entities where !entity.isAbstract {
                    try snapshot.scan(entity.id) { id, row in
                        let image = try row.converted(to: entity)
                        let key = ["title", "name", "word", "image"].first { entity.property(named: $0) != nil }
                        let slot = try #require(key.flatMap { entity.property(named: $0)?.slot })
                        names[id] = try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                            "\(entity.name) \(try reader.value(slot))"
                        }
                        return true
                    }
                }
                for entity in store.schema.entities where !entity.isAbstract {
                    try snapshot.scan(entity.id) { id, row in
                        let image = try row.converted(to: entity)
                        for property in entity.properties {
                            if property.relationship?.isToMany == true {
                                let members = try snapshot.members(of: property.id, owner: id).map { names[$0] ?? "?" }
                                let isOrdered = property.relationship?.description.isOrdered == true
                                let list = isOrdered ? members : members.sorted()
                                lines.append("\(names[id] ?? "?").\(property.name): \(list)")
                                continue
                            }
                            if case .position = property.kind { continue }
                            let value = try image.withReader(entity.layout) { reader throws(CorruptRecord) in
                                try reader.value(property.slot)
                            }
                            var text = "\(value)"
                            if case .objectID(let target) = value { text = names[target] ?? "?" }
                            lines.append("\(names[id] ?? "?").\(property.name): \(text)")
                        }
                        return true
                    }
                }
                return lines.sorted()
            }
        }
    }

    // MARK: Tables that are rebuilt

    /// The columns of each table with the table that they lead to.
    private static let links: [(table: String, columns: [(name: String, target: String)])] = [
        ("ZAUTHOR", [("ZPORTRAIT", "ZPORTRAIT")]), ("ZPORTRAIT", [("ZAUTHOR", "ZAUTHOR")]), ("ZTAG", []),
        ("ZWORK", [("ZAUTHOR", "ZAUTHOR"), ("ZSEQUEL", "ZWORK")]),
        ("Z_3WORKS", [("Z_3TAGS", "ZTAG"), ("Z_4WORKS", "ZWORK")]),
    ]

    private static let columns = [
        "ZAUTHOR": "Z_PK, Z_ENT, Z_OPT, ZWORKCOUNT, ZPORTRAIT, ZNAME",
        "ZPORTRAIT": "Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZIMAGE",
        "ZTAG": "Z_PK, Z_ENT, Z_OPT, ZWORD", "Z_3WORKS": "Z_3TAGS, Z_4WORKS, Z_FOK_3TAGS",
        "ZWORK": "Z_PK, Z_ENT, Z_OPT, "
            + LibraryFile.works.split(separator: ",").map { $0.split(separator: " ")[0] }.joined(separator: ", "),
    ]

    /// Statements that make a table anew, with other keys.
    ///
    /// - Parameters:
    ///   - key: an expression that makes a key of `#`, the old one.
    ///   - tables: those whose keys are changed.
    ///   - ending: of the statement that makes a table.
    private static func rebuilt(
        _ key: String, of tables: Set<String>, keyType: String = "", linkType: String = "", ending: String = ""
    ) -> [String] {
        links.flatMap { table, links -> [String] in
            let names = (columns[table] ?? "").split(separator: ", ").map(String.init)
            let values = names.map { name -> String in
                let isKey = name == "Z_PK" && tables.contains(table)
                let isLink = links.contains { $0.name == name && tables.contains($0.target) }
                if name == "Z_ENT", tables.contains(table) { return "CAST(Z_ENT AS TEXT)" }
                return isKey || isLink
                    ? "CASE WHEN \(name) IS NOT NULL THEN \(key.replacing("#", with: name)) END" : name
            }
            let declared = names.map { name -> String in
                if name == "Z_PK" {
                    return tables.contains(table) ? "Z_PK \(keyType)" : "Z_PK INTEGER PRIMARY KEY"
                }
                let isLink = links.contains { $0.name == name && tables.contains($0.target) }
                return isLink ? "\(name) \(linkType)" : name
            }
            let isOfKeys = tables.contains(table) || table == "Z_3WORKS"
            let primary = table == "Z_3WORKS" ? ", PRIMARY KEY (Z_3TAGS, Z_4WORKS)" : ", PRIMARY KEY (Z_PK)"
            return [
                "ALTER TABLE \(table) RENAME TO OLD",
                "CREATE TABLE \(table) (\(declared.joined(separator: ", "))"
                    + (isOfKeys && !ending.isEmpty ? "\(primary)) \(ending)" : ")"),
                "INSERT INTO \(table) SELECT \(values.joined(separator: ", ")) FROM OLD", "DROP TABLE OLD",
            ]
        }
    }

    private static let all: Set<String> = ["ZAUTHOR", "ZPORTRAIT", "ZTAG", "ZWORK"]

    struct Form: Sendable, CustomStringConvertible {
        let key: String
        var tables = OtherKeysTests.all
        var keyType = ""
        var linkType = ""
        var ending = ""
        var description: String { "\(key) \(tables.count) \(keyType) \(linkType) \(ending)" }
    }

    private static let forms = [
        Form(key: "'key ' || #"), Form(key: "CAST(# AS TEXT)"), Form(key: "# + 0.5"), Form(key: "# * 1.0"),
        Form(key: "CAST('k' || # AS BLOB)"), Form(key: "-#"), Form(key: "# * 4000000000"),
        Form(key: "'key ' || #", ending: "WITHOUT ROWID"), Form(key: "#", ending: "WITHOUT ROWID"),
        Form(key: "'key ' || #", keyType: "VARCHAR(20)", linkType: "TEXT"),
        // SQLite compares the text of one with the number of the other as numbers.
        Form(key: "CAST(# AS TEXT)", keyType: "TEXT", linkType: "INTEGER"), Form(key: "#", keyType: "REAL"),
        Form(key: "#", keyType: "INTEGER", linkType: "TEXT"),
        Form(key: "'key ' || #", tables: ["ZAUTHOR"]), Form(key: "'key ' || #", tables: ["ZWORK"]),
        Form(key: "'key ' || #", tables: ["ZTAG"], ending: "WITHOUT ROWID"),
    ]

    @Test(arguments: forms) func everyRowAndLinkComesOver(form: Form) throws {
        try LibraryFile.fixture().write(to: folder.file)
        _ = try imported()
        let expected = try graph()
        try FileManager.default.removeItem(at: folder.store)
        try change(
            Self.rebuilt(
                form.key, of: form.tables, keyType: form.keyType, linkType: form.linkType, ending: form.ending))
        let bytes = try Data(contentsOf: URL(filePath: folder.file))
        let checked = try CoreDataImporter(folder.file, options: .init()).check()
        let report = try imported()
        #expect(report.rows == 8 && report.pairs == 3 && report.faults == [], "\(report.faults)")
        #expect(checked.faults == [] && checked.rows == 8 && checked.notes == report.notes)
        #expect(try graph() == expected)
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.rows == .init(equal: 8, total: 8), "\(comparison.differences)")
        #expect(comparison.danglingKeys == 0 && comparison.links.total > 0)
        #expect(try Data(contentsOf: URL(filePath: folder.file)) == bytes)
    }

    @Test func aTextOfANumberInALinkToRowNumbersIsThatNumber() throws {
        try LibraryFile.fixture().write(to: folder.file)
        _ = try imported()
        let expected = try graph()
        try FileManager.default.removeItem(at: folder.store)
        try change(
            "ALTER TABLE ZPORTRAIT RENAME TO OLD",
            "CREATE TABLE ZPORTRAIT (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZAUTHOR, ZIMAGE)",
            "INSERT INTO ZPORTRAIT SELECT Z_PK, Z_ENT, Z_OPT, CAST(ZAUTHOR AS TEXT), ZIMAGE FROM OLD", "DROP TABLE OLD")
        #expect(try imported().faults == [])
        #expect(try graph() == expected && compared().isEqual)
    }

    // MARK: Numbers

    @Test func aKeyThatSaysANumberKeepsItsURI() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try change(
            Self.rebuilt("CAST(# AS TEXT)", of: Self.all)
                + [
                    "INSERT INTO ZTAG VALUES ('lake', 3, 1, 'lake'), (NULL, 3, 1, 'river'), ('01', 3, 1, 'pond')",
                    "INSERT INTO ZTAG VALUES (NULL, 3, 1, 'brook'), (40, 3, 1, 'spring'), ('40', 3, 1, 'well')",
                ])
        let report = try imported()
        #expect(report.rows == 14 && report.faults == [], "\(report.faults)")
        #expect(
            report.notes.contains(
                "Tag: 7 keys are no whole numbers, and links were found by comparing them; 5 rows got a number in place "
                    + "of the key"), "\(report.notes)")
        let container = PersistentContainer(
            name: "Library", model: try reading { $0.schema.model }, at: .url(folder.store))
        try container.loadPersistentStores()
        defer { container.close() }
        let context = container.newBackgroundContext()
        let words = try ["Tag/p1", "Tag/p2", "Tag/p40", "Tag/p41", "Tag/p45"].map { path -> AttributeValue? in
            try container.objectID(forCoreDataURI: uri(path)).map { id -> AttributeValue in
                try context.frozen(context.existingObject(with: id)).value(forKey: "word")
            }
        }
        #expect(words == ["space", "sea", "spring", "lake", "well"].map { .string($0) })
        #expect(try container.objectID(forCoreDataURI: uri("Tag/p46")) == nil)
    }

    @Test func aLinkToNoKeyIsAFault() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try change(
            Self.rebuilt("'key ' || #", of: Self.all)
                + [
                    "UPDATE ZWORK SET ZAUTHOR = 'Lem' WHERE ZTITLE = 'Solaris'",
                    // The number that the row with the key 'key 1' got.
                    "UPDATE ZWORK SET ZSEQUEL = 1 WHERE ZTITLE = 'Fiasco'",
                    "UPDATE Z_3WORKS SET Z_4WORKS = 'none' WHERE Z_3TAGS = 'key 2'",
                ])
        let report = try imported()
        #expect(report.rows == 8 && report.pairs == 2 && report.faultCounts == [.danglingKey: 3], "\(report.faults)")
        let found = Set(report.faults.map(\.description))
        #expect(
            found == [
                "Novel/p1.author leads to the key Lem, which no object has; the link is left out",
                "Novel/p3.sequel leads to the key 1, which no object has; the link is left out",
                "Tag.works has a link with the key none, which no object has, in the row 2 of Z_3WORKS; "
                    + "the link is left out",
            ], "\(found)")
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.danglingKeys == 3, "\(comparison.differences)")
    }

    @Test func aKeyThatTwoRowsHaveIsRefused() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try change(Self.rebuilt("'key ' || #", of: ["ZTAG"]) + ["UPDATE ZTAG SET Z_PK = 'key 1'"])
        let error = #expect(throws: StrataError.self) { try imported() }
        #expect(error?.message == "The file is damaged: two rows of ZTAG have the key key 1.")
        #expect(folder.names == ["Library.sqlite"])
    }

    @Test func anInterruptedImportGoesOn() throws {
        let works = (10..<12_010).map { key in
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZSEQUEL) VALUES (\(key), 5, 'T \(key)', \(key + 1))"
        }
        try LibraryFile.fixture(moreRows: works + ["UPDATE ZWORK SET ZSEQUEL = 1 WHERE Z_PK = 12009"])
            .write(to: folder.file)
        try change(Self.rebuilt("'key ' || #", of: Self.all))
        try folder.interruptImport(after: 11)
        let report = try imported()
        #expect(report.wasResumed && report.rows == 12_008 && report.faults == [], "\(report.faults)")
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.danglingKeys == 0, "\(comparison.differences)")
        let sequel = try #require(graph().first { $0.hasPrefix("Novel \"T 11000\".sequel: ") })
        #expect(sequel.contains("T 11001"))
    }

    @Test func aFileWithoutModelComesOverToo() throws {
        var fixture = LibraryFile.fixture()
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        try change(Self.rebuilt("'key ' || #", of: Self.all, linkType: "INTEGER"))
        let report = try imported()
        #expect(report.rows == 8 && !report.faults.contains { $0.kind == .unknownEntity }, "\(report.faults)")
        // The columns have no types, so that numbers are texts of the new store.
        let links = try compared().links
        #expect(links.equal == links.total && links.total > 5)
    }

    @Test func itGoesBackWithItsNumbers() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try change(Self.rebuilt("'key ' || #", of: Self.all))
        _ = try imported()
        let expected = try graph()
        let out = folder.url.appending(path: "Out.sqlite")
        try reading { _ = try CoreDataExporter.run($0, to: out) }
        try FileManager.default.removeItem(at: folder.store)
        _ = try PersistentContainer.importCoreDataStore(at: out, to: folder.store)
        #expect(try graph() == expected)
    }
}
