import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataCoreData

/// Stores as files of Core Data, and back. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct CoreDataExportTests {
    private let folder: ImportFolder
    private var out: URL { folder.url.appending(path: "Out.sqlite") }
    private var again: URL { folder.url.appending(path: "Again.strata", directoryHint: .isDirectory) }

    init() throws { folder = try ImportFolder() }

    /// Exports the store, compares the file with it, imports the file, and compares that too.
    private func roundTrip(_ store: Store) throws -> CoreDataExportReport {
        let report = try CoreDataExporter.run(store, to: out)
        let comparison = try CoreDataVerification.run(out.path, store, options: .init())
        #expect(comparison.isEqual && comparison.additional == 0, "\(comparison.differences)")
        #expect(comparison.rows.total == report.rows && comparison.danglingKeys == 0)
        let imported = try PersistentContainer.importCoreDataStore(at: out, to: again)
        #expect(imported.rows == report.rows && imported.pairs == report.pairs && imported.faultCount == 0)
        let second = try Store.open(.directory(again), model: nil)
        defer { second.close() }
        #expect(second.schema.model.entitiesByName == store.schema.model.entitiesByName)
        #expect(try CoreDataVerification.run(out.path, second, options: .init()).isEqual)
        return report
    }

    private func imported(_ fixture: CoreDataFixture) throws -> Store {
        try fixture.write(to: folder.file)
        _ = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        return try Store.open(.directory(folder.store), model: nil)
    }

    @Test func everyRowAndLinkComesBack() throws {
        let store = try imported(LibraryFile.fixture())
        defer { store.close() }
        let report = try roundTrip(store)
        #expect(report.rows == 8 && report.pairs == 3 && report.notes == [])
        // Keys are those of the first file.
        let keys = try ["ZAUTHOR", "ZWORK", "ZTAG", "ZPORTRAIT"].map { try Self.numbers("SELECT Z_PK FROM \($0)", out) }
        #expect(keys == [[1, 5], [1, 2, 3], [1, 2], [7]])
        #expect(try Self.numbers("SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT", out) == [5, 7, 2, 3, 3, 3])
        #expect(folder.names == ["Again.strata", "Library.sqlite", "Library.strata", "Out.sqlite"])
    }

    private static func numbers(_ query: String, _ file: URL) throws -> [Int64] {
        let database = try SQLiteDatabase(file.path, .immutable, named: file.path, try SQLiteLibrary.shared.get())
        let rows = try database.prepare(query)
        var numbers: [Int64] = []
        while try rows.step() { numbers.append(rows.integer(0)) }
        return numbers
    }

    @Test func tablesAreNamedAsCoreDataNamesThem() throws {
        let store = try imported(LibraryFile.fixture())
        defer { store.close() }
        _ = try CoreDataExporter.run(store, to: out)
        let file = try CoreDataFile(out.path)
        #expect(file.tables["ZWORK"]?.has("ZMARK1") == true && file.tables["ZWORK"]?.has("Z_FOK_AUTHOR") == true)
        #expect(file.tables["ZWORK"]?.has("Z4_SEQUEL") == true)
        #expect(file.tables["Z_3WORKS"]?.columns.map(\.name) == ["Z_4WORKS", "Z_3TAGS", "Z_FOK_3TAGS"])
        #expect(try Self.numbers("SELECT Z4_SEQUEL FROM ZWORK ORDER BY Z_PK", out) == [5, 0, 5])
        #expect(file.entities.map(\.name) == ["Author", "Portrait", "Tag", "Work", "Novel", "Poem"])
        #expect(file.identifier == "7D6B1E2C-0000-4000-8000-00000000C0DE")
    }

    @Test func entitiesAreNumberedWithoutRegardToCase() throws {
        let names: [(String, String?)] = [
            ("Zoo", nil), ("SyncFeature", nil), ("Syncable", nil), ("Deep", "Zoo"), ("Cage", "Zoo"),
        ]
        let model = try ManagedObjectModel(
            entities: names.map { EntityDescription(name: $0, superentityName: $1, properties: []) })
        let tables = try ExportTables(model, wideDecimals: [])
        #expect(tables.entities.map(\.name) == ["Syncable", "SyncFeature", "Zoo", "Cage", "Deep"])
        #expect(tables.entities.map(\.parent) == [0, 0, 0, 3, 3])
    }

    @Test func versionHashesComeBackWithTheSameModel() throws {
        var fixture = LibraryFile.fixture()
        fixture.versionHashes = ["Author": Array(repeating: 7, count: 32)]
        let store = try imported(fixture)
        defer { store.close() }
        _ = try CoreDataExporter.run(store, to: out)
        #expect(try CoreDataFile(out.path).versionHashes == fixture.versionHashes)
    }

    // MARK: Stores of Strata's own

    private func made(
        _ entities: [EntityDescription], _ body: (ManagedObjectContext) throws -> Void
    ) throws -> Store {
        let store = try Store.open(.directory(folder.store), model: ManagedObjectModel(entities: entities))
        let context = try PersistentContainer(over: store).newBackgroundContext()
        try body(context)
        try context.save()
        return store
    }

    private static func attribute(_ name: String, _ type: AttributeType) -> PropertyDescription {
        .attribute(AttributeDescription(name: name, type: type, isOptional: true))
    }

    @Test func compositesInCompositesComeBack() throws {
        func attribute(_ name: String, _ type: AttributeType, _ elements: [AttributeDescription] = [])
            -> AttributeDescription
        {
            AttributeDescription(name: name, type: type, isOptional: true, elements: elements)
        }
        let position = attribute(
            "position", .composite, [attribute("latitude", .double), attribute("longitude", .double)])
        let address = attribute(
            "address", .composite, [attribute("city", .string), position, attribute("floor", .integer16)])
        let shop = EntityDescription(name: "Shop", properties: [.attribute(address)])
        let values: [AttributeValue] = [
            .composite([
                "city": .string("Oslo"), "floor": .integer(3),
                "position": .composite(["latitude": .double(59.9), "longitude": .double(10.7)]),
            ]),
            .composite(["position": .composite(["longitude": .double(-1)])]), .composite(["city": .string("Rome")]),
            .null,
        ]
        let store = try made([shop]) { context in
            for value in values {
                try context.insertNewObject(forEntityName: "Shop").setValue(value, forKey: "address")
            }
        }
        defer { store.close() }
        #expect(try CoreDataExporter.run(store, to: out).notes == [])
        #expect(try PersistentContainer.importCoreDataStore(at: out, to: again).faultCount == 0)
        #expect(
            try CoreDataFile(out.path).tables["ZSHOP"]?.columns.map(\.name).suffix(4) == [
                "ZCITY", "ZLATITUDE", "ZLONGITUDE", "ZFLOOR",
            ])
        let second = try Store.open(.directory(again), model: nil)
        defer { second.close() }
        #expect(second.schema.model.entitiesByName == store.schema.model.entitiesByName)
        let comparison = try CoreDataVerification.run(out.path, second, options: .init())
        #expect(comparison.isEqual && comparison.values.total == 16, "\(comparison.differences)")
        let context = try PersistentContainer(over: second).newBackgroundContext()
        let shops = try context.fetch(FetchRequest<ManagedObject>(entityName: "Shop"))
        #expect(Set(try shops.map { try context.frozen($0).value(forKey: "address") }) == Set(values))
    }

    @Test func aStoreThatNeverWasAFileComesBack() throws {
        let link = { (name: String, inverse: String?, isToMany: Bool, isOrdered: Bool) in
            PropertyDescription.relationship(
                RelationshipDescription(
                    name: name, destinationEntityName: "Node", inverseName: inverse, hasNoInverse: inverse == nil,
                    isToMany: isToMany, isOrdered: isOrdered))
        }
        let node = EntityDescription(
            name: "Node",
            properties: [
                Self.attribute("name", .string), Self.attribute("number", .decimal), Self.attribute("ratio", .double),
                link("friends", "friends", true, false), link("children", "parents", true, true),
                link("parents", "children", true, true), link("seen", nil, true, false),
            ])
        let store = try made([node]) { context in
            let nodes = try (0..<4).map { index in
                let node = try context.insertNewObject(forEntityName: "Node")
                try node.setValue("Node \(index)", forKey: "name")
                return node
            }
            try nodes[0].setValue(Decimal(string: "12345678901234567890.12345"), forKey: "number")
            try nodes[1].setValue(Double.nan, forKey: "ratio")
            try nodes[0].setValue(Set([nodes[1], nodes[0]]), forKey: "friends")
            try nodes[0].setValue([nodes[3], nodes[2], nodes[1]], forKey: "children")
            try nodes[2].setValue([nodes[1]], forKey: "children")
            try nodes[0].setValue(Set([nodes[2]]), forKey: "seen")
            try nodes[1].setValue(Set([nodes[2], nodes[3]]), forKey: "seen")
        }
        defer { store.close() }
        let report = try CoreDataExporter.run(store, to: out)
        #expect(report.rows == 4 && report.pairs == 2 + 4 + 2)
        #expect(
            report.notes == [
                "Node.ratio: 1 value without a form in the file",
                "Node.seen: 1 links are left out, because in a file of Core Data a member of a to-many without inverse "
                    + "has one owner",
            ])
        let tables = try CoreDataFile(out.path).tables.keys.filter { $0.hasPrefix("Z_1") }
        #expect(tables.sorted() == ["Z_1FRIENDS", "Z_1PARENTS"])
        _ = try PersistentContainer.importCoreDataStore(at: out, to: again)
        let second = try Store.open(.directory(again), model: nil)
        defer { second.close() }
        #expect(try second.verify(.full).isSound)
        #expect(try CoreDataVerification.run(out.path, second, options: .init()).isEqual)
        let (before, after) = (try Self.texts(store), try Self.texts(second))
        #expect(before.dropLast() == after.dropLast() && after.last?.contains("number nil") == true)
        #expect(after.first?.contains("12345678901234567890.12345") == true)
        #expect(after.first?.contains("children Node 3, Node 2, Node 1") == true)
    }

    /// What each object has, without those of `seen`.
    private static func texts(_ store: Store) throws -> [String] {
        let context = try PersistentContainer(over: store).newBackgroundContext()
        var request = FetchRequest<ManagedObject>(entityName: "Node")
        request.sortDescriptors = [SortDescription("name")]
        return try context.fetch(request).map { node in
            let number = try node.value(forKey: "number")
            let names = try ["friends", "children", "parents"].map { key in
                let members = try node.value(forKey: key)
                let nodes = (members as? [ManagedObject]) ?? Array((members as? Set<ManagedObject>) ?? [])
                let names = try nodes.map { try $0.value(forKey: "name") as? String ?? "" }
                return "\(key) \((key == "friends" ? names.sorted() : names).joined(separator: ", "))"
            }
            return "number \(number.map { "\($0)" } ?? "nil"); \(names.joined(separator: "; "))"
        }
    }

    @Test func anExistingFileIsLeftAlone() throws {
        let store = try imported(LibraryFile.fixture())
        defer { store.close() }
        try Data([7]).write(to: out)
        let error = #expect(throws: StrataError.self) { try CoreDataExporter.run(store, to: out) }
        #expect(error?.message.hasSuffix("exists already.") == true)
        #expect(try Data(contentsOf: out) == Data([7]))
    }

    @Test func entitiesThatDifferInCaseAloneAreRefused() throws {
        let store = try made(["Note", "NOTE"].map { EntityDescription(name: $0, properties: []) }) { _ in }
        defer { store.close() }
        let error = #expect(throws: StrataError.self) { try CoreDataExporter.run(store, to: out) }
        #expect(error?.message.contains("differ in case alone") == true)
        #expect(folder.names == ["Library.strata"])
    }
}
