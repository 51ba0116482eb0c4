import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataCoreData

/// Values of many megabytes: those that a store can hold come over, others are faults. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct LargeValueTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    private func imported() throws -> CoreDataImportReport {
        try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
    }

    private func compared() throws -> CoreDataComparison {
        try folder.reading { try CoreDataVerification.run(folder.file, $0, options: .init()) }
    }

    private func size(of name: String, of entity: String) throws -> [UInt64] {
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let schema = try #require(store.schema.entity(named: entity))
        let slot = try #require(schema.property(named: name)?.slot)
        var sizes: [UInt64] = []
        try store.read(at: try store.head()) { snapshot in
            try snapshot.scan(schema.id) { _, row in
                let value = try row.converted(to: schema).withReader(schema.layout) { reader throws(CorruptRecord) in
                    try reader.value(slot)
                }
                switch value {
                case .blob(let reference): sizes.append(reference.sizeInBytes)
                case .data(let data): sizes.append(UInt64(data.count))
                case .string(let text): sizes.append(UInt64(text.utf8.count))
                default: sizes.append(0)
                }
                return true
            }
        }
        return sizes
    }

    private static let mostAtOnce = SQLiteDatabase.mostBytesAtOnce

    @Test func longTextsAndDataComeOver() throws {
        let count = Self.mostAtOnce / 2 + 7
        try LibraryFile.fixture(moreRows: [
            // Twice as many digits as bytes.
            "INSERT INTO ZTAG VALUES (10, 3, 1, hex(zeroblob(\(count)))), (11, 3, 1, 'after')",
            "UPDATE ZWORK SET ZSHAPE = zeroblob(\(2 * count)) WHERE Z_PK = 1",
        ]).write(to: folder.file)
        let checked = try CoreDataImporter(folder.file, options: .init()).check()
        let report = try imported()
        #expect(report.rows == 10 && report.faults == [] && checked.faults == [], "\(report.faults)")
        #expect(try size(of: "word", of: "Tag").sorted().suffix(2) == [5, UInt64(2 * count)])
        #expect(try size(of: "shape", of: "Novel").max() == UInt64(2 * count))
        let comparison = try compared()
        #expect(comparison.isEqual, "\(comparison.differences)")
    }

    @Test func aValueThatARowCannotHaveIsAFault() throws {
        let count = ColumnReader.mostBytesInRow + 1
        try LibraryFile.fixture(moreRows: [
            "UPDATE ZWORK SET ZSHAPE = zeroblob(\(count)) WHERE Z_PK = 1",
            "INSERT INTO ZTAG VALUES (10, 3, 1, 'after')",
        ]).write(to: folder.file)
        let report = try imported()
        #expect(
            report.faults.map(\.description) == [
                "Novel/p1.shape has \(count) bytes, and a row has at most \(ColumnReader.mostBytesInRow) of a value; "
                    + "it is left out"
            ])
        let comparison = try compared()
        #expect(!comparison.isEqual && comparison.faultCounts == [.unsoundValue: 1], "\(comparison.differences)")
        try FileManager.default.removeItem(at: folder.store)
        folder.expectRefusedFault()
    }

    @Test func valuesThatARowCannotHaveTogetherAreFaults() throws {
        let count = ColumnReader.mostBytesInRow / 5 * 3
        var entities = LibraryFile.entities
        entities[2].properties.append(.attribute(AttributeDescription(name: "a", type: .binaryData, isOptional: true)))
        entities[2].properties.append(.attribute(AttributeDescription(name: "b", type: .binaryData, isOptional: true)))
        var fixture = LibraryFile.fixture()
        fixture.entities = entities
        fixture.tables[2].columns += ", ZA BLOB, ZB BLOB"
        fixture.rows = ["INSERT INTO ZTAG VALUES (10, 3, 1, 'word', zeroblob(\(count)), zeroblob(\(count)))"]
        try fixture.write(to: folder.file)
        let report = try imported()
        #expect(
            report.faults.map(\.description) == [
                "Tag/p10.b has \(count) bytes, and the long values of a row have at most "
                    + "\(ColumnReader.mostBytesInRow) together; it is left out"
            ])
        let comparison = try compared()
        #expect(!comparison.isEqual && comparison.faultCounts == [.unsoundValue: 1], "\(comparison.differences)")
    }

    @Test func longValuesInPlaceOfNumbersAreFaults() throws {
        let count = Self.mostAtOnce + 1
        try LibraryFile.fixture(moreRows: [
            "UPDATE ZWORK SET ZPAGES = zeroblob(\(count)), ZAUTHOR = zeroblob(\(count)), ZPRICE = zeroblob(2000000) "
                + "WHERE Z_PK = 1"
        ]).write(to: folder.file)
        let error = #expect(throws: StrataError.self) { try imported() }
        // Places in lists are compared by their owners, which are no more than numbers.
        #expect(error?.message.contains("is longer than Core Data's are there") == true, "\(error as Any)")
        let database = try WritableDatabase(folder.file)
        try database.run("UPDATE ZWORK SET ZAUTHOR = 1 WHERE Z_PK = 1")
        database.close()
        let report = try imported()
        #expect(report.faultCounts == [.unsoundValue: 2], "\(report.faults)")
        #expect(report.faults.allSatisfy { $0.sentence.hasSuffix("bytes, which no value of its type has") })
        #expect(try !compared().isEqual)
    }

    @Test func dataThatMayBeOutsideTheRowIsCopiedInPieces() throws {
        let count = Self.mostAtOnce + 3 << 20 + 5
        let name = UUID().uuidString
        let named = CoreDataFixture.literal([2] + Array(name.utf8) + [0])
        try LibraryFile.fixture(moreRows: [
            // The mark of data in the row is its first byte; without it all bytes are taken.
            "INSERT INTO ZPORTRAIT VALUES (10, 2, 1, NULL, CAST(x'01' || zeroblob(\(count)) AS BLOB))",
            "INSERT INTO ZPORTRAIT VALUES (11, 2, 1, NULL, zeroblob(\(count)))",
            "INSERT INTO ZPORTRAIT VALUES (12, 2, 1, NULL, \(named))",
        ]).write(to: folder.file)
        let external = folder.url.appending(path: ".Library_SUPPORT/_EXTERNAL_DATA", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
        let bytes = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })
        try bytes.write(to: external.appending(path: name))
        let checked = try CoreDataImporter(folder.file, options: .init()).check()
        let report = try imported()
        #expect(report.rows == 11 && report.faults == [] && checked.faults == [], "\(report.faults)")
        let note = "Portrait.image: 1 value had no mark of where the bytes are; all bytes of the column are taken"
        #expect(report.notes == [note] && checked.notes == [note], "\(report.notes)")
        #expect(try size(of: "image", of: "Portrait").sorted() == [2, 5_000_000, UInt64(count), UInt64(count)])
        let comparison = try compared()
        #expect(comparison.isEqual, "\(comparison.differences)")
        // A comparison reads the files too.
        var changed = bytes
        changed[4_999_999] ^= 1
        try changed.write(to: external.appending(path: name))
        #expect(try compared().differences == ["Portrait/p12.image is another value"])
    }

    @Test func aDamagedFileOfALargeValueIsNotEqual() throws {
        let name = UUID().uuidString
        let named = CoreDataFixture.literal([2] + Array(name.utf8) + [0])
        try LibraryFile.fixture(moreRows: ["INSERT INTO ZPORTRAIT VALUES (12, 2, 1, NULL, \(named))"])
            .write(to: folder.file)
        let external = folder.url.appending(path: ".Library_SUPPORT/_EXTERNAL_DATA", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
        try Data(count: 2_000_000).write(to: external.appending(path: name))
        _ = try imported()
        let blobs = folder.store.appending(path: "blobs")
        let files = try #require(FileManager.default.enumerator(atPath: blobs.path)?.compactMap { $0 as? String })
        let file = try #require(files.first { $0.count > 10 })
        try Data(count: 1_999_999).write(to: blobs.appending(path: file))
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let error = #expect(throws: StrataError.self) {
            try CoreDataVerification.run(folder.file, store, options: .init())
        }
        #expect(error?.code == .missingBlob)
    }
}
