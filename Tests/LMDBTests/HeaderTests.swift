import Foundation
import LMDB
import Testing

/// Opening over files that are no whole store: each kind has its own error, and not a byte or a name changes.
@Suite struct HeaderTests {
    let store = TemporaryStore()

    private let pageSize = 4096

    /// Replaces the data file by the bytes, and expects the code from opening in every way.
    private func expect(_ expected: LMDBError.Code, for bytes: Data) throws {
        try bytes.write(to: URL(fileURLWithPath: store.dataPath))
        chmod(store.dataPath, 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: store.path).sorted()
        for access in [EnvironmentOptions.Access.readOnly, .readWrite(create: false), .readWrite(create: true)] {
            #expect(code { try store.open { $0.access = access } } == expected)
        }
        #expect(try store.dataBytes() == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.path).sorted() == names)
    }

    private func whole() throws -> Data {
        try store.fill(100)
        return try store.dataBytes()
    }

    @Test func aMissingDirectoryIsMissingUnlessItMayBeMade() throws {
        #expect(code { try store.open { $0.access = .readWrite(create: false) } } == .missing)
        #expect(code { try store.open { $0.access = .readOnly } } == .missing)
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test func aDirectoryWithoutADataFileIsMissing() throws {
        mkdir(store.path, 0o700)
        #expect(code { try store.open { $0.access = .readWrite(create: false) } } == .missing)
        #expect(code { try store.open { $0.access = .readOnly } } == .missing)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.path).isEmpty)
    }

    @Test func anEmptyFileIsEmpty() throws {
        mkdir(store.path, 0o700)
        try expect(.empty, for: Data())
    }

    @Test func anotherKindOfFileIsForeign() throws {
        mkdir(store.path, 0o700)
        try expect(.foreign, for: Data("SQLite format 3\0".utf8))
        try expect(.foreign, for: Data(repeating: 0, count: 3 * pageSize))
        try expect(.foreign, for: Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
    }

    @Test func everyTruncationIsRefused() throws {
        let bytes = try whole()
        for length in [152, 1_000, pageSize, pageSize + 100, 2 * pageSize, bytes.count - pageSize, bytes.count - 1] {
            try expect(.truncated, for: bytes.prefix(length))
        }
    }

    @Test func aNewerFormatIsNamed() throws {
        var bytes = try whole()
        for page in 0...1 { bytes[page * pageSize + 20] = 2 }
        try expect(.newerFormat, for: bytes)
    }

    /// What one of the two pages says and the other does not is damage, and no other kind of file.
    @Test(arguments: [16, 20]) func aMetaPageThatStandsAloneIsInvalid(offset: Int) throws {
        let sound = try whole()
        for page in 0...1 {
            var bytes = sound
            bytes[page * pageSize + offset] ^= 2
            try expect(.invalid, for: bytes)
        }
    }

    /// Each change makes the header contradict itself in one way.
    @Test(arguments: [
        (40, UInt32(0)), (40, 4095), (40, 65_536), (40, 256), (20, 0), (136, 0), (136, UInt32.max), (44, 0xFFFF_0008),
        (44, 0x0001_0001), (92, 0x0001_0004), (92, 0x0021_0000), (92, 0), (128, 0x00FF_FFFF), (128, 1),
    ]) func aHeaderThatContradictsItselfIsRefused(offset: Int, value: UInt32) throws {
        var bytes = try whole()
        for page in 0...1 {
            let start = page * pageSize + offset
            withUnsafeBytes(of: value) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        }
        try bytes.write(to: URL(fileURLWithPath: store.dataPath))
        let refused = code { try store.open() }
        #expect(refused == .invalid || refused == .truncated)
        #expect(try store.dataBytes() == bytes)
    }

    @Test func randomDamageToTheHeaderNeverKillsTheProcess() throws {
        let bytes = try whole()
        var random = SplitMix(state: 0x5EED)
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<4 {
                let offset = Int.random(in: 0..<152, using: &random) + Int.random(in: 0...1, using: &random) * pageSize
                damaged[offset] = UInt8.random(in: 0...255, using: &random)
            }
            try damaged.write(to: URL(fileURLWithPath: store.dataPath))
            chmod(store.dataPath, 0o600)
            let child = try ChildProcess("open", store)
            let lines = child.lines()
            #expect(!child.wasSignalled)
            #expect(lines.count == 1)
        }
    }

    @Test func aFileMayEndBeforePagesThatAreFree() throws {
        // A long value that comes and goes in one transaction takes pages that are never written.
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.writeAndLeaveAShortFile(table)
        let info = try environment.info()
        try environment.close()
        #expect(info.fileSizeInBytes < (info.lastPage + 1) * info.pageSizeInBytes)
        let again = try store.open()
        let same = try again.openTables(["t"])[0]
        #expect(try again.read { try $0.bytes(same, 1) } == [1])
        try again.close()
        // Cutting a page that is in use is still noticed.
        let bytes = try store.dataBytes()
        try expect(.truncated, for: bytes.prefix(bytes.count - 1))
    }

    @Test func readOnlyOpeningChangesNoByteOfTheData() throws {
        let bytes = try whole()
        let environment = try store.open { $0.access = .readOnly }
        let table = try environment.openTables(["t"])[0]
        #expect(try environment.read { try $0.count(table) } == 100)
        #expect(code { try environment.write { try $0.put(table, 1, [1]) } } == .readOnly)
        #expect(code { try environment.sync() } == .readOnly)
        #expect(code { try environment.openTables(["other"]) } == .notFound)
        try environment.close()
        #expect(try store.dataBytes() == bytes)
    }

    @Test func aStoreOpensReadOnlyWithoutItsLockFile() throws {
        _ = try whole()
        for name in ["lock.mdb", "writer.lock"] { unlink(store.path + "/" + name) }
        let environment = try store.open { $0.access = .readOnly }
        let table = try environment.openTables(["t"])[0]
        #expect(try environment.read { try $0.count(table) } == 100)
    }

    @Test func withoutLocksNoFileIsMade() throws {
        _ = try whole()
        for name in ["lock.mdb", "writer.lock", "pages.sums"] { unlink(store.path + "/" + name) }
        let environment = try store.open {
            $0.access = .readOnly
            $0.locking = .none
        }
        let table = try environment.openTables(["t"])[0]
        #expect(try environment.read { try $0.count(table) } == 100)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.path) == ["data.mdb"])
    }
}

/// A small generator, so that a seed names the run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
