import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataXcode
import Testing

@testable import StrataCoreData

/// A model that is given, beside what the file says. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct ModelMatchTests {
    private let model: ManagedObjectModel

    init() throws { model = try ManagedObjectModel(entities: LibraryFile.entities) }

    @Test func equalModelsAreAlike() {
        #expect(
            ModelMatch.notes(model, model, hashed: []) == [
                "6 of 6 entities are stored alike by the given model and the one in the file"
            ])
    }

    @Test func differencesAreNamed() throws {
        var entities = LibraryFile.entities.filter { $0.name != "Poem" }
        entities.append(EntityDescription(name: "Film", properties: []))
        let tag = try #require(entities.firstIndex { $0.name == "Tag" })
        entities[tag].properties[0] = .attribute(
            AttributeDescription(name: "word", type: .integer16, isOptional: true))
        entities[tag].properties.append(.attribute(AttributeDescription(name: "kind", type: .string, isOptional: true)))
        let given = try ManagedObjectModel(entities: entities)
        #expect(
            ModelMatch.notes(given, model, hashed: []) == [
                "Poem: the given model lacks this entity of the file",
                "Tag: the given model stores it otherwise than the file's: kind, word",
                "Film: the model in the file lacks this entity",
                "4 of 6 entities are stored alike by the given model and the one in the file",
            ])
    }

    /// SwiftData writes a list that is not optional as a required to-many without a minimum, and saves it empty.
    @Test func countsOfARequiredToManyAreThoseOfTheFile() throws {
        let counts = [0, 1, 3]
        let lists = counts.map { count in
            PropertyDescription.relationship(
                RelationshipDescription(
                    name: "parts\(count)", destinationEntityName: "Part", hasNoInverse: true, isToMany: true,
                    isOptional: false, minCount: count, maxCount: 5))
        }
        var archiver = ModelArchiver(
            try ManagedObjectModel(entities: [
                EntityDescription(name: "Part"), EntityDescription(name: "Machine", properties: lists),
            ]))
        let content = try CachedModel(packed: ModelArchiver.packed(archiver.write())).content
        let machine = try #require(content.entities.first { $0.name == "Machine" })
        let found = counts.compactMap { machine.relationshipsByName["parts\($0)"] }
        #expect(found.map(\.minCount) == counts)
        #expect(found.allSatisfy { !$0.isOptional && $0.maxCount == 5 })
    }

    @Test func withoutModelTheNamesOfHashesAreCompared() {
        #expect(
            ModelMatch.notes(model, nil, hashed: ["Author", "Portrait", "Tag", "Work", "Novel", "Film"]) == [
                "Film: the given model lacks this entity of the file",
                "Poem: the file has no version hash of this entity",
                "the model was compared with the file's version hashes by the names of entities alone",
            ])
        #expect(
            ModelMatch.notes(model, nil, hashed: []) == [
                "the model was compared with the tables alone; the file has no other"
            ])
    }

    @Test func theImportTellsOfTheComparison() throws {
        let folder = try ImportFolder()
        try LibraryFile.fixture().write(to: folder.file)
        let given = folder.url.appending(path: "Library.xcdatamodel", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: given, withIntermediateDirectories: true)
        try model.xcodeContents().write(to: given.appending(path: "contents"))
        var options = CoreDataImportOptions()
        options.model = given
        let report = try PersistentContainer.importCoreDataStore(
            at: URL(filePath: folder.file), to: folder.store, options: options)
        #expect(report.modelSource == "the model that was given" && report.rows == 8)
        #expect(
            report.notes.contains("6 of 6 entities are stored alike by the given model and the one in the file"),
            "\(report.notes)")
    }

    @Test func linksThatAreTheirOwnInverseAreCompared() throws {
        let friends = RelationshipDescription(
            name: "friends", destinationEntityName: "Person", inverseName: "friends", isToMany: true)
        let folder = try ImportFolder()
        let fixture = CoreDataFixture(
            entities: [EntityDescription(name: "Person", properties: [.relationship(friends)])],
            tables: [("ZPERSON", "ZNAME VARCHAR")],
            joins: ["CREATE TABLE Z_1FRIENDS (Z_1FRIENDS INTEGER, REFLEXIVE INTEGER)"],
            rows: [
                "INSERT INTO ZPERSON (Z_PK, Z_ENT) VALUES (1, 1), (2, 1), (3, 1), (4, 1)",
                // From one end, from the other, from both, and to itself.
                "INSERT INTO Z_1FRIENDS VALUES (1, 2), (3, 1), (2, 3), (3, 2), (4, 4)",
            ])
        try fixture.write(to: folder.file)
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(report.pairs == 4)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        #expect(try store.verify(.full).isSound)
        let comparison = try CoreDataVerification.run(folder.file, store, options: .init())
        #expect(comparison.isEqual && comparison.links == .init(equal: 7, total: 7), "\(comparison.differences)")
        let database = try WritableDatabase(folder.file)
        try database.run("DELETE FROM Z_1FRIENDS WHERE REFLEXIVE = 2 OR Z_1FRIENDS = 2")
        try database.run("INSERT INTO Z_1FRIENDS VALUES (3, 4)")
        database.close()
        let other = try CoreDataVerification.run(folder.file, store, options: .init())
        #expect(!other.isEqual && other.differences.count == 3)
    }
}
