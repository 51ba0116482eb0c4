import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import StrataXcode
import Testing

@testable import StrataCoreData

/// Models that Core Data keeps in a file and Strata refuses. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct MendedModelTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    /// A file with one entity, whose attributes are `word`, `code`, and `cover` with external storage.
    private func write(
        indexes: [(name: String, path: String)], constraints: [[String]] = [], rule: FetchPredicate? = nil
    ) throws {
        var archive = OldArchive()
        let attributes = [("word", 700), ("code", 700), ("cover", 1000)].map { name, type in
            let external = ("NSFlagsKey", OldArchive.Value.integer(type == 1000 ? 4 : 0))
            let fields = [("NSAttributeType", .integer(Int64(type))), ("NSIsOptional", .boolean(true)), external]
            return (name, archive.object("NSAttributeDescription", fields))
        }
        let descriptions = indexes.map { name, path in
            let element = archive.object(
                "NSFetchIndexElementDescription",
                [("NSPropertyName", archive.text(path)), ("NSFetchIndexElementType", .integer(0))])
            return archive.object(
                "NSFetchIndexDescription",
                [("NSIndexName", archive.text(name)), ("NSIndexElements", archive.array([element]))])
        }
        let tuples = constraints.map { names in archive.array(names.map { archive.text($0) }) }
        let rules = rule.flatMap { PredicateArchiver.object($0, in: &archive) }.map { [$0] } ?? []
        let entity = archive.object(
            "NSEntityDescription",
            [
                ("NSEntityName", archive.text("Tag")), ("NSProperties", archive.dictionary(attributes)),
                ("NSFetchIndexDescriptions", archive.array(descriptions)), ("NSUniqueTuples", archive.array(tuples)),
                ("NSValidationPredicates", archive.array(rules)),
            ])
        let entities = archive.dictionary([("Tag", entity)])
        let model = archive.object("NSManagedObjectModel", [("NSEntities", entities)])
        var fixture = CoreDataFixture(
            entities: [EntityDescription(name: "Tag")],
            tables: [("ZTAG", "ZWORD VARCHAR, ZCODE VARCHAR, ZCOVER BLOB")],
            rows: ["INSERT INTO ZTAG VALUES (1, 1, 1, 'red', 'r', NULL), (2, 1, 1, 'blue', 'b', NULL)"])
        fixture.hasModel = false
        let cache = ModelArchiver.packed(archive.bytes(root: model))
        fixture.joins = CoreDataFixture.cache(cache)
        try fixture.write(to: folder.file)
    }

    /// The notes of the import and the entity that it made.
    private func imported() throws -> (notes: [String], entity: EntityDescription) {
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(report.rows == 2 && report.faults.isEmpty)
        return (report.notes, try #require(try CoreDataFile(folder.file).model.entities.first))
    }

    @Test func anIndexThatTheFileHasTwiceComesOverOnce() throws {
        try write(indexes: [("word", "word"), ("code", "code"), ("word", "word"), ("code", "code"), ("word", "word")])
        let (notes, entity) = try imported()
        #expect(entity.indexes.map(\.name) == ["word", "code"])
        #expect(notes == [])
    }

    @Test func anIndexThatStrataRefusesIsLeftOutAlone() throws {
        let rule = try FetchPredicate(format: "word != 'none'")
        try write(
            indexes: [("word", "word"), ("word", "code"), ("", "code"), ("cover", "cover"), ("lost", "nothing")],
            constraints: [["word"]], rule: rule)
        let (notes, entity) = try imported()
        #expect(
            entity.indexes == [
                FetchIndexDescription(name: "word", elements: [FetchIndexElement("word", isAscending: false)])
            ])
        #expect(entity.uniquenessConstraints == [["word"]])
        #expect(entity.validationPredicates.map(\.predicate) == [rule])
        #expect(notes.count == 4 && notes.allSatisfy { $0.hasPrefix("Tag: the index ") }, "\(notes)")
    }

    /// Every name that a Swift class could have comes over as it is. A name that is none gets another, and everything that
    /// knows the file's name finds it.
    ///
    /// - Parameter hasModel: whether the file has its model; without one, its tables say what the entities are.
    @Test(arguments: [
        ("Type", false, "Type"), ("Type", true, "Type"), ("Protocol", true, "Protocol"), ("Self", true, "Self"),
        ("Any", true, "Any"), ("ManagedObject", true, "ManagedObject"), ("Dish-Type", true, "Dish_Type_"),
    ])
    func entitiesOfEveryNameComeOver(name: String, hasModel: Bool, expected: String) throws {
        var fixture = CoreDataFixture(
            entities: [EntityDescription(name: "Dish"), EntityDescription(name: name)],
            tables: [("ZDISH", "ZTYPE INTEGER, ZNAME VARCHAR"), ("\"Z\(name.uppercased())\"", "ZNAME VARCHAR")],
            rows: [
                "INSERT INTO \"Z\(name.uppercased())\" VALUES (4, 2, 1, 'soup')",
                "INSERT INTO ZDISH VALUES (1, 1, 1, 4, 'minestrone')",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_NAME = '\(name)'",
            ])
        fixture.hasModel = false
        if hasModel { fixture.joins = CoreDataFixture.cache(ModelArchiver.packed(dishes(of: name))) }
        try fixture.write(to: folder.file)
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(report.rows == 2 && report.faults.isEmpty)
        let isRenamed = name != expected
        #expect(report.notes.contains { $0.hasPrefix("\(name) is named \(expected)") } == isRenamed, "\(report.notes)")
        let store = try Store.open(.directory(folder.store), model: nil)
        #expect(try CoreDataVerification.run(folder.file, store, options: .init()).isEqual)
        let model = store.schema.model
        store.close()
        #expect(model.entitiesByName["Dish"]?.relationshipsByName["type"]?.destinationEntityName == expected)
        let container = PersistentContainer(name: "Library", model: model, at: .url(folder.store))
        try container.loadPersistentStores()
        defer { container.close() }
        let uri = try #require(URL(string: "x-coredata://\(fixture.identifier)/\(name)/p4"))
        let id = try #require(try container.objectID(forCoreDataURI: uri))
        #expect(id.entityID == container.store.schema.entity(named: expected)?.id)
        let back = folder.url.appending(path: "Back.sqlite")
        _ = try container.exportCoreDataStore(to: back)
        #expect(try CoreDataFile(back.path).lastKeys[expected] == 9)
        #expect(try CoreDataFile(back.path).notes.isEmpty)
        // The file that went out comes in again.
        let again = folder.url.appending(path: "Again.strata")
        #expect(try PersistentContainer.importCoreDataStore(at: back, to: again).rows == 2)
        let second = try Store.open(.directory(again), model: nil)
        defer { second.close() }
        #expect(second.schema.model.versionHash == model.versionHash)
        #expect(try CoreDataVerification.run(back.path, second, options: .init()).isEqual)
    }

    /// The archived model of dishes with a type.
    private func dishes(of typeName: String) -> [UInt8] {
        var archive = OldArchive()
        func text(_ name: String) -> (String, OldArchive.Value) {
            let fields = [("NSAttributeType", OldArchive.Value.integer(700)), ("NSIsOptional", .boolean(true))]
            return (name, archive.object("NSAttributeDescription", fields))
        }
        let type = archive.object(
            "NSRelationshipDescription",
            [
                ("NSMaxCount", .integer(1)), ("NSIsOptional", .boolean(true)),
                ("_NSDestinationEntityName", archive.text(typeName)),
            ])
        let properties = [("Dish", [text("name"), ("type", type)]), (typeName, [text("name")])]
        let entities = properties.map { name, properties in
            let fields = [("NSEntityName", archive.text(name)), ("NSProperties", archive.dictionary(properties))]
            return (name, archive.object("NSEntityDescription", fields))
        }
        let model = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary(entities))])
        return archive.bytes(root: model)
    }

    @Test func aConstraintThatTheFileHasTwiceComesOverOnce() throws {
        try write(indexes: [], constraints: [["code"], ["word"], ["word"]])
        let (notes, entity) = try imported()
        #expect(entity.uniquenessConstraints == [["code"], ["word"]])
        #expect(notes.count == 1, "\(notes)")
    }
}
