import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import StrataXcode
import Testing

@testable import StrataCoreData

/// Archives of plain Foundation objects as values. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct TransformableTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    /// The archive of what `body` makes.
    private static func archive(_ body: (inout OldArchive) -> OldArchive.Value) -> [UInt8] {
        var archive = OldArchive()
        let root = body(&archive)
        return archive.bytes(root: root)
    }

    private static func value(_ body: (inout OldArchive) -> OldArchive.Value) -> PlainValue? {
        PlainArchive.value(of: archive(body))
    }

    // MARK: Archives

    @Test func scalarsAreRead() {
        #expect(Self.value { $0.add(.text("Lem")) } == .value(.string("Lem")))
        #expect(Self.value { $0.add(.integer(7)) } == .value(.integer(7)))
        #expect(Self.value { $0.add(.boolean(true)) } == .value(.boolean(true)))
        #expect(Self.value { $0.add(.data([1, 2])) } == .value(.data(Data([1, 2]))))
        let text = Self.value { archive in
            let string = archive.add(.text("Šrámek"))
            return archive.object("NSMutableString", [("NS.string", string)])
        }
        #expect(text == .value(.string("Šrámek")))
        #expect(
            Self.value { $0.object("NSDate", [("NS.time", .real(0.5))]) }
                == .value(.date(Date(timeIntervalSinceReferenceDate: 0.5))))
        let id = UUID()
        let bytes = withUnsafeBytes(of: id.uuid) { Array($0) }
        #expect(Self.value { $0.object("NSUUID", [("NS.uuidbytes", .data(bytes))]) } == .value(.uuid(id)))
        #expect(Self.value { $0.object("NSNull", []) } == .value(.null))
    }

    @Test func urlsAreReadWithTheirBase() {
        let url = Self.value { archive in
            let (base, path) = (archive.add(.text("https://example.org/a/")), archive.add(.text("b?c")))
            let root = archive.object("NSURL", [("NS.base", .reference(0)), ("NS.relative", base)])
            return archive.object("NSURL", [("NS.base", root), ("NS.relative", path)])
        }
        #expect(url == URL(string: "https://example.org/a/b?c").map { .value(.url($0)) })
    }

    @Test func listsSetsAndDictionariesAreRead() {
        let value = Self.value { archive in
            let words = [archive.add(.text("b")), archive.add(.text("a")), .reference(0)]
            let set = archive.object("NSSet", [("NS.objects", .list([words[0], words[1]]))])
            return archive.dictionary([("list", archive.array(words)), ("set", set)])
        }
        let (a, b) = (PlainValue.value(.string("a")), PlainValue.value(.string("b")))
        #expect(value == .entries(["list": .list([b, a, .value(.null)]), "set": .list([a, b])]))
    }

    @Test func coloursAreTheirComponents() {
        func colour(_ parts: Double...) -> PlainValue {
            .entries(
                Dictionary(
                    uniqueKeysWithValues: zip(["red", "green", "blue", "alpha"], parts.map { .value(.double($0)) })))
        }
        let ui = Self.value {
            $0.object(
                "UIColor",
                [("UIRed", .real(0.25)), ("UIGreen", .integer(1)), ("UIBlue", .real(0)), ("UIAlpha", .real(0.5))])
        }
        #expect(ui == colour(0.25, 1, 0, 0.5))
        let rgb = Self.value { $0.object("NSColor", [("NSRGB", .data(Array("0.5 0 1\0".utf8)))]) }
        #expect(rgb == colour(0.5, 0, 1, 1))
        let white = Self.value { $0.object("NSColor", [("NSWhite", .data(Array("0.5 0.25\0".utf8)))]) }
        #expect(white == colour(0.5, 0.5, 0.5, 0.25))
        #expect(Self.value { $0.object("NSColor", [("NSColorSpace", .integer(6))]) } == nil)
    }

    @Test func otherObjectsAreNotPlain() {
        #expect(PlainArchive.value(of: [0xFF, 0]) == nil)
        #expect(Self.value { $0.object("MyApp.Shape", [("side", .integer(3))]) } == nil)
        let inside = Self.value { archive in
            let shape = archive.object("MyApp.Shape", [])
            return archive.array([shape])
        }
        #expect(inside == nil)
        let keyed = Self.value { archive in
            let (key, value) = (archive.add(.integer(1)), archive.add(.text("a")))
            return archive.object("NSDictionary", [("NS.keys", .list([key])), ("NS.objects", .list([value]))])
        }
        #expect(keyed == nil)
    }

    @Test func cyclesAndSharedPartsEnd() {
        let cycle = Self.value { archive in
            let list = archive.object("NSArray", [])
            archive.set(list, [("NS.objects", .list([list, list]))])
            return list
        }
        #expect(cycle == nil)
        // Each list has the one before twice: 2^40 members.
        let shared = Self.value { archive in
            (0..<40).reduce(archive.add(.text("a"))) { inner, _ in archive.array([inner, inner]) }
        }
        #expect(shared == nil)
    }

    // MARK: Import

    private func imported(_ more: [String], _ form: CoreDataTransformables) throws -> CoreDataImportReport {
        let fixture = LibraryFile.fixture(moreRows: ["DELETE FROM ZWORK", "DELETE FROM Z_3WORKS"] + more)
        try fixture.write(to: folder.file)
        var options = CoreDataImportOptions()
        options.transformables = form
        return try PersistentContainer.importCoreDataStore(
            at: URL(filePath: folder.file), to: folder.store, options: options)
    }

    private static func row(_ key: Int, _ shape: [UInt8]) -> String {
        "INSERT INTO ZWORK (Z_PK, Z_ENT, ZTITLE, ZSHAPE) VALUES (\(key), 5, 'Solaris', "
            + "\(CoreDataFixture.literal(shape)))"
    }

    private static let plain = archive { archive in
        let numbers = [archive.add(.integer(1)), archive.add(.integer(2))]
        return archive.array(numbers)
    }

    @Test func plainArchivesBecomeValuesIfAsked() throws {
        let report = try imported([Self.row(1, Self.plain), Self.row(2, Self.plain)], .codable)
        #expect(report.notes.contains("Work.shape: its archives are unpacked") && report.rows == 7)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let attribute = store.schema.model.entitiesByName["Work"]?.attributesByName["shape"]
        #expect(attribute?.type == .transformable && attribute?.valueTransformerName == nil)
        let context = try PersistentContainer(over: store).newBackgroundContext()
        let works = try context.fetch(FetchRequest<ManagedObject>(entityName: "Work"))
        #expect(try works.map { try $0.value(forKey: "shape") as? [Int] } == [[1, 2], [1, 2]])
        let comparison = try CoreDataVerification.run(folder.file, store, options: .init())
        #expect(comparison.isEqual, "\(comparison.differences)")
    }

    @Test func oneArchiveOfAnotherClassLeavesAllAsTheyAre() throws {
        let other = Self.archive { $0.object("MyApp.Shape", []) }
        let report = try imported([Self.row(1, Self.plain), Self.row(2, other)], .codable)
        #expect(
            report.notes.contains("Work.shape: it keeps its bytes, because those of the row 2 are of other classes"))
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        #expect(store.schema.model.entitiesByName["Work"]?.attributesByName["shape"]?.valueTransformerName == "Shape")
        #expect(try CoreDataVerification.run(folder.file, store, options: .init()).isEqual)
    }

    @Test func anotherValueIsFoundByTheComparison() throws {
        _ = try imported([Self.row(1, Self.plain)], .codable)
        let database = try WritableDatabase(folder.file)
        let other = Self.archive { $0.array([]) }
        try database.run("UPDATE ZWORK SET ZSHAPE = \(CoreDataFixture.literal(other))")
        database.close()
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        let comparison = try CoreDataVerification.run(folder.file, store, options: .init())
        #expect(comparison.differences.filter { !$0.hasSuffix("derived") } == ["Novel/p1.shape is another value"])
        #expect(!comparison.isEqual)
    }
}
