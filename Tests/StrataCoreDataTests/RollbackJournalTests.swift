import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataTestSupport
import Testing

@testable import StrataCoreData

/// A file with the journal of a transaction that was not completed: SQLite takes the transaction back, and the import
/// names what cannot be taken back. Needs SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct RollbackJournalTests {
    private let folder: ImportFolder
    private let journal: URL
    private let sound: Data
    /// A page with its number and its checksum.
    private static let recordSize = 4096 + 8
    private static let sectorSize = 512
    private var pageCount: Int { (sound.count - Self.sectorSize) / Self.recordSize }

    init() throws {
        folder = try ImportFolder()
        journal = URL(filePath: folder.file + "-journal")
        // The files of an app that was killed in the midst of a transaction, part of which is in the file already.
        let whole = folder.url.appending(path: "Whole.sqlite").path
        try LibraryFile.fixture().write(to: whole)
        let database = try WritableDatabase(whole)
        try database.run("PRAGMA journal_mode = DELETE")
        for key in 20..<60 {
            try database.run("INSERT INTO ZTAG VALUES (\(key), 3, 1, '\(String(repeating: "early ", count: 300))')")
        }
        // Pages that do not fit into the cache go to the file before the end of the transaction.
        try database.run("PRAGMA cache_size = 10")
        try database.run("BEGIN")
        try database.run("UPDATE ZTAG SET ZWORD = '\(String(repeating: "late ", count: 350))'")
        try database.run("DELETE FROM ZWORK")
        for (suffix, target) in [("", URL(filePath: folder.file)), ("-journal", journal)] {
            try FileManager.default.copyItem(at: URL(filePath: whole + suffix), to: target)
        }
        try database.run("ROLLBACK")
        database.close()
        sound = try Data(contentsOf: journal)
    }

    private func report() throws -> CoreDataImportReport {
        try CoreDataImporter(folder.file, options: .init()).check()
    }

    private func loss() throws -> [String] {
        try report().faults.filter { $0.kind == .lostChanges }.map(\.description)
    }

    private func change(_ body: (inout Data) -> Void) throws {
        var bytes = sound
        body(&bytes)
        try bytes.write(to: journal)
    }

    private func number(_ at: Int) -> Int { sound[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }

    @Test func aTransactionThatWasNotCompletedIsTakenBack() throws {
        #expect(pageCount > 2)
        let before = try ["", "-journal"].map { try Data(contentsOf: URL(filePath: folder.file + $0)) }
        let whole = folder.url.appending(path: "Whole.sqlite").path
        let expected = try CoreDataImporter(whole, options: .init()).check()
        let found = try report()
        #expect(found.entities.map { "\($0.name) \($0.rows)" } == expected.entities.map { "\($0.name) \($0.rows)" })
        #expect(found.faults.map(\.description) == expected.faults.map(\.description))
        let note = "Library.sqlite-journal is of a transaction that was not completed: it is taken back, with"
        #expect(found.notes.contains { $0.hasPrefix(note) }, "\(found.notes)")
        _ = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        // Neither the file nor the journal has changed.
        #expect(try ["", "-journal"].map { try Data(contentsOf: URL(filePath: folder.file + $0)) } == before)
    }

    @Test func aJournalOfACompletedTransactionIsNothing() throws {
        // As `journal_mode = PERSIST` leaves it.
        try change { $0.replaceSubrange(0..<28, with: Data(count: 28)) }
        let found = RollbackJournal(besideFileAt: folder.file)
        #expect(found.note == nil && found.loss == nil)
        try Data().write(to: journal)
        let empty = RollbackJournal(besideFileAt: folder.file)
        #expect(empty.note == nil && empty.loss == nil)
    }

    private func found() -> String? { RollbackJournal(besideFileAt: folder.file).loss }

    @Test func aJournalThatIsCutShortSaysHowManyPagesAreLost() throws {
        #expect(found() == nil)
        // Only what the header names counts; what stands behind it was not in the file yet.
        let named = number(8)
        #expect(named > 1)
        try change { $0 = $0.prefix(Self.sectorSize + named * Self.recordSize - 100) }
        #expect(found() == "is cut short: 1 page of \(named) cannot be taken back")
        let all = try loss()
        #expect(
            all.count == 1 && all[0].hasPrefix("Library.sqlite-journal is cut short") && all[0].contains("half changed")
        )
    }

    @Test func aWrongChecksumSaysHowManyPagesAreLost() throws {
        let named = number(8)
        #expect(named > 2)
        // Bytes 96, 296, … of a page are in its checksum.
        try change { $0[Self.sectorSize + Self.recordSize * (named - 2) + 4 + 96] ^= 1 }
        #expect(found() == "has a wrong checksum: 2 pages of \(named) cannot be taken back")
    }

    @Test(arguments: [0, 7, 20, 27]) func aDamagedHeaderSaysThatNothingIsTakenBack(place: Int) throws {
        try change { $0[place] ^= 0x41 }
        #expect(found() == "has a damaged header, and nothing of the transaction can be taken back")
    }

    @Test func aHeaderThatNamesFewerPagesIsFound() throws {
        try change { $0.replaceSubrange(8..<12, with: [0, 0, 0, 0]) }
        #expect(found()?.hasPrefix("names fewer pages than it has") == true)
    }

    @Test func aHeaderThatNamesAnotherLengthIsFound() throws {
        try change { $0[19] ^= 0x40 }
        #expect(found() == "gives the file a length that its first page does not have")
    }

    @Test(arguments: RandomTesting.seeds) func everyFlippedByteOfTheHeaderIsFound(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        // How many pages it names matters only as far as the file has them otherwise.
        for place in 0..<28 where !(8..<12).contains(place) {
            try change { $0[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            #expect(found() != nil, "byte \(place)")
        }
    }

    @Test func aRefusedFaultOfTheJournalMakesNothing() throws {
        try change { $0[3] ^= 1 }
        folder.expectRefusedFault()
    }

    @Test func aTransactionOverSeveralFilesIsCompletedWhenItsJournalIsGone() throws {
        let other = folder.url.appending(path: "all-journal").path
        func end(_ name: String) -> Data {
            let sum = name.utf8.reduce(UInt32(0)) { $0 &+ UInt32($1) }
            func bytes(_ number: UInt32) -> [UInt8] {
                (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
            }
            return Data(
                bytes(UInt32.max / 2) + Array(name.utf8) + bytes(UInt32(name.utf8.count)) + bytes(sum)
                    + Array(sound[0..<8]))
        }
        try (sound + end(other)).write(to: journal)
        #expect(RollbackJournal(besideFileAt: folder.file).note?.contains("several files") == true)
        try Data("x".utf8).write(to: URL(filePath: other))
        #expect(RollbackJournal(besideFileAt: folder.file).note?.contains("taken back") == true)
    }
}
