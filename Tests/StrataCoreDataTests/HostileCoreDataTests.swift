import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import StrataXcode
import Testing

@testable import StrataCoreData

/// Files that are damaged, or made to do harm. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct HostileCoreDataTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    /// The message of the import's error, which must have made nothing.
    private func refusal() -> String {
        let error = #expect(throws: StrataError.self) {
            try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.store.path))
        return error?.message ?? ""
    }

    @Test func otherFilesSayWhatTheyAre() throws {
        #expect(refusal().hasPrefix("There is no file"))
        try Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: URL(filePath: folder.file))
        let other = "is no database of SQLite: it is another file, such as a binary store of Core Data, or encrypted."
        #expect(refusal().hasSuffix(other))
        try Data().write(to: URL(filePath: folder.file))
        #expect(refusal().hasSuffix("is empty."))
        try FileManager.default.removeItem(atPath: folder.file)
        let database = try WritableDatabase(folder.file)
        try database.run("CREATE TABLE films (title TEXT)")
        database.close()
        #expect(refusal().contains("not of Core Data: it has no table Z_PRIMARYKEY"))
    }

    @Test(arguments: [
        "<?xml version=\"1.0\" standalone=\"yes\"?>\n<!DOCTYPE database SYSTEM "
            + "\"file:///System/Library/DTDs/CoreData.dtd\">\n\n<database>\n</database>\n",
        "<?xml version=\"1.0\"?>\n<database><databaseInfo></databaseInfo></database>",
    ])
    func aStoreInXMLSaysHowToMoveIt(text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.file))
        #expect(refusal().contains("is a store of Core Data in XML, and only its SQLite stores can be imported."))
    }

    @Test func aMissingSQLiteSaysHowToInstallIt() {
        let error = #expect(throws: StrataError.self) { try SQLiteLibrary(names: ["libstrata-no-such-library.so.0"]) }
        #expect(error?.message.contains("apt-get install libsqlite3-0") == true)
    }

    @Test func aFileInUseIsLeftAlone() throws {
        try LibraryFile.fixture().write(to: folder.file)
        // Locks of the same process are not seen, so another one holds it.
        let child = Process()
        child.executableURL = URL(filePath: "/usr/bin/env")
        child.arguments = [
            "python3", "-c",
            "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_SH, 510, 0x40000002); "
                + "print('held', flush=True); sys.stdin.read()", folder.file,
        ]
        let (input, output) = (Pipe(), Pipe())
        child.standardInput = input
        child.standardOutput = output
        try child.run()
        #expect(output.fileHandleForReading.readData(ofLength: 4) == Data("held".utf8))
        #expect(refusal().contains("is in use by the process \(child.processIdentifier)"))
        try input.fileHandleForWriting.close()
        child.waitUntilExit()
        _ = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
    }

    @Test func aFileThatChangesDuringTheImportIsRefused() throws {
        try LibraryFile.fixture().write(to: folder.file)
        let (file, place) = (folder.file, URL(filePath: folder.file))
        var isChanged = false
        let importer = try CoreDataImporter(
            file, options: .init(),
            isInterrupted: {
                if !isChanged, var bytes = try? Data(contentsOf: place) {
                    // The counter of changes.
                    bytes[27] &+= 1
                    isChanged = (try? bytes.write(to: place)) != nil
                }
                return false
            })
        let error = #expect(throws: StrataError.self) { try importer.run(into: folder.store) }
        #expect(isChanged)
        #expect(error?.message == "\(file) was changed during the import. Close the app, or import a copy.")
        #expect(folder.names == ["Library.sqlite"])
    }

    @Test func anExistingStoreIsLeftAlone() throws {
        try LibraryFile.fixture().write(to: folder.file)
        try FileManager.default.createDirectory(at: folder.store, withIntermediateDirectories: true)
        let error = #expect(throws: StrataError.self) {
            try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        }
        #expect(error?.message.hasSuffix("exists already.") == true)
        #expect(folder.names == ["Library.sqlite", "Library.strata"])
    }

    /// How many damaged files each seed makes; a long campaign sets `STRATA_COREDATA_ROUNDS`.
    private static let rounds =
        ProcessInfo.processInfo.environment["STRATA_COREDATA_ROUNDS"].flatMap { Int($0) } ?? 6

    /// Cut short, with flipped bits anywhere, with flipped bits in the model, or with bytes of another place.
    private static func damage(_ sound: Data, _ round: Int, _ generator: inout SeededGenerator) -> Data {
        var damaged = sound
        var places = 0..<damaged.count
        switch round % 4 {
        case 0: damaged.removeLast(Int.random(in: 1..<sound.count - 100, using: &generator))
        case 1:
            let model = sound.range(of: Data("bplist00".utf8))?.lowerBound ?? 0
            places = model..<min(model + 12_000, sound.count)
        case 2:
            let length = Int.random(in: 1..<600, using: &generator)
            let from = Int.random(in: 0..<sound.count - length, using: &generator)
            let to = Int.random(in: 0..<sound.count - length, using: &generator)
            damaged.replaceSubrange(to..<to + length, with: sound[from..<from + length])
        default: break
        }
        places = places.clamped(to: 0..<damaged.count)
        for _ in 0..<Int.random(in: 1...8, using: &generator) where !places.isEmpty {
            damaged[Int.random(in: places, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
        return damaged
    }

    @Test(arguments: RandomTesting.seeds) func damagedFilesEndInAnErrorOrInASoundStore(seed: UInt64) throws {
        try LibraryFile.fixture().write(to: folder.file)
        let sound = try Data(contentsOf: URL(filePath: folder.file))
        var generator = SeededGenerator(seed: seed)
        for round in 0..<Self.rounds {
            try Self.damage(sound, round, &generator).write(to: URL(filePath: folder.file))
            let start = ContinuousClock.now
            do {
                _ = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
            } catch is StrataError {
                #expect(!FileManager.default.fileExists(atPath: folder.store.path))
                #expect(ContinuousClock.now - start < .seconds(5), "round \(round)")
                continue
            }
            #expect(ContinuousClock.now - start < .seconds(5), "round \(round)")
            let store = try Store.open(.directory(folder.store), model: nil)
            #expect(try store.verify(.full).isSound, "round \(round)")
            store.close()
            try FileManager.default.removeItem(at: folder.store)
        }
    }

    @Test func aListOfTablesThatLeadsOutOfItsPageIsRefused() throws {
        try LibraryFile.fixture().write(to: folder.file)
        var bytes = try Data(contentsOf: URL(filePath: folder.file))
        // The places of the first page's cells, as a leaf and as a page above others.
        for offset in 108..<128 { bytes[offset] = 0xFF }
        for kind in [13, 5] as [UInt8] {
            bytes[100] = kind
            try bytes.write(to: URL(filePath: folder.file))
            #expect(refusal().contains("damaged"))
        }
    }

    @Test func columnsThatHoldOtherTypesAreListed() throws {
        try LibraryFile.fixture(moreRows: [
            """
            UPDATE ZWORK SET ZPAGES = 'many', ZCOPIES = x'FF', ZWORDS = 1.5, ZISLENT = x'00', ZBOUGHT = 'today',
            ZPRICE = x'00', ZWEIGHT = 'light', ZRATING = x'01', ZTITLE = x'FFFEFD', ZPAGE = 7, ZCODE = 'none',
            ZSHAPE = 3, ZAUTHOR = 'Lem', ZSEQUEL = x'', Z_FOK_AUTHOR = 'first' WHERE Z_PK = 1
            """,
            "UPDATE ZAUTHOR SET ZPORTRAIT = 7.5, ZNAME = 12 WHERE Z_PK = 5",
            "UPDATE Z_3WORKS SET Z_FOK_3TAGS = 'last', Z_4WORKS = 'none' WHERE Z_4WORKS = 3",
            "UPDATE ZPORTRAIT SET ZIMAGE = 'text', Z_ENT = 'Portrait'",
        ]).write(to: folder.file)
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(report.rows == 8 && (report.faultCounts[.unsoundValue] ?? 0) >= 9)
        let store = try Store.open(.directory(folder.store), model: nil)
        defer { store.close() }
        #expect(try store.verify(.full).isSound)
    }

    // MARK: The model

    private func write(cache: [UInt8]) throws {
        var fixture = LibraryFile.fixture()
        fixture.hasModel = false
        fixture.joins += CoreDataFixture.cache(cache)
        try fixture.write(to: folder.file)
    }

    @Test func aModelThatUnpacksWithoutEndIsRefused() throws {
        // Fixed codes: a zero byte, and then copies of 258 bytes at the distance 1.
        var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
        for _ in 0..<40_000 { bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0] }
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start -> UInt8 in
            let byte = bits[start..<min(start + 8, bits.count)]
            return byte.enumerated().reduce(UInt8(0)) { $0 | $1.element << UInt8($1.offset) }
        }
        try write(cache: bytes)
        #expect(refusal().contains("it is larger than 4194304 bytes"))
    }

    @Test func aModelThatIsTooLargeIsRefused() throws {
        try write(cache: [])
        let database = try WritableDatabase(folder.file)
        try database.run("UPDATE Z_MODELCACHE SET Z_CONTENT = zeroblob(4194305)")
        database.close()
        #expect(refusal().contains("it is larger than 4194304 bytes"))
    }

    @Test func aNameWithoutEndIsRefusedSoon() throws {
        var fixture = LibraryFile.fixture()
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        let database = try WritableDatabase(folder.file)
        try database.run("UPDATE Z_PRIMARYKEY SET Z_NAME = hex(zeroblob(5000000)) WHERE Z_ENT = 1")
        database.close()
        let start = ContinuousClock.now
        #expect(refusal().hasSuffix("has an entity whose name has 10000000 bytes."))
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    /// The search for the targets of to-ones in a file without model must not compare every column with every table.
    @Test func columnsThatMayLeadToManyTablesEndSoon() throws {
        let (tables, columns) = (60, 60)
        let keys = (0..<columns).map { "ZK\($0) INTEGER" }.joined(separator: ", ")
        let statements = (0..<tables).flatMap { table in
            [
                "CREATE TABLE ZQ\(table) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZZ INTEGER, \(keys))",
                "INSERT INTO Z_PRIMARYKEY VALUES (\(100 + table), 'Q\(table)', 0, 1)",
                "INSERT INTO ZQ\(table) (Z_PK, Z_ENT, ZK0) VALUES (1, \(100 + table), 1)",
            ]
        }
        var fixture = LibraryFile.fixture(moreRows: statements)
        fixture.hasModel = false
        try fixture.write(to: folder.file)
        let start = ContinuousClock.now
        let report = try CoreDataImporter(folder.file, options: .init()).check()
        #expect(report.rows == 8 + tables)
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func aModelWithCyclesIsRefused() throws {
        var archive = OldArchive()
        let entity = archive.object("NSEntityDescription", [])
        let name = archive.add(.text("Author"))
        archive.set(entity, [("NSSuperentity", entity), ("NSEntityName", name)])
        let model = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary([("Author", entity)]))])
        try write(cache: ModelArchiver.packed(archive.bytes(root: model)))
        #expect(refusal().contains("The model has"))
        var predicate = OldArchive()
        let compound = predicate.object("NSCompoundPredicate", [("NSCompoundPredicateType", .integer(1))])
        predicate.set(compound, [("NSSubpredicates", predicate.array([compound, compound]))])
        let reader = ArchivedPredicate(archive: try KeyedArchive(predicate.bytes(root: compound)))
        #expect(reader.predicate(reader.archive.root) == nil)
    }

    @Test(arguments: [true, false]) func aModelWithALongNameIsRefused(isOfEntity: Bool) throws {
        var archive = OldArchive()
        let long = archive.text(String(repeating: "-", count: 4001))
        let property = archive.object("NSAttributeDescription", [("NSAttributeType", .integer(700))])
        let properties = archive.dictionary([(String(repeating: "-", count: isOfEntity ? 1 : 4001), property)])
        let name = isOfEntity ? long : archive.text("A")
        let entity = archive.object("NSEntityDescription", [("NSEntityName", name), ("NSProperties", properties)])
        let model = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary([("A", entity)]))])
        try write(cache: ModelArchiver.packed(archive.bytes(root: model)))
        #expect(refusal().contains("cannot be read: it has a name of 4001 bytes"))
    }

    @Test(arguments: ["-wal", "-shm", "-journal"]) func aPipeInPlaceOfALogIsRefused(suffix: String) throws {
        try LibraryFile.fixture().write(to: folder.file)
        #expect(mkfifo(folder.file + suffix, 0o600) == 0)
        #expect(refusal() == "\(folder.file)\(suffix) is no file.")
    }

    @Test func aModelOfNoModelIsRefused() throws {
        try write(cache: [0xFF, 0xFF, 0xFF])
        #expect(refusal().contains("cannot be read: it is packed in a way that cannot be unpacked"))
    }

    @Test func aHundredThousandTablesAreRefusedSoon() throws {
        let database = try WritableDatabase(folder.file)
        try database.run("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER)")
        try database.run("PRAGMA writable_schema = ON")
        try database.run(
            "INSERT INTO sqlite_master "
                + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
                + "SELECT 'table', 'ZT' || i, 'ZT' || i, 2, 'CREATE TABLE ZT' || i || ' (A)' FROM n")
        database.close()
        let start = ContinuousClock.now
        #expect(refusal().contains("The file takes too long to read"))
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test func tablesOfMoreColumnsThanCoreDataWritesAreRefusedSoon() throws {
        let database = try WritableDatabase(folder.file)
        try database.run("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER)")
        try database.run("PRAGMA writable_schema = ON")
        let columns = (0..<1000).map { "ZC\($0)" }.joined(separator: ",")
        try database.run(
            "INSERT INTO sqlite_master "
                + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
                + "SELECT 'table', 'ZT' || i, 'ZT' || i, 2, 'CREATE TABLE ZT' || i || ' (\(columns))' FROM n")
        database.close()
        let start = ContinuousClock.now
        #expect(refusal().hasSuffix("has more tables than Core Data writes."))
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    /// A small archive can give many entities the same list of properties.
    private func write(entities count: Int, sharing names: [String]) throws {
        var archive = OldArchive()
        let property = archive.object("NSAttributeDescription", [("NSAttributeType", .integer(700))])
        let properties = archive.dictionary(names.map { ($0, property) })
        let entities = (0..<count).map { index in
            let name = archive.text("E\(index)")
            let entity = archive.object("NSEntityDescription", [("NSEntityName", name), ("NSProperties", properties)])
            return ("E\(index)", entity)
        }
        let model = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary(entities))])
        try write(cache: ModelArchiver.packed(archive.bytes(root: model)))
    }

    @Test func entitiesThatShareThousandsOfPropertiesAreRefusedSoon() throws {
        try write(entities: 1000, sharing: (0..<2000).map { "p\($0)" })
        #expect(refusal().contains("it has too many parts"))
    }

    @Test func aModelOfBadNamesAloneIsRefusedSoon() throws {
        try write(entities: 40, sharing: (1...300).map { String(repeating: "-", count: $0) })
        let start = ContinuousClock.now
        #expect(refusal() == "The model has more than 1000 parts that Strata cannot have.")
        #expect(ContinuousClock.now - start < .seconds(4))
    }

    @Test(arguments: [false, true]) func aModelOfManyPropertiesAndNoColumnsIsRefusedSoon(isSound: Bool) throws {
        try write(entities: 180, sharing: (0..<300).map { isSound ? "p\($0)" : "-\($0)" })
        let start = ContinuousClock.now
        #expect(refusal().contains("has a model of 54000 properties, and tables of "))
        #expect(ContinuousClock.now - start < .seconds(4))
    }

    @Test func moreEntitiesThanAFileHasAreRefused() throws {
        var archive = OldArchive()
        var parent = OldArchive.null
        let entities = (0..<4001).map { index in
            let name = archive.text("E\(index)")
            parent = archive.object("NSEntityDescription", [("NSEntityName", name), ("NSSuperentity", parent)])
            return ("E\(index)", parent)
        }
        let model = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary(entities))])
        try write(cache: ModelArchiver.packed(archive.bytes(root: model)))
        #expect(refusal() == "The model has 4001 entities; 4000 is the maximum.")
    }

    @Test func keysWithGapsTakeNoTimeForThem() throws {
        let rows = (1...200).map { "(\($0 * 500_000), 3, 1, 'word \($0)')" }.joined(separator: ", ")
        try LibraryFile.fixture(moreRows: ["INSERT INTO ZTAG VALUES \(rows)"]).write(to: folder.file)
        let start = ContinuousClock.now
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(report.rows == 208 && ContinuousClock.now - start < .seconds(5))
    }

    @Test func keysFarApartAreRefused() throws {
        try LibraryFile.fixture(moreRows: [
            "INSERT INTO ZTAG VALUES (-9223372036854775807, 3, 1, 'first'), (9223372036854775807, 3, 1, 'last')"
        ]).write(to: folder.file)
        #expect(refusal() == "The keys of ZTAG are too far apart.")
    }
}
