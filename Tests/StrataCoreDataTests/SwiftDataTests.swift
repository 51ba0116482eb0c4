import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import StrataXcode
import Testing

@testable import StrataCoreData

/// A file as SwiftData writes it: structs and enums are composites whose elements have columns of their own names. Needs
/// SQLite on the machine.
///
/// The archive and the tables have the form of the stores that apps with SwiftData ship: an enum with raw values has one
/// element with the name of the attribute, an enum without has one for each case, a struct one for each property, and
/// arrays in them are JSON.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct SwiftDataTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    private typealias Value = OldArchive.Value

    private static func attribute(
        _ name: String, _ type: AttributeType, _ archive: inout OldArchive, flags: Int64 = 0
    ) -> Value {
        archive.object(
            "NSAttributeDescription",
            [
                ("NSPropertyName", archive.text(name)), ("NSAttributeType", .integer(Int64(type.rawValue))),
                ("NSIsOptional", .boolean(true)), ("NSFlagsKey", .integer(flags)),
                ("NSRenamingIdentifier", archive.text(name)), ("NSValueTransformerName", OldArchive.null),
                ("NSDefaultValue", OldArchive.null),
            ])
    }

    private static func composite(
        _ name: String, _ elements: [Value], _ archive: inout OldArchive, isEnum: Bool = false
    ) -> Value {
        let isTrue = archive.add(.boolean(true))
        let info = archive.dictionary(isEnum ? [("EnumType", isTrue)] : [])
        return archive.object(
            "NSCompositeAttributeDescription",
            [
                ("NSPropertyName", archive.text(name)), ("NSAttributeType", .integer(2100)),
                ("NSIsOptional", .boolean(true)), ("NSAttributeValueClassName", archive.text("NSDictionary")),
                ("NSCompositeElements", archive.object("NSMutableArray", [("NS.objects", .list(elements))])),
                ("NSRenamingIdentifier", archive.text(name)), ("NSUserInfo", info), ("NSFlagsKey", .integer(0)),
                ("NSDefaultValue", OldArchive.null), ("NSValueTransformerName", OldArchive.null),
            ])
    }

    /// A model of drinks: an author (a struct with an `id`), a glass (an enum of texts), a variation (an enum without
    /// raw values), tags (a struct of arrays), a picture outside the row, and an `id` of its own.
    private static func model() -> [UInt8] {
        var archive = OldArchive()
        let author = [
            attribute("id", .uuid, &archive), attribute("person", .string, &archive),
            composite(
                "home", [attribute("latitude", .double, &archive), attribute("id", .integer64, &archive)], &archive),
        ]
        let properties = [
            ("author", composite("author", author, &archive)),
            ("glass", composite("glass", [attribute("glass", .string, &archive)], &archive, isEnum: true)),
            ("id", attribute("id", .uuid, &archive)), ("name", attribute("name", .string, &archive)),
            ("picture", attribute("picture", .binaryData, &archive, flags: 4)),
            ("rank", composite("rank", [attribute("rank", .integer64, &archive)], &archive, isEnum: true)),
            ("tags", composite("tags", [attribute("flavors", .binaryData, &archive)], &archive)),
            (
                "variation",
                composite(
                    "variation", ["sour", "fizz"].map { attribute($0, .string, &archive) }, &archive, isEnum: true)
            ),
        ]
        let entity = archive.object(
            "NSEntityDescription",
            [
                ("NSEntityName", archive.text("Drink")), ("NSProperties", archive.dictionary(properties)),
                ("NSClassNameForEntity", archive.text("Drink")),
            ])
        let model = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary([("Drink", entity)]))])
        return ModelArchiver.packed(archive.bytes(root: model))
    }

    private static let columns =
        "ZRANK INTEGER, ZID1 INTEGER, ZLATITUDE FLOAT, ZPERSON VARCHAR, ZGLASS VARCHAR, ZNAME VARCHAR, ZSOUR VARCHAR, "
        + "ZFIZZ VARCHAR, ZID BLOB, ZID2 BLOB, ZPICTURE BLOB, ZFLAVORS BLOB"

    private func write() throws {
        var fixture = CoreDataFixture(
            entities: [EntityDescription(name: "Drink")], tables: [("ZDRINK", Self.columns)],
            joins: CoreDataFixture.cache(Self.model()),
            rows: [
                """
                INSERT INTO ZDRINK VALUES (1, 1, 1, 3, 77, 59.9, 'Ada', 'Coupe', 'Sour', 'whiskey', NULL,
                x'00112233445566778899AABBCCDDEEFF', x'FFEEDDCCBBAA99887766554433221100', x'01CAFE',
                CAST('["Lime","Malt"]' AS BLOB))
                """,
                """
                INSERT INTO ZDRINK VALUES (2, 1, 1, NULL, NULL, NULL, NULL, 'Rocks', 'Fizz', NULL, 'fizz',
                NULL, x'0102030405060708090A0B0C0D0E0F10', NULL, NULL)
                """,
            ])
        fixture.hasModel = false
        try fixture.write(to: folder.file)
    }

    private func drinks(_ place: URL) throws -> [[String: AttributeValue]] {
        let store = try Store.open(.directory(place), model: nil)
        defer { store.close() }
        let context = try PersistentContainer(over: store).newBackgroundContext()
        let request = FetchRequest<ManagedObject>(entityName: "Drink")
        return try context.fetch(request).map { drink in
            let names = ["author", "glass", "id", "name", "picture", "rank", "tags", "variation"]
            return Dictionary(uniqueKeysWithValues: try names.map { ($0, try context.frozen(drink).value(forKey: $0)) })
        }.sorted { "\($0["name"] ?? .null)" > "\($1["name"] ?? .null)" }
    }

    private static let expected: [[String: AttributeValue]] = [
        [
            "author": .composite([
                "id": .uuid(UUID((0..<16).map { 17 * $0 })),
                "person": .string("Ada"), "home": .composite(["latitude": .double(59.9), "id": .integer(77)]),
            ]),
            "glass": .composite(["glass": .string("Coupe")]), "name": .string("Sour"),
            "id": .uuid(UUID((0..<16).reversed().map { 17 * $0 })),
            "picture": .data(Data([0xCA, 0xFE])), "rank": .composite(["rank": .integer(3)]),
            "tags": .composite(["flavors": .data(Data("[\"Lime\",\"Malt\"]".utf8))]),
            "variation": .composite(["sour": .string("whiskey")]),
        ],
        [
            "author": .null, "glass": .composite(["glass": .string("Rocks")]), "name": .string("Fizz"),
            "id": .uuid(UUID((0..<16).map { $0 + 1 })), "picture": .null, "rank": .null,
            "tags": .null, "variation": .composite(["fizz": .string("fizz")]),
        ],
    ]

    @Test func structsAndEnumsComeOver() throws {
        try write()
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(report.rows == 2 && report.faults == [], "\(report.faults)")
        #expect(
            report.notes.allSatisfy { $0.hasSuffix("entries of the user info that are no text are left out") },
            "\(report.notes)")
        #expect(try drinks(folder.store) == Self.expected)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let comparison = try CoreDataVerification.run(folder.file, store, options: .init())
        #expect(comparison.isEqual && comparison.values.total == 2 * 12, "\(comparison.differences)")
    }

    @Test func theyGoBackInTheSameColumns() throws {
        try write()
        _ = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        let out = folder.url.appending(path: "Out.sqlite")
        let again = folder.url.appending(path: "Again.strata")
        let store = try Store.open(.directory(folder.store), model: nil)
        _ = try CoreDataExporter.run(store, to: out)
        store.close()
        let file = try CoreDataFile(out.path)
        let names = Set((file.tables["ZDRINK"]?.columns ?? []).map(\.name))
        let expected = Self.columns.split(separator: ", ").map { String($0.prefix { $0 != " " }) }
        #expect(names == Set(["Z_PK", "Z_ENT", "Z_OPT"] + expected))
        let rows = try file.database.prepare("SELECT ZID, ZID2, ZID1 FROM ZDRINK WHERE Z_PK = 1")
        #expect(try rows.step())
        #expect(rows.bytes(0).starts(with: [0x00, 0x11]) && rows.bytes(1).starts(with: [0xFF, 0xEE]))
        #expect(rows.integer(2) == 77)
        _ = try PersistentContainer.importCoreDataStore(at: out, to: again)
        #expect(try drinks(again) == Self.expected)
    }

    /// The file of an entity with one composite, whose elements are texts.
    private func write(composite elements: [String], rows: [String]) throws {
        var archive = OldArchive()
        let parts = elements.map { Self.attribute($0, .string, &archive) }
        let kind = Self.composite("kind", parts, &archive, isEnum: true)
        let entity = archive.object(
            "NSEntityDescription",
            [("NSEntityName", archive.text("Drink")), ("NSProperties", archive.dictionary([("kind", kind)]))])
        let model = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary([("Drink", entity)]))])
        var fixture = CoreDataFixture(
            entities: [EntityDescription(name: "Drink")],
            tables: [("ZDRINK", elements.map { "\"Z\($0.uppercased())\" VARCHAR" }.joined(separator: ", "))],
            joins: CoreDataFixture.cache(ModelArchiver.packed(archive.bytes(root: model))), rows: rows)
        fixture.hasModel = false
        try fixture.write(to: folder.file)
    }

    private func values(_ names: String...) throws -> [AttributeValue] {
        try folder.reading { store in
            let comparison = try CoreDataVerification.run(folder.file, store, options: .init())
            #expect(comparison.isEqual, "\(comparison.differences)")
            let context = try PersistentContainer(over: store).newBackgroundContext()
            let drink = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Drink")).first)
            return try names.map { try context.frozen(drink).value(forKey: $0) }
        }
    }

    @Test func elementsWithReservedNamesAreRenamed() throws {
        try write(
            composite: ["description", "init", "self"],
            rows: ["INSERT INTO ZDRINK VALUES (1, 1, 1, 'strong', NULL, 'me')"])
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        let note = "Drink.kind: its element description is named description_"
        #expect(report.faults == [] && report.notes.contains(note), "\(report.notes)")
        #expect(
            try values("kind") == [.composite(["description_": .string("strong"), "self_": .string("me")])])
    }

    @Test func anEnumOfVeryManyCasesBecomesSeveralComposites() throws {
        try write(
            composite: (0..<600).map { "c\($0)" },
            rows: [
                "INSERT INTO ZDRINK (Z_PK, Z_ENT, Z_OPT, ZC7, ZC299, ZC599) VALUES (1, 1, 1, 'seven', 'more', 'last')"
            ])
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        let note = "Drink.kind: it has 600 elements, and a composite has at most 256; the rest is in kind2, kind3"
        #expect(report.faults == [] && report.notes.contains(note), "\(report.notes)")
        let expected: [AttributeValue] = [
            .composite(["c7": .string("seven")]), .composite(["c299": .string("more")]),
            .composite(["c599": .string("last")]),
        ]
        #expect(try values("kind", "kind2", "kind3") == expected)
    }
}
