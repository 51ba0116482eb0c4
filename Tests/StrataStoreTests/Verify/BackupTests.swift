import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import Testing

@Suite struct BackupTests {
    @Test func aBackupHoldsTheStoreAndItsLargeValues() throws {
        let damaged = try DamagedStore()
        let target = damaged.directory.appendingPathExtension("backup")
        defer { try? FileManager.default.removeItem(at: target) }
        let report = try damaged.store.backup(to: target)
        #expect(report.verification.isSound)
        #expect(report.blobCount == 1)
        #expect(report.blobSizeInBytes == 100_000)
        // What is saved afterwards is not in it.
        try damaged.fixture.update(damaged.alien, ["rating": .double(1)])
        let copy = try Store.open(.directory(target), model: nil)
        #expect(copy.identifier == damaged.store.identifier)
        #expect(try copy.head() == report.verification.head)
        #expect(try copy.blob(damaged.blob).count == 100_000)
        copy.close()
    }

    @Test func aBackupOverSomethingIsRefused() throws {
        let damaged = try DamagedStore()
        #expect(throws: StrataError.self) { try damaged.store.backup(to: damaged.directory) }
        #expect(try damaged.store.verify().isSound)
    }

    @Test func aBackupWithoutOneOfItsValuesSaysSo() throws {
        let damaged = try DamagedStore()
        let target = damaged.directory.appendingPathExtension("backup")
        defer { try? FileManager.default.removeItem(at: target) }
        let file = damaged.store.blobs.path(of: damaged.blob)
        try Data(repeating: 8, count: 100_000).write(to: URL(filePath: file))
        let damage = #expect(throws: StrataError.self) { try damaged.store.backup(to: target) }
        #expect(damage?.code == .corrupt)
        #expect(damage?.details.map(\.message).first?.hasSuffix("not those that were saved: \(file)") ?? false)
        try FileManager.default.removeItem(atPath: file)
        let loss = #expect(throws: StrataError.self) { try damaged.store.backup(to: target) }
        #expect(loss?.details.map(\.message).first?.hasSuffix("the file is missing: \(file)") ?? false)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        #expect(throws: StrataError.self) { try damaged.store.backup(to: target) }
        #expect(!FileManager.default.fileExists(atPath: target.path(percentEncoded: false)))
    }

    /// The slower of two processes that make something in one place says so, and leaves what the faster one made.
    @Test(arguments: ["backup", "restore", "replay", "make"]) func theSlowerOfTwoSaysThatThePlaceIsTaken(
        work: String
    ) throws {
        let damaged = try DamagedStore()
        let folder = damaged.directory.appendingPathExtension("copies")
        let target = folder.appending(path: "copy", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        for isFile in [false, true] {
            let other: ProgressHandler = { _ in
                guard !FileManager.default.fileExists(atPath: target.path(percentEncoded: false)) else { return }
                if isFile {
                    try? Data("x".utf8).write(to: folder.appending(path: "copy"))
                } else {
                    _ = try? Store.make(at: target, during: "making the store") { try Self.fill($0, with: "faster") }
                }
            }
            let error = #expect(throws: StrataError.self) {
                switch work {
                case "backup": _ = try damaged.store.backup(to: target, progress: other)
                case "restore": _ = try damaged.store.restore(to: target, progress: other)
                case "replay":
                    _ = try damaged.store.replay(
                        through: try damaged.store.head(), to: target, progress: other)
                default:
                    try Store.make(at: target, during: "making the store") { url in
                        try Self.fill(url, with: "slower")
                        other(StoreProgress(phase: "making", done: 1, total: 1, unit: .bytes))
                    }
                }
            }
            #expect(error?.code == .persistentStoreOpen)
            #expect(
                error?.message
                    == (isFile
                        ? "The place of the new store is already taken."
                        : "Another process has made a store in this place meanwhile. That one stays as it is."))
            #expect(error?.context.path == folder.appending(path: "copy").path)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy"])
            if !isFile { #expect(try String(contentsOf: target.appending(path: "name"), encoding: .utf8) == "faster") }
            try FileManager.default.removeItem(at: folder.appending(path: "copy"))
        }
    }

    private static func fill(_ folder: URL, with name: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data(name.utf8).write(to: folder.appending(path: "name"))
    }

    @Test func aReplacedFileIsNamedWithWhatToDo() throws {
        let cause = LMDBError(.fileReplaced, operation: "open the environment", path: "/a", detail: "data.mdb")
        let error = StrataError(opening: cause, path: "/a")
        #expect(error.code == .persistentStoreOperation)
        #expect(
            error.message
                == "Another process replaced or deleted the store's files while it was being opened, as a restore or a "
                + "compaction does. Try again.")
        let damaged = try DamagedStore()
        let file = damaged.directory.appending(path: "data.mdb")
        let away = damaged.directory.appending(path: "away")
        try FileManager.default.moveItem(at: file, to: away)
        defer { try? FileManager.default.moveItem(at: away, to: file) }
        let refused = #expect(throws: StrataError.self) {
            try damaged.fixture.update(damaged.alien, ["rating": .double(1)])
        }
        #expect(refused?.code == .persistentStoreOperation)
        #expect(
            refused?.message
                == "A file of the store was replaced or deleted while the store was open. Open the store again, and then "
                + "try again.")
    }

    @Test func statisticsCountWhatIsThere() throws {
        let damaged = try DamagedStore()
        let statistics = try damaged.store.statistics()
        #expect(statistics.entities.first { $0.name == "Movie" }?.objectCount == 2)
        #expect(statistics.indexes.first { $0.name == "byTitle" }?.entryCount == 2)
        #expect(statistics.tables.map(\.name) == StoreTables.names + StoreTables.bufferNames + StoreTables.removalNames)
        #expect(statistics.tables.first { $0.name == "events" }?.entryCount == Int(statistics.head.event.rawValue))
        #expect(statistics.blobs == .init(fileCount: 1, sizeInBytes: 100_000, namedCount: 1))
        #expect(statistics.files.first?.path == damaged.directory.path(percentEncoded: false) + "/data.mdb")
        #expect(statistics.files.first?.sizeInBytes ?? 0 > 0)
        #expect(statistics.lastTransaction?.lastEvent == statistics.head.event)
        #expect(statistics.firstTransaction?.number.rawValue == 1)
        #expect(statistics.modelVersions.map(\.rawValue) == [1])
    }
}
