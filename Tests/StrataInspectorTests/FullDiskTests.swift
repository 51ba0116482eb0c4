import Foundation
import StrataCoreDataFixtures
import StrataTestSupport
import Testing

/// Commands that write where there is no room.
@Suite(
    .serialized,
    .enabled(if: MountedDisk.isPermitted, "The tests mount small file systems, which this user may not do."))
struct FullDiskTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    /// Pages of disks, until a command has enough.
    private static let sizes = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 128, 256, 1024]

    private func files(_ disk: MountedDisk) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: disk.root.path(percentEncoded: false)).sorted()
    }

    /// On a disk of each size a command succeeds, or says what is full, with exit code 1, and leaves nothing.
    @Test(arguments: [
        ["generate", "MODEL", "--out", "DISK/deep/code"], ["generate", "MODEL", "--out", "DISK", "--form", "plain"],
        ["model", "export", "STORE", "DISK/deep/M.xcdatamodeld"], ["model", "export", "STORE", "DISK/M.xcdatamodel"],
        ["create", "DISK/new.strata", "--model", "MODEL"], ["backup", "STORE", "DISK/copy.strata"],
        ["replay", "STORE", "--into", "DISK/copy.strata"], ["doctor", "STORE", "--into", "DISK/copy.strata"],
        ["restore", "STORE", "DISK/copy.strata"], ["export", "STORE", "Film", "DISK/films.ndjson"],
        ["export", "STORE", "Film", "DISK/films.csv"], ["export", "STORE", "Film", "DISK/films.plist"],
        ["export", "STORE", "DISK/events.ndjson", "--form", "cloudevents"],
    ])
    func aCommandMakesAllOrNothing(words: [String]) throws { try expectAllOrNothing(words) }

    @Test(.enabled(if: InstalledSQLite.isExpected, "SQLite is not installed."))
    func anExportForCoreDataMakesAllOrNothing() throws {
        try expectAllOrNothing(["export", "STORE", "--form", "coredata", "DISK/films.sqlite"])
    }

    private func expectAllOrNothing(_ words: [String]) throws {
        let model = try ModelOfThings()
        var isDone = false
        for size in Self.sizes where !isDone {
            // Directories and names take memory, but no room of such a file system.
            let disk = try MountedDisk(sizeInBytes: size * 4096)
            let root = disk.root.path(percentEncoded: false)
            let names = ["STORE": store.path, "MODEL": model.path]
            let result = try Tool.run(words.map { (names[$0] ?? $0).replacing("DISK", with: root) })
            if result.exitCode == 0 {
                isDone = true
                let made = try files(disk)
                #expect(!made.isEmpty && made.allSatisfy { !$0.contains("partial") }, "\(made)")
            } else {
                #expect(result.exitCode == 1, "\(size): \(result)")
                let left = try files(disk)
                #expect(left.isEmpty, "\(size): \(left) \(result)")
                let target = try #require(words.first { $0.hasPrefix("DISK") }).replacing("DISK", with: root)
                let lines = result.error.split(separator: "\n")
                #expect(
                    lines.count == 1 && lines[0].hasPrefix("strata: ") && lines[0].contains(target),
                    "\(size): \(result)")
                #expect(["full", "No space"].contains { result.error.contains($0) }, "\(size): \(result)")
            }
        }
        #expect(isDone)
        try store.expectUntouched()
    }

    /// What was there before a failure is there after it.
    @Test func generatedFilesStayAsTheyWere() throws {
        let model = try ModelOfThings()
        let disk = try MountedDisk(sizeInBytes: 64 << 10)
        let out = disk.root.appending(component: "code")
        func generate(_ form: String) throws -> Tool.Result {
            try Tool.run("generate", model.path, "--out", out.path(percentEncoded: false), "--form", form)
        }
        #expect(try generate("macro").exitCode == 0)
        func texts() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: out.path(percentEncoded: false))
            return try Dictionary(
                uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: out.appending(component: $0))) })
        }
        let before = try texts()
        let filler = disk.root.appending(component: "filler").path(percentEncoded: false)
        _ = try Tool.shell("head -c 1M /dev/zero > '\(filler)' 2>/dev/null")
        let result = try generate("plain")
        #expect(
            result.exitCode == 1 && result.error.contains("cannot be written: No space left on device."), "\(result)")
        #expect(try texts() == before)
        try FileManager.default.removeItem(atPath: filler)
        let again = try generate("plain"), after = try texts()
        #expect(again.exitCode == 0 && after.keys.sorted() == before.keys.sorted() && after != before, "\(again)")
    }

    @Test func aReadOnlyDiskIsReadAndNamed() throws {
        let model = try ModelOfThings()
        let disk = try MountedDisk(sizeInBytes: 8 << 20)
        let root = disk.root.path(percentEncoded: false)
        let path = disk.root.appending(component: "films.strata").path(percentEncoded: false)
        try FileManager.default.copyItem(atPath: store.path, toPath: path)
        try disk.protect()
        #expect(try Tool.run("count", path, "Film").output == "4\n")
        for words in [
            ["insert", path, "Genre", "label=comedy"], ["tag", path, "here"],
            ["create", root + "/new.strata", "--model", model.path], ["backup", store.path, root + "/new.strata"],
            ["generate", model.path, "--out", root + "/new"], ["model", "export", path, root + "/new.xcdatamodeld"],
            ["export", path, "Film", root + "/new.csv"], ["erase", path, "--list", root + "/new.json"],
        ] {
            let result = try Tool.run(words)
            #expect(result.exitCode == 1 && result.output.isEmpty, "\(words) \(result)")
            #expect(result.error.lowercased().contains("read-only file system"), "\(words) \(result)")
        }
        #expect(try files(disk).filter { !$0.hasPrefix("films.strata") }.isEmpty)
    }

    @Test(arguments: [
        ["import", "STORE", "Film", "FILE"], ["import", "STORE", "Film", "FILE", "--rows", "3"],
        ["insert", "STORE", "Genre", "label=comedy"], ["tag", "STORE", "full"], ["rebuild", "STORE"],
        ["compact", "STORE"],
    ])
    func aStoreOnAFullDiskStaysAsItIs(words: [String]) throws {
        let records = FileManager.default.temporaryDirectory.appending(component: "films-\(UUID().uuidString).ndjson")
        defer { try? FileManager.default.removeItem(at: records) }
        let lines = (0..<500).map { #"{"title": "Film \#($0) \#(String(repeating: "x", count: 200))", "year": 2000}"# }
        try Data(lines.joined(separator: "\n").utf8).write(to: records)
        let disk = try MountedDisk(sizeInBytes: 8 << 20)
        let path = disk.root.appending(component: "films.strata").path(percentEncoded: false)
        try FileManager.default.copyItem(atPath: store.path, toPath: path)
        let filler = disk.root.appending(component: "filler").path(percentEncoded: false)
        _ = try Tool.shell("cat /dev/zero > '\(filler)' 2>/dev/null")
        let names = ["STORE": path, "FILE": records.path(percentEncoded: false)]
        let result = try Tool.run(words.map { names[$0] ?? $0 })
        // A small change fits into pages of the file that are free.
        let isDone = result.exitCode == 0 && words[0] != "import" && words[0] != "compact"
        #expect(isDone || result.exitCode == 1 && result.error.contains("The disk is full"), "\(result)")
        #expect(
            try files(disk).allSatisfy { $0 == "filler" || $0.hasPrefix("films.strata") && !$0.contains("partial") })
        let imported = result.output.split(separator: " ").first.flatMap { Int($0) } ?? 0
        for isFull in [true, false] {
            if !isFull { try FileManager.default.removeItem(atPath: filler) }
            #expect(try Tool.run("count", path, "Film").output == "\(words.contains("--rows") ? 4 + imported : 4)\n")
            let verified = try Tool.run("verify", path)
            #expect(verified.exitCode == 0, "\(verified)")
        }
    }
}

/// A model file.
private final class ModelOfThings {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory
        path = try EncryptedStore.write(
            "Things-\(UUID().uuidString.prefix(8))",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Thing" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/></entity>
                <entity name="Other" syncable="YES"><attribute name="name" optional="YES" attributeType="String"/></entity>
            </model>
            """, in: folder)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
