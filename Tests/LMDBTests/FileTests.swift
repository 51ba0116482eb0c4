import Foundation
import Glibc
@testable import LMDB
import Synchronization
import Testing

/// Files that every user could write, by the process's mask. One test at a time, since the mask is the process's.
private struct OpenMask {
    private static let lock = NSLock()
    private let before: mode_t

    init() {
        Self.lock.lock()
        before = umask(0)
    }

    func close() {
        umask(before)
        Self.lock.unlock()
    }
}

/// What surrounds the data file: names, modes, links, locks, copies.
@Suite struct FileTests {
    let store = TemporaryStore()

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test func directoryAndFilesArePrivate() throws {
        let mask = OpenMask()
        defer { mask.close() }
        let environment = try store.open()
        #expect(mode(store.path) == 0o700)
        for name in ["data.mdb", "lock.mdb", "writer.lock"] { #expect(mode(store.path + "/" + name) == 0o600) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.path).count == 3)
        try environment.close()
    }

    @Test(arguments: ["data.mdb", "lock.mdb", "writer.lock"]) func aLinkInPlaceOfAFileIsRefused(name: String) throws {
        try store.fill()
        let moved = store.path + "/moved"
        rename(store.path + "/" + name, moved)
        symlink(moved, store.path + "/" + name)
        #expect(code { try store.open() } == .symbolicLink)
    }

    @Test(arguments: ["data.mdb", "lock.mdb", "writer.lock"]) func aPipeOrDirectoryInPlaceOfAFileIsRefused(
        name: String
    ) throws {
        try store.fill()
        let place = store.path + "/" + name
        rename(place, store.path + "/moved")
        mkfifo(place, 0o600)
        #expect(code { try store.open() } == .symbolicLink)
        unlink(place)
        mkdir(place, 0o700)
        #expect(code { try store.open() } == .symbolicLink)
    }

    @Test func aLinkInPlaceOfTheDirectoryIsRefused() throws {
        try store.fill()
        let link = TemporaryStore()
        symlink(store.path, link.path)
        #expect(code { try link.open() } == .symbolicLink)
        unlink(link.path)
    }

    @Test func filesThatOthersMayWriteAreRefusedUnlessToldOtherwise() throws {
        try store.fill()
        for path in [store.path, store.dataPath, store.path + "/lock.mdb"] {
            let before = mode(path)
            chmod(path, before | 0o020)
            #expect(code { try store.open() } == .insecurePermissions)
            #expect(code { try store.open { $0.ownership = .unchecked }.close() } == nil)
            chmod(path, before)
        }
        #expect(code { try store.open().close() } == nil)
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func filesOfAnotherUserAreRefusedUnlessToldOtherwise() throws {
        try store.fill()
        chown(store.dataPath, 12_345, 12_345)
        #expect(code { try store.open() } == .insecurePermissions)
        #expect(code { try store.open { $0.ownership = .unchecked }.close() } == nil)
    }

    @Test func networkFileSystemsAreKnownByNumber() {
        #expect(NetworkFileSystem.name(forType: 0x6969) == "NFS")
        #expect(NetworkFileSystem.name(forType: 0x6573_5546) == "FUSE")
        #expect(NetworkFileSystem.name(forType: 0xEF53) == nil)
        #expect(NetworkFileSystem.name(forType: 0x0102_1994) == nil)
    }

    @Test func theKernelsOwnFileSystemsDoNotCountAsNetwork() throws {
        try NetworkFileSystem.check(try EnvironmentDirectory(path: "/proc", createIfMissing: false))
    }

    @Test(arguments: ["data.mdb", "lock.mdb", "writer.lock"]) func aFileLostUnderALiveStoreStopsWriting(
        name: String
    ) throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        rename(store.path + "/" + name, store.path + "/away")
        #expect(code { try environment.write { try $0.put(table, 2, [2]) } } == .fileReplaced)
        #expect(try environment.read { try $0.bytes(table, 1) } == [1])
        // Another file under the name is not the one that other processes share with us.
        try Data().write(to: URL(fileURLWithPath: store.path + "/" + name))
        #expect(code { try environment.write { try $0.put(table, 2, [2]) } } == .fileReplaced)
        unlink(store.path + "/" + name)
        rename(store.path + "/away", store.path + "/" + name)
        try environment.write { try $0.put(table, 2, [2]) }
        #expect(try environment.read { try $0.count(table) } == 2)
    }

    @Test func unlinkedFilesLeaveNothingBehind() throws {
        let environment = try store.open {
            $0.residence = .unlinkedAfterOpen
            $0.durability = .disposable
        }
        #expect(!FileManager.default.fileExists(atPath: store.path))
        let table = try environment.openTables(["t"])[0]
        for round in 0..<10 as Range<UInt64> { try environment.write { try $0.put(table, round, [1]) } }
        #expect(try environment.read { try $0.count(table) } == 10)
        try environment.close()
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test func anExistingStoreIsNeverUnlinked() throws {
        try store.fill()
        #expect(code { try store.open { $0.residence = .unlinkedAfterOpen } } == .alreadyExists)
        #expect(FileManager.default.fileExists(atPath: store.dataPath))
    }

    @Test func noDescriptorIsHandedToOtherPrograms() throws {
        #expect(try ChildProcess("inherited-descriptors", store).lines() == ["inherited 0"])
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/smaps")))
    func theMapStaysOutOfCoreDumps() throws {
        let environment = try store.open { $0.mapSizeInBytes = 1 << 30 }
        let start = String(environment.bounds.lower.load(ordering: .relaxed), radix: 16)
        let handle = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        let maps = String(decoding: try #require(try handle.readToEnd()), as: UTF8.self)
        let entry = try #require(maps.range(of: "\n\(start)-"))
        let flags = try #require(maps[entry.upperBound...].firstMatch(of: /VmFlags: (.*)/))
        #expect(flags.1.split(separator: " ").contains("dd"))
        try environment.close()
    }

    @Test(arguments: [Environment.CopyKind.exact, .compacting]) func aHotCopyIsPrivateAndOpens(
        kind: Environment.CopyKind
    ) throws {
        let mask = OpenMask()
        defer { mask.close() }
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            for key in 0..<1_000 as Range<UInt64> { try transaction.put(table, key, [UInt8](repeating: 7, count: 500)) }
        }
        try environment.write { transaction in
            for key in 0..<900 as Range<UInt64> { _ = try transaction.delete(table, key) }
        }
        let copy = TemporaryStore()
        try environment.copy(to: copy.path, kind)
        #expect(mode(copy.path) == 0o700)
        #expect(mode(copy.dataPath) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy.path).sorted() == ["data.mdb", "pages.sums"])
        if kind == .compacting { #expect(try copy.dataBytes().count < store.dataBytes().count / 2) }
        let opened = try copy.open()
        let sameTable = try opened.openTables(["t"])[0]
        #expect(try opened.read { try $0.count(sameTable) } == 100)
        #expect(try opened.read { try $0.bytes(sameTable, 950)?.count } == 500)
        #expect(code { try environment.copy(to: copy.path) } == .alreadyExists)
        try opened.close()
    }

    /// The file, the directory above the copy's, and the copy's directory, in this order. A copy or a new store whose
    /// name is there is in a directory whose name is durable.
    @Test(arguments: ["copy-unsynced", "make-unsynced"])
    func aFileAndItsDirectoryAreSyncedBeforeItGetsItsName(work: String) throws {
        if work == "copy-unsynced" { try store.fill(1_000) }
        for (sync, state) in [(1, "nothing there"), (2, "nothing there"), (3, "named")] {
            let lines = try ChildProcess(work, store, sync).lines()
            guard lines != ["unavailable"] else { return }
            #expect(lines.count == 2 && lines.first?.hasPrefix("error") == true, "\(lines)")
            #expect(lines.last == "1 failed, \(state)")
        }
    }

    @Test func aFileEndsWhereACopyOfItEnds() throws {
        // The copy of a file that ends before free pages is as short as the file, and still whole.
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.writeAndLeaveAShortFile(table)
        let copy = TemporaryStore()
        try environment.copy(to: copy.path)
        let opened = try copy.open()
        let sameTable = try opened.openTables(["t"])[0]
        #expect(try opened.read { try $0.bytes(sameTable, 1) } == [1])
    }
}
