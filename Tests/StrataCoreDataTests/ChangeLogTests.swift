import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataTestSupport
import Testing

@testable import StrataCoreData

/// A log of changes that is damaged or cut short is not read silently as far as it goes. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct ChangeLogTests {
    private let folder: ImportFolder
    private let log: URL
    private let sound: Data
    /// A page and the header of its frame.
    private static let frameSize = 4096 + 24
    private var frameCount: Int { (sound.count - 32) / Self.frameSize }

    init() throws {
        folder = try ImportFolder()
        log = URL(filePath: folder.file + "-wal")
        try LibraryFile.fixture().write(
            to: folder.file, inLog: (20..<30).map { "INSERT INTO ZTAG VALUES (\($0), 3, 1, 'late \($0)')" })
        sound = try Data(contentsOf: log)
    }

    private func faults() throws -> [CoreDataFault] {
        let report = try CoreDataImporter(folder.file, options: .init()).check()
        return report.faults.filter { $0.kind == .lostChanges }
    }

    private func change(_ body: (inout Data) -> Void) throws {
        var bytes = sound
        body(&bytes)
        try bytes.write(to: log)
    }

    @Test func aSoundLogHasNoFault() throws { #expect(try faults() == []) }

    @Test func aLogThatIsCutShortSaysHowManyFramesAreLost() throws {
        try change { $0.removeLast(Self.frameSize + 100) }
        let found = try faults()
        #expect(
            found.map(\.description) == [
                "Library.sqlite-wal is cut short: 1 frame of \(frameCount - 1) cannot be read; "
                    + "the changes before them come over"
            ])
    }

    @Test func aChecksumThatIsWrongSaysHowManyFramesAreLost() throws {
        try change { $0[32 + Self.frameSize * (frameCount - 3) + 1000] ^= 1 }
        #expect(
            try faults().map(\.sentence) == ["has a wrong checksum: 3 frames of \(frameCount) cannot be read"])
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(report.faultCounts[.lostChanges] == 1)
    }

    @Test func aRefusedFaultOfTheLogMakesNothing() throws {
        try change { $0.removeLast(100) }
        folder.expectRefusedFault()
    }

    @Test(arguments: RandomTesting.seeds) func everyFlippedByteIsFound(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<20 {
            let place = round < 6 ? round * 5 : Int.random(in: 0..<sound.count, using: &generator)
            try change { $0[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            do {
                #expect(try faults().count == 1, "byte \(place)")
            } catch let error as StrataError {
                #expect(error.message.contains("is damaged"), "byte \(place): \(error)")
            }
        }
    }

    @Test(arguments: RandomTesting.seeds) func everyCutInAFrameIsFound(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let length = Int.random(in: 1..<sound.count, using: &generator)
            guard (length - 32) % Self.frameSize != 0 else { continue }
            try sound.prefix(length).write(to: log)
            #expect(try faults().count == 1, "\(length) bytes")
        }
    }

    @Test func aCutBetweenFramesIsFoundByTheListOfFrames() throws {
        var list = Data(count: 100)
        func set(_ at: Int, _ number: UInt32) {
            for index in 0..<4 { list[at + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        }
        set(0, 3_007_000)
        list[12] = 1
        set(16, UInt32(frameCount))
        list.replaceSubrange(32..<40, with: sound[16..<24])
        list.replaceSubrange(48..<96, with: list[0..<48])
        try list.write(to: URL(filePath: folder.file + "-shm"))
        #expect(try faults() == [])
        try sound.prefix(32 + Self.frameSize * (frameCount - 2)).write(to: log)
        #expect(try faults().map(\.sentence) == ["is cut short: 2 frames of \(frameCount) cannot be read"])
        try FileManager.default.removeItem(at: log)
        #expect(try faults().map(\.sentence) == ["is missing with \(frameCount) frames"])
    }

    @Test func framesOfAnEarlierRoundAreNoLoss() throws {
        // A log that was taken in begins anew with the next salt, over the frames of the last round.
        try FileManager.default.removeItem(atPath: folder.file)
        try FileManager.default.removeItem(at: log)
        try LibraryFile.fixture().write(to: folder.file)
        let database = try WritableDatabase(folder.file)
        try database.run("PRAGMA journal_mode = WAL")
        for key in 20..<30 { try database.run("INSERT INTO ZTAG VALUES (\(key), 3, 1, 'first')") }
        try database.run("PRAGMA wal_checkpoint(RESTART)")
        try database.run("INSERT INTO ZTAG VALUES (40, 3, 1, 'second')")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: folder.file + suffix, toPath: folder.url.appending(path: "Copy.sqlite").path + suffix)
        }
        database.close()
        let copy = folder.url.appending(path: "Copy.sqlite").path
        let report = try CoreDataImporter(copy, options: .init()).check()
        #expect(report.faultCount == 0, "\(report.faults)")
        #expect(report.entities.first { $0.name == "Tag" }?.rows == 13)
    }
}
