import Foundation
import StrataTestSupport
import Testing

/// A command that reads leaves the store's directory as it is: names, sizes, times and bytes of all files.
///
/// `lock.mdb` is shared memory of the processes that have the store open: every reader notes itself in the table of
/// readers there, as it must, so that no writer takes away what it reads, and the locks are in it. It is no part of what
/// is stored. Of it are compared its size and what only a commit changes: the head with the form of the file and the
/// number of the last transaction.
@Suite struct UntouchedTests {
    private let store: FilmStore

    init() throws {
        store = try FilmStore()
        _ = try Tool.run("insert", store.path, "Still", "name=frame", "image=@\(Tool.program.url.path)")
    }

    private static let reading: [[String]] = [
        ["inspect", "STORE"], ["inspect", "STORE", "--json"], ["query", "STORE", "Film", "--where", "year > 1900"],
        ["query", "STORE", "Film", "--explain"], ["query", "STORE", "Film", "--at", "t2"],
        ["query", "STORE", "Film", "--group-by", "studio.name"], ["count", "STORE", "Film"],
        ["show", "STORE", "Film/p5", "--history"], ["show", "STORE", "Film/p5", "--at", "t3"], ["stats", "STORE"],
        ["log", "STORE"], ["log", "STORE", "--follow", "--limit", "3"], ["blame", "STORE", "Film/p5"],
        ["diff", "STORE", "t2", "t4"], ["timeline", "STORE"], ["tag", "STORE"], ["subscriptions", "STORE"],
        ["history", "trim", "STORE", "--before", "t4", "--dry-run", "--force"], ["replay", "STORE", "--speed", "0"],
        ["replay", "STORE", "--into", "ELSEWHERE"], ["backup", "STORE", "ELSEWHERE"],
        ["restore", "STORE", "ELSEWHERE"],
        ["export", "STORE", "Film"], ["export", "STORE", "Film", "ELSEWHERE"],
        ["export", "STORE", "--form", "cloudevents"], ["verify", "STORE"], ["verify", "STORE", "--quick"],
        ["doctor", "STORE"], ["model", "show", "STORE"], ["model", "check", "STORE"],
        ["model", "diff", "STORE", "STORE"],
        ["model", "export", "STORE", "ELSEWHERE.xcdatamodeld"], ["generate", "STORE", "--out", "ELSEWHERE"],
    ]

    /// Form (8 bytes) and number of the last transaction (8 bytes) at the beginning of the lock file.
    private static let lockHead = 16

    /// Names with sizes, modes, times of change and contents; of the lock file what readers do not change.
    private func contents(_ path: String) throws -> [String: String] {
        var found: [String: String] = [:]
        let names = FileManager.default.enumerator(atPath: path)
        while let name = names?.nextObject() as? String {
            var status = stat()
            try #require(lstat(path + "/" + name, &status) == 0)
            var text = "\(status.st_mode) \(status.st_ino)"
            if status.st_mode & S_IFMT == S_IFREG {
                let data = try Data(contentsOf: URL(filePath: path + "/" + name))
                let isLock = name == "lock.mdb"
                text += " \(status.st_size) \((isLock ? data.prefix(Self.lockHead) : data).hashValue)"
                if !isLock { text += " \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)" }
            }
            found[name] = text
        }
        var status = stat()
        try #require(stat(path, &status) == 0)
        found["."] = "\(status.st_mode) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        return found
    }

    private func arguments(_ words: [String], _ elsewhere: URL) -> [String] {
        words.map {
            $0.replacing("STORE", with: store.path).replacing("ELSEWHERE", with: elsewhere.path(percentEncoded: false))
        }
    }

    @Test func aCommandThatReadsChangesNoFile() throws {
        let before = try contents(store.path)
        #expect(before.keys.contains { $0.hasPrefix("blobs/") }, "\(before.keys)")
        #expect(before.keys.contains("lock.mdb") && before.keys.contains("data.mdb"))
        for words in Self.reading {
            let elsewhere = FileManager.default.temporaryDirectory.appending(component: "out-\(UUID().uuidString)")
            defer {
                for end in ["", ".xcdatamodeld"] { try? FileManager.default.removeItem(atPath: elsewhere.path + end) }
            }
            let result = try Tool.run(arguments(words, elsewhere))
            #expect(result.exitCode == 0, "\(words): \(result)")
            #expect(try contents(store.path) == before, "\(words)")
        }
    }

    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a file system is not permitted here"))
    func aStoreOnADiskThatCannotBeWrittenIsRead() throws {
        let disk = try MountedDisk(sizeInBytes: 256 << 20)
        let copy = disk.root.appending(path: "Store.strata", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: store.directory, to: copy)
        try FileManager.default.removeItem(at: copy.appending(path: "lock.mdb"))
        try disk.protect()
        let path = copy.path(percentEncoded: false)
        for words in Self.reading {
            let elsewhere = FileManager.default.temporaryDirectory.appending(component: "out-\(UUID().uuidString)")
            defer {
                for end in ["", ".xcdatamodeld"] { try? FileManager.default.removeItem(atPath: elsewhere.path + end) }
            }
            let words = words.map {
                $0.replacing("STORE", with: path).replacing("ELSEWHERE", with: elsewhere.path)
            }
            let result = try Tool.run(words)
            #expect(result.exitCode == 0, "\(words): \(result)")
        }
        let refused = try Tool.run("insert", path, "Genre", "label=war")
        #expect(refused.exitCode == 1 && refused.error.hasPrefix("strata: "), "\(refused)")
    }
}
