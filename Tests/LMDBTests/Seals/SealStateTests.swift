import Foundation
import Glibc
@testable import LMDB
import Testing

/// What an environment makes of sums that are missing, old, damaged, or those of another file.
@Suite struct SealStateTests {
    let store = TemporaryStore()

    private var sumsPath: String { store.path + "/pages.sums" }

    private func sumsBytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: sumsPath)) }

    private func overwriteSums(_ bytes: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: sumsPath))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    /// Opens for writing, makes a commit, and says how often all sums were made anew, and whether they are right.
    private func write() throws -> (wholeSeals: Int, report: Environment.PageReport) {
        let environment = try store.open()
        defer { try? environment.close() }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 7, [7]) }
        return (environment.wholeSealCount, try environment.checkPages())
    }

    @Test func aStoreWithoutSumsGetsThemAtTheFirstChange() throws {
        try store.fill(1000)
        unlink(sumsPath)
        let reader = try store.open { $0.access = .readOnly }
        #expect(try !reader.checkPages().hasSums && reader.checkPages().isSound)
        try reader.close()
        #expect(access(sumsPath, F_OK) != 0)
        let (wholeSeals, report) = try write()
        #expect(wholeSeals == 1 && report.hasSums && report.isSound)
        #expect(try write().wholeSeals == 0)
    }

    @Test(arguments: ["wrong", "", "pagesums"]) func aFileThatIsNoneOfSumsIsMadeAnew(content: String) throws {
        try store.fill(1000)
        try Data(content.utf8).write(to: URL(fileURLWithPath: sumsPath))
        chmod(sumsPath, 0o600)
        let (wholeSeals, report) = try write()
        #expect(wholeSeals == 1 && report.hasSums && report.isSound)
    }

    /// A power cut may keep the head of the file and lose its length.
    @Test(arguments: [32, 4_096, 8_192, 16_383]) func sumsThatWereCutShortAreMadeAnew(size: Int) throws {
        try store.fill(1000)
        #expect(truncate(sumsPath, size) == 0)
        let reader = try store.open { $0.access = .readOnly }
        #expect(try reader.checkPages().isSound)
        try reader.close()
        let (wholeSeals, report) = try write()
        #expect(wholeSeals == 1 && report.hasSums && report.isSound)
    }

    /// The process ended between the commit and its seal.
    @Test func aCommitThatWasNotSealedIsSealedByTheNextWriter() throws {
        try store.fill(1000)
        let before = try sumsBytes()
        #expect(try write().wholeSeals == 0)
        try overwriteSums(before)
        let reader = try store.open { $0.access = .readOnly }
        let table = try reader.openTables(["t"])[0]
        for key in 0..<1000 as Range<UInt64> { #expect(try reader.read { try $0.find(table, key) != nil }) }
        try reader.close()
        let (wholeSeals, report) = try write()
        #expect(wholeSeals == 0 && report.hasSums && report.isSound)
    }

    /// As above, and some of the entries had been changed: those of the leaves come first.
    @Test func aSealThatWasBegunIsRepeated() throws {
        try store.fill(1000)
        let before = try sumsBytes()
        #expect(try write().wholeSeals == 0)
        let after = try sumsBytes()
        let data = try store.dataBytes()
        let changed = (512..<before.count / 8).filter { before[$0 * 8..<$0 * 8 + 8] != after[$0 * 8..<$0 * 8 + 8] }
        // Leaves of the table, which are entered before the pages above them.
        let leaves = changed.filter { index in
            let page = (index - 512) * 4096
            return data[page + 10] == 2 && data[page + 12] > 30
        }
        #expect(changed.count > 3 && !leaves.isEmpty)
        for seals in [0, 1] {
            var mixed = before
            for leaf in leaves.prefix(seals) {
                mixed.replaceSubrange(leaf * 8..<leaf * 8 + 8, with: after[leaf * 8..<leaf * 8 + 8])
            }
            try overwriteSums(mixed)
            let environment = try store.open()
            try environment.write { _ in }
            #expect(try environment.checkPages().isSound)
            try environment.close()
        }
    }

    /// A program that does not know the sums has made several commits.
    @Test func olderSumsAreMadeAnew() throws {
        try store.fill(1000)
        let before = try sumsBytes()
        for _ in 0..<3 { _ = try write() }
        try overwriteSums(before)
        #expect(try store.open { $0.access = .readOnly }.checkPages().isSound)
        let (wholeSeals, report) = try write()
        #expect(wholeSeals == 1 && report.hasSums && report.isSound)
    }

    /// After a power cut the system may have kept any part of the file.
    @Test func sumsOfAnotherSessionCountOnlyAsAWhole() throws {
        try store.fill(1000)
        let sound = try sumsBytes()
        // Sums in a copy have been made in another place; all of them are there.
        let copy = TemporaryStore()
        try FileManager.default.copyItem(atPath: store.path, toPath: copy.path)
        let reader = try copy.open { $0.access = .readOnly }
        #expect(try reader.checkPages().hasSums)
        try reader.close()
        // One entry has been lost.
        var bytes = sound
        bytes.replaceSubrange(4096 + 8 * 5..<4096 + 8 * 6, with: Data(count: 8))
        try bytes.write(to: URL(fileURLWithPath: copy.path + "/pages.sums"))
        chmod(copy.path + "/pages.sums", 0o600)
        let again = try copy.open()
        #expect(try !again.checkPages().hasSums)
        let table = try again.openTables(["t"])[0]
        try again.write { try $0.put(table, 1, [1]) }
        #expect(again.wholeSealCount == 1)
        #expect(try again.checkPages().hasSums && again.checkPages().isSound)
        try again.close()
    }

    /// A flipped bit in the sums neither refuses a sound page nor lets a commit go wrong.
    @Test func damageOfTheSumsIsNoDamageOfThePages() throws {
        try store.fill(1000)
        let sound = try sumsBytes()
        let data = try store.dataBytes()
        var random = SplitMix(state: 3)
        for round in 0..<120 {
            var bytes = sound
            let end = round % 2 == 0 ? 512 : 4096 + 8 * data.count / 4096
            bytes[Int.random(in: 0..<end, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try store.overwrite(data)
            try overwriteSums(bytes)
            let reader = try store.open { $0.access = .readOnly }
            #expect(try reader.checkPages().isSound)
            let table = try reader.openTables(["t"])[0]
            #expect(try reader.read { try $0.count(table) } == 1000)
            try reader.close()
            let (_, report) = try write()
            #expect(report.isSound && report.hasSums)
            let survey = try store.open()
            #expect(try survey.surveyPages().problems.isEmpty)
            try survey.close()
        }
    }

    @Test func aDamagedFileIsNotWrittenTo() throws {
        try store.fill(1000)
        unlink(sumsPath)
        var bytes = try store.dataBytes()
        // A leaf without its last entry: nothing in the page contradicts itself.
        let leaf = try #require(
            (2..<bytes.count / 4096).first { bytes[$0 * 4096 + 10] == 2 && bytes[$0 * 4096 + 12] > 40 })
        bytes[leaf * 4096 + 12] -= 2
        try store.overwrite(bytes)
        let environment = try store.open()
        #expect(code { try environment.write { _ in } } == .corrupted)
        #expect(try store.dataBytes() == bytes)
        try environment.close()
    }

    @Test(arguments: ["link", "pipe", "directory"]) func anythingButAPlainFileIsRefused(kind: String) throws {
        try store.fill()
        unlink(sumsPath)
        switch kind {
        case "link": symlink("/dev/null", sumsPath)
        case "pipe": mkfifo(sumsPath, 0o600)
        default: mkdir(sumsPath, 0o700)
        }
        #expect(code { try store.open() } == .symbolicLink)
    }

    @Test func theFileIsPrivate() throws {
        try store.fill()
        var status = stat()
        #expect(stat(sumsPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
        chmod(sumsPath, 0o622)
        #expect(code { try store.open() } == .insecurePermissions)
    }

    @Test func disposableAndUnnamedEnvironmentsHaveNone() throws {
        let disposable = try store.open { $0.durability = .disposable }
        let table = try disposable.openTables(["t"])[0]
        try disposable.write { try $0.put(table, 1, [1]) }
        try disposable.close()
        #expect(access(sumsPath, F_OK) != 0)
        #expect(try write().report.isSound)
    }

    /// As after a power cut that took the seals: the pages of commits without a seal are not waited for one by one.
    @Test func pagesOfCommitsWithoutASealAreNotAwaited() throws {
        try store.fill(20_000)
        let other = try store.open { $0.sums = .ignored }
        let table = try other.openTables(["t"])[0]
        for round in 0..<4 as Range<UInt8> {
            try other.write { transaction in
                for key in 0..<20_000 as Range<UInt64> {
                    try transaction.put(table, key, [UInt8](repeating: round, count: 100))
                }
            }
        }
        try other.close()
        let environment = try store.open { $0.access = .readOnly }
        defer { try? environment.close() }
        let target = TemporaryStore()
        let time = try ContinuousClock().measure {
            let report = try environment.checkPages()
            #expect(report.hasSums && report.isSound)
            try environment.copy(to: target.path)
        }
        // Each of them took a second: some hundred pages.
        #expect(time < .seconds(10))
    }

    /// Two environments of two processes commit in turn, and each follows the other's sums.
    @Test func twoProcessesSealInTurn() throws {
        try store.fill(100)
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        for round in 0..<20 as Range<UInt64> {
            try environment.write { try $0.put(table, round, [UInt8](repeating: 1, count: 500)) }
            let child = try ChildProcess("append", store, 20)
            _ = child.lines()
        }
        #expect(environment.wholeSealCount == 0)
        let report = try environment.checkPages()
        #expect(report.hasSums && report.isSound)
        try environment.close()
    }
}

/// Copies bring their sums along.
@Suite struct CopySealTests {
    let store = TemporaryStore()

    @Test(arguments: [Environment.CopyKind.exact, .compacting]) func aCopyHasSums(kind: Environment.CopyKind) throws {
        try store.fill(2000)
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        for key in 0..<100 as Range<UInt64> { try environment.write { _ = try $0.delete(table, key) } }
        let target = TemporaryStore()
        try environment.copy(to: target.path, kind)
        try environment.close()
        let copy = try target.open()
        #expect(try copy.checkPages().hasSums && copy.checkPages().isSound)
        let same = try copy.openTables(["t"])[0]
        try copy.write { try $0.put(same, 1, [1]) }
        #expect(copy.wholeSealCount == 0)
        #expect(try copy.checkPages().hasSums && copy.checkPages().isSound)
        try copy.close()
    }

    @Test(arguments: [Environment.CopyKind.exact, .compacting])
    func aDamagedPageIsNotCopied(kind: Environment.CopyKind) throws {
        try store.fill(2000)
        var bytes = try store.dataBytes()
        let leaf = try #require(
            (2..<bytes.count / 4096).last { bytes[$0 * 4096 + 10] == 2 && bytes[$0 * 4096 + 12] > 60 })
        // The last byte of a record's value.
        bytes[leaf * 4096 + 4095] ^= 1
        try store.overwrite(bytes)
        let environment = try store.open { $0.access = .readOnly }
        let target = TemporaryStore()
        #expect(code { try environment.copy(to: target.path, kind) } == .corrupted)
        #expect(!FileManager.default.fileExists(atPath: target.path))
        try environment.close()
    }
}
