import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataCoreData

/// Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct CoreDataImportTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    private func imported(_ options: CoreDataImportOptions = .init()) throws -> CoreDataImportReport {
        try PersistentContainer.importCoreDataStore(
            at: URL(filePath: folder.file), to: folder.store, options: options)
    }

    private func reading<R>(_ body: (Store) throws -> R) throws -> R { try folder.reading(body) }

    private func compared(_ options: CoreDataImportOptions = .init()) throws -> CoreDataComparison {
        try reading { try CoreDataVerification.run(folder.file, $0, options: options) }
    }

    // MARK: What comes over

    @Test func everyRowAndLinkComesOver() throws {
        try LibraryFile.fixture().write(to: folder.file)
        let report = try imported()
        #expect(report.rows == 8 && report.pairs == 3 && report.faultCount == 0)
        #expect(report.entities.map(\.name) == ["Author", "Novel", "Poem", "Portrait", "Tag"])
        let comparison = try compared()
        #expect(comparison.isEqual, "\(comparison.differences)")
        #expect(comparison.rows == .init(equal: 8, total: 8))
        #expect(comparison.derived == .init(equal: 2, total: 2))
        #expect(comparison.additional == 0 && comparison.danglingKeys == 0)
        #expect(folder.names == ["Library.sqlite", "Library.strata"])
    }

    @Test func modelComesOver() throws {
        try LibraryFile.fixture().write(to: folder.file)
        _ = try imported()
        let model = try reading { $0.schema.model }
        let work = try #require(model.entitiesByName["Work"])
        #expect(work.isAbstract && work.attributesByName["title"]?.isOptional == false)
        #expect(work.attributesByName["title"]?.validationRules == [.length(minimum: 3, maximum: 50)])
        #expect(work.attributesByName["shape"]?.valueTransformerName == "Shape")
        #expect(work.relationshipsByName["sequel"]?.hasNoInverse == true)
        let author = try #require(model.entitiesByName["Author"])
        #expect(author.userInfo == ["table": "authors"] && author.uniquenessConstraints == [["name"]])
        #expect(author.attributesByName["workCount"]?.derivationExpression == .keyPath("works.@count"))
        #expect(author.relationshipsByName["works"]?.isOrdered == true)
        #expect(model.entitiesByName["Portrait"]?.attributesByName["image"]?.allowsExternalBinaryDataStorage == true)
        #expect(model.entitiesByName["Tag"]?.attributesByName["word"]?.defaultValue == .string("none"))
    }

    @Test func valuesAreThoseOfTheFile() throws {
        try LibraryFile.fixture().write(to: folder.file)
        _ = try imported()
        try reading { store in
            let solaris = try Self.object("Novel/p1", in: store)
            func value(_ key: String) throws -> AttributeValue { try Self.value(key, of: solaris, in: store) }
            #expect(try value("title") == .string("Solaris"))
            #expect(try value("pages") == .integer(-32768))
            #expect(try value("words") == .integer(.max))
            #expect(try value("price") == .decimal(Decimal(string: "12.99") ?? 0))
            #expect(try value("bought") == .date(Date(timeIntervalSinceReferenceDate: 656438400.123456789)))
            #expect(try value("isLent") == .boolean(true) && value("rating") == .float(4.5))
            #expect(try value("shape") == .data(Data([0xFF, 0])))
            #expect(try value("mark") == .string("a"))
        }
    }

    private static func uri(_ path: String) throws -> URL {
        try #require(URL(string: "x-coredata://7D6B1E2C-0000-4000-8000-00000000C0DE/\(path)"))
    }

    private static func object(_ path: String, in store: Store) throws -> ObjectID {
        try #require(try PersistentContainer(over: store).objectID(forCoreDataURI: uri(path)))
    }

    private static func value(_ name: String, of id: ObjectID, in store: Store) throws -> AttributeValue {
        let entity = try #require(store.schema.entity(id.entityID))
        let slot = try #require(entity.property(named: name)?.slot)
        return try store.read(at: try store.head()) { snapshot in
            let image = try #require(try snapshot.row(id)).converted(to: entity)
            return try image.withReader(entity.layout) { reader throws(CorruptRecord) in try reader.value(slot) }
        }
    }

    @Test func anOldURIFindsTheNewObject() throws {
        try LibraryFile.fixture().write(to: folder.file)
        _ = try imported()
        let container = PersistentContainer(
            name: "Library", model: try reading { $0.schema.model }, at: .url(folder.store))
        try container.loadPersistentStores()
        defer { container.close() }
        let author = try #require(try container.objectID(forCoreDataURI: Self.uri("Author/p5")))
        #expect(author.entityID == container.store.schema.entity(named: "Author")?.id)
        // A URI may name the entity that a relationship leads to.
        let poem = try #require(try container.objectID(forCoreDataURI: Self.uri("Work/p2")))
        #expect(poem.entityID == container.store.schema.entity(named: "Poem")?.id)
        #expect(try container.objectID(forCoreDataURI: Self.uri("Author/p2")) == nil)
        #expect(try container.objectID(forCoreDataURI: Self.uri("Author/p9223372036854775807")) == nil)
        let other = try #require(URL(string: "x-coredata://00000000-0000-4000-8000-000000000000/Author/p5"))
        #expect(try container.objectID(forCoreDataURI: other) == nil)
    }

    // MARK: The source

    @Test func whatIsOnlyInTheLogOfChangesComesOverAndTheFilesStayAsTheyAre() throws {
        try LibraryFile.fixture().write(
            to: folder.file, inLog: ["INSERT INTO ZTAG VALUES (9, 3, 1, 'late')", "DELETE FROM ZTAG WHERE Z_PK = 2"])
        let before = try ["", "-wal"].map { try Data(contentsOf: URL(filePath: folder.file + $0)) }
        let report = try imported()
        #expect(report.entities.first { $0.name == "Tag" }?.rows == 2)
        #expect(report.faultCounts == [.danglingKey: 1])
        #expect(try ["", "-wal"].map { try Data(contentsOf: URL(filePath: folder.file + $0)) } == before)
        #expect(folder.names == ["Library.sqlite", "Library.sqlite-wal", "Library.strata"])
    }

    @Test func dataInAFileBesideComesOver() throws {
        let name = "0F0E0D0C-0000-4000-8000-000000000001"
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let row = "INSERT INTO ZPORTRAIT (Z_PK, Z_ENT, ZIMAGE) VALUES "
        let lost = "0F0E0D0C-0000-4000-8000-000000000002"
        try LibraryFile.fixture(moreRows: [
            row + "(8, 2, \(CoreDataFixture.literal([2] + Array(name.utf8) + [0])))",
            row + "(9, 2, \(CoreDataFixture.literal([2] + Array(lost.utf8) + [0])))",
        ]).write(to: folder.file)
        let support = folder.url.appending(path: ".Library_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        try bytes.write(to: support.appending(path: name))
        let report = try imported()
        #expect(report.faultCounts == [.unsoundValue: 1])
        let comparison = try compared()
        #expect(comparison.rows == .init(equal: 9, total: 10))
        let finding = "Portrait/p9.image is in the file 0F0E0D0C-0000-4000-8000-000000000002, which is not there"
        #expect(comparison.differences == ["\(finding); it is left out"])
    }

    @Test func aFileWithoutModelComesOverByItsTables() throws {
        var fixture = LibraryFile.fixture()
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        let report = try imported()
        #expect(report.modelSource == CoreDataFile.ModelOrigin.tables.rawValue && report.rows == 8 && report.pairs == 3)
        #expect(try compared().isEqual)
        let model = try reading { $0.schema.model }
        #expect(model.entitiesByName["Work"]?.relationshipsByName["author"]?.destinationEntityName == "Author")
        #expect(model.entitiesByName["Tag"]?.relationshipsByName["works"]?.inverseName == "tags")
    }

    /// A damaged model is an error, but the rows are there.
    @Test func aFileWhoseModelIsDamagedComesOverByItsTablesIfAsked() throws {
        var fixture = LibraryFile.fixture()
        fixture.hasModel = false
        fixture.joins += CoreDataFixture.cache(Array(repeating: 0xFF, count: 9))
        try fixture.write(to: folder.file)
        #expect(throws: StrataError.self) { try imported() }
        var options = CoreDataImportOptions()
        options.modelSource = .tables
        let report = try imported(options)
        #expect(report.rows == 8 && report.pairs == 3 && report.faultCount == 0, "\(report.faults)")
        #expect(report.modelSource == CoreDataFile.ModelOrigin.chosenTables.rawValue)
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.links.total > 0, "\(comparison.differences)")
        #expect(try reading { $0.schema.model.entitiesByName["Work"]?.attributesByName["title"] } != nil)
    }

    // MARK: Faults

    private static let faults = [
        // A key that leads nowhere, a title that is too short, a required value that is nil.
        "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR) VALUES (10, 5, 'X', 99)",
        "INSERT INTO ZTAG VALUES (10, 3, 1, NULL)",
        // A name that another has, a number that is too large, a row of no entity.
        "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, ZNAME) VALUES (6, 1, 'Lem')",
        "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZPAGES) VALUES (11, 5, 'Long', 70000)",
        "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE) VALUES (12, 77, 'None')",
        // Portraits of authors who have another one, and none.
        "INSERT INTO ZPORTRAIT (Z_PK, Z_ENT, ZAUTHOR) VALUES (20, 2, 1), (21, 2, 5)",
    ]
    private static let counts: [CoreDataFault.Kind: Int] = [
        .danglingKey: 1, .brokenRule: 1, .missingValue: 1, .notUnique: 1, .unsoundValue: 1, .unknownEntity: 1,
        .oneSidedLink: 2,
    ]

    @Test func faultsAreRepairedAndListed() throws {
        try LibraryFile.fixture(moreRows: Self.faults).write(to: folder.file)
        let report = try imported()
        #expect(report.faultCounts == Self.counts)
        let lost = "Novel/p10.author leads to the key 99, which no object has; the link is left out"
        #expect(report.faults.contains { "\($0)" == lost })
        try reading { store in
            let tag = try Self.object("Tag/p10", in: store)
            #expect(try Self.value("word", of: tag, in: store) == .string("none"))
            let author = try Self.object("Author/p5", in: store)
            let portrait = try Self.object("Portrait/p21", in: store)
            #expect(try Self.value("portrait", of: author, in: store) == .objectID(portrait))
            #expect(try Self.value("author", of: Self.object("Portrait/p20", in: store), in: store) == .null)
            #expect(store.schema.entity(named: "Author")?.description.uniquenessConstraints == [])
        }
    }

    @Test func checkingFindsTheSameAndMakesNothing() throws {
        try LibraryFile.fixture(moreRows: Self.faults).write(to: folder.file)
        let report = try CoreDataImporter(folder.file, options: .init()).check()
        #expect(report.faultCounts == Self.counts && report.rows == 14 && report.pairs == 3)
        #expect(folder.names == ["Library.sqlite"])
    }

    @Test func refusedFaultsMakeNothing() throws {
        try LibraryFile.fixture(moreRows: Self.faults).write(to: folder.file)
        var options = CoreDataImportOptions()
        options.onFault = .refuse
        #expect(throws: StrataError.self) { try imported(options) }
        #expect(folder.names == ["Library.sqlite"])
    }

    /// Entities of one table have one-to-ones of the same name in columns of their own.
    @Test func oneToOnesOfSiblingsAreNotMixedUp() throws {
        func entity(_ name: String, _ parent: String?, _ property: String, _ other: String, _ inverse: String)
            -> EntityDescription
        {
            let link = RelationshipDescription(name: property, destinationEntityName: other, inverseName: inverse)
            return EntityDescription(
                name: name, superentityName: parent, properties: parent == nil ? [] : [.relationship(link)])
        }
        let fixture = CoreDataFixture(
            entities: [
                entity("Club", nil, "", "", ""), entity("Chess", "Club", "rules", "ChessRules", "club"),
                entity("Golf", "Club", "rules", "GolfRules", "club"),
                entity("Rules", nil, "", "", ""), entity("ChessRules", "Rules", "club", "Chess", "rules"),
                entity("GolfRules", "Rules", "club", "Golf", "rules"),
            ],
            tables: [
                ("ZCLUB", "ZRULES INTEGER, ZRULES1 INTEGER"), ("ZRULES", "ZCLUB INTEGER, ZCLUB1 INTEGER"),
            ],
            rows: [
                // Each has a pair that is sound, and one whose second end is missing.
                "INSERT INTO ZCLUB VALUES (1, 2, 1, 1, NULL), (2, 3, 1, NULL, 2), (3, 2, 1, 3, NULL), (4, 3, 1, NULL, 4)",
                "INSERT INTO ZRULES VALUES (1, 5, 1, 1, NULL), (2, 6, 1, NULL, 2), (3, 5, 1, NULL, NULL), "
                    + "(4, 6, 1, NULL, NULL)",
            ])
        try fixture.write(to: folder.file)
        let report = try imported()
        #expect(report.rows == 8 && report.faultCounts == [.oneSidedLink: 2])
        #expect(
            report.faults.map { "\($0)" }.sorted() == [
                "ChessRules/p3.club leads to no object, and the key 3 leads to it; the link is set at both ends",
                "GolfRules/p4.club leads to no object, and the key 4 leads to it; the link is set at both ends",
            ])
        // The file has six keys: two of the links at both ends, and two at one.
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.links == .init(equal: 6, total: 6), "\(comparison.differences)")
        #expect(comparison.completedLinks == 2 && comparison.differences == [])
        try reading { store in
            for (key, name) in [(1, "Chess"), (2, "Golf"), (3, "Chess"), (4, "Golf")] {
                let (club, rules) = (
                    try Self.object("\(name)/p\(key)", in: store), try Self.object("\(name)Rules/p\(key)", in: store)
                )
                #expect(try Self.value("rules", of: club, in: store) == .objectID(rules))
                #expect(try Self.value("club", of: rules, in: store) == .objectID(club))
            }
        }
    }

    /// The other end has a key, but of no object: the link is still the only one there is.
    @Test func anEndThatLeadsNowhereIsCompletedByItsPartner() throws {
        try LibraryFile.fixture(moreRows: ["UPDATE ZPORTRAIT SET ZAUTHOR = 99 WHERE Z_PK = 7"]).write(to: folder.file)
        let report = try imported()
        #expect(report.faultCounts == [.oneSidedLink: 1], "\(report.faults)")
        try reading { store in
            let (author, portrait) = (
                try Self.object("Author/p1", in: store), try Self.object("Portrait/p7", in: store)
            )
            #expect(try Self.value("portrait", of: author, in: store) == .objectID(portrait))
            #expect(try Self.value("author", of: portrait, in: store) == .objectID(author))
        }
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.completedLinks == 1, "\(comparison.differences)")
    }

    // MARK: Interruptions

    @Test func anInterruptedImportGoesOnAndGivesTheSame() throws {
        let more = (100..<12_100).map { key in
            "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZAUTHOR, ZSEQUEL, Z_FOK_AUTHOR) VALUES "
                + "(\(key), \(5 + key % 2), 'Title \(key)', 1, \(12_199 - key), \(key * 1024))"
        }
        try LibraryFile.fixture(moreRows: more).write(to: folder.file)
        // The importer asks after each thousand rows and in each step of links and pairs. One that goes on reads all rows
        // for their faults first.
        for patience in [0, 12 + 11, 12 + 1, 12 + 2, 12 + 3] {
            try folder.interruptImport(after: patience)
            #expect(folder.names == [".Library.strata.importing", "Library.sqlite"])
        }
        let report = try imported()
        #expect(report.wasResumed && report.rows == 12_008)
        let comparison = try compared()
        #expect(comparison.isEqual && comparison.additional == 0, "\(comparison.differences)")
        #expect(folder.names == ["Library.sqlite", "Library.strata"])
    }
}
