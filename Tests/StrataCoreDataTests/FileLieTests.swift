import Foundation
import StrataCoreDataFixtures
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataCoreData

/// A file that lies is found out: the check names the fault, the import lists the same, and the comparison agrees. Needs
/// SQLite on the machine.
@Suite(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
struct FileLieTests {
    private let folder: ImportFolder

    init() throws { folder = try ImportFolder() }

    /// How many lies each seed tells; a long campaign sets `STRATA_COREDATA_ROUNDS`.
    private static let rounds =
        ProcessInfo.processInfo.environment["STRATA_COREDATA_ROUNDS"].flatMap { Int($0) } ?? 4

    /// Writes the sound file, and changes it.
    private func write(_ statements: [String]) throws {
        try? FileManager.default.removeItem(atPath: folder.file)
        try FileLie.soundFile().write(to: folder.file)
        let database = try WritableDatabase(folder.file)
        for statement in statements { try database.run(statement) }
        database.close()
    }

    /// Checks, imports and compares.
    private func outcome() throws -> (check: CoreDataImportReport, comparison: CoreDataComparison) {
        let checked = try CoreDataImporter(folder.file, options: .init()).check()
        let report = try PersistentContainer.importCoreDataStore(at: URL(filePath: folder.file), to: folder.store)
        #expect(checked.faultCounts == report.faultCounts && Set(checked.faults) == Set(report.faults))
        #expect(Set(checked.notes) == Set(report.notes))
        let store = try Store.open(.directory(folder.store), model: nil)
        defer {
            store.close()
            try? FileManager.default.removeItem(at: folder.store)
        }
        let found = try store.verify(.full)
        #expect(found.isSound, "\(found.problems)")
        return (checked, try CoreDataVerification.run(folder.file, store, options: .init()))
    }

    @Test func aSoundFileHasNoFaults() throws {
        try write([])
        let (check, comparison) = try outcome()
        #expect(check.faultCount == 0 && check.notes == [], "\(check.faults) \(check.notes)")
        #expect(comparison.isEqual && comparison.danglingKeys == 0, "\(comparison.differences)")
    }

    @Test(arguments: RandomTesting.seeds) func everyLieIsNamed(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<Self.rounds {
            let lie = FileLie.random(&generator)
            try write(lie.statements)
            let (check, comparison) = try outcome()
            #expect(
                check.faults.contains(where: lie.isNamed), "round \(round): \(lie) is not in \(check.faults)")
            #expect(comparison.isEqual || check.faultCount > 0, "round \(round): \(lie)")
            #expect(
                !lie.isLoss || !comparison.isEqual || comparison.danglingKeys + comparison.completedLinks > 0,
                "round \(round): the comparison does not see \(lie)")
        }
    }

    @Test func whatWouldBeDoneIsSaid() throws {
        try write(["UPDATE ZTAG SET ZWORD = NULL WHERE Z_PK = 10"])
        let outcomes = try CoreDataFaultTreatment.allCases.map { treatment in
            var options = CoreDataImportOptions()
            options.onFault = treatment
            return try CoreDataImporter(folder.file, options: options).check().faults.map(\.description)
        }
        let fault = "Tag/p10.word is required and has no value"
        #expect(
            outcomes == [
                ["\(fault); the import is refused"], ["\(fault); the default is set"],
                ["\(fault); it comes over without one"],
            ])
    }

    @Test func membersWithoutPlacesStandByTheirKeys() throws {
        try write(["UPDATE ZWORK SET Z_FOK_AUTHOR = NULL WHERE ZAUTHOR = 11"])
        let (check, comparison) = try outcome()
        // Novels and poems alternate, and their entities must not decide.
        #expect(check.faultCounts == [.unsoundPlace: 4] && comparison.isEqual, "\(comparison.differences)")
    }

    // MARK: Values that are rounded, and bytes without a mark

    @Test func aFloatThatHadMoreDigitsIsNoted() throws {
        try write(["UPDATE ZWORK SET ZRATING = 0.1 WHERE Z_PK IN (10, 12)"])
        let (check, comparison) = try outcome()
        #expect(check.faultCount == 0 && comparison.isEqual)
        #expect(
            check.notes == ["Novel.rating: 2 values had more digits than a Float keeps; the nearest Float is taken"])
    }

    @Test func bytesWithoutAMarkAreNoted() throws {
        try write(["UPDATE ZPORTRAIT SET ZIMAGE = x'89504E47' WHERE Z_PK = 10"])
        let (check, comparison) = try outcome()
        #expect(check.faultCount == 0 && comparison.isEqual)
        #expect(
            check.notes == [
                "Portrait.image: 1 value had no mark of where the bytes are; all bytes of the column are taken"
            ])
    }

    @Test(arguments: [
        ("0", "0.0", true), ("-0", "0", true), ("1.50", "15e-1", true), ("+7", "7", true), ("100", "1E2", true),
        ("1", "-1", false), ("1.5", "1.50000000000000000000000000000000000000000000001", false),
    ]) func textsOfTheSameDecimalAreEqual(one: String, other: String, isEqual: Bool) throws {
        #expect(try (#require(DecimalDigits(one)) == #require(DecimalDigits(other))) == isEqual)
    }

    @Test(arguments: ["", " 1", "1 ", "0x10", "1,5", "--1", "1e", "1e1.5", "e5", ".", "-", "1.2.3", "NaN", "١", "1_0"])
    func whatIsNoDecimalInFullIsNone(text: String) { #expect(DecimalDigits(text) == nil) }
}
