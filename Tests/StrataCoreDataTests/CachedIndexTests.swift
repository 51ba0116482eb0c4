import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataTestSupport
import StrataXcode
import Testing

@testable import StrataCoreData

/// Indexes and constraints that Core Data keeps in a file and Strata refuses. Needs SQLite on the machine.
@Suite struct CachedIndexTests {
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
        fixture.joins = [
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
            "INSERT INTO Z_MODELCACHE VALUES (\(CoreDataFixture.literal(cache)))",
        ]
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

    @Test func aConstraintThatTheFileHasTwiceComesOverOnce() throws {
        try write(indexes: [], constraints: [["code"], ["word"], ["word"]])
        let (notes, entity) = try imported()
        #expect(entity.uniquenessConstraints == [["code"], ["word"]])
        #expect(notes.count == 1, "\(notes)")
    }
}
