import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataInspector

/// A compaction beside others, and what killed commands leave beside a store.
@Suite struct CompactionTests {
    private let store: FilmStore

    init() throws { store = try FilmStore() }

    private struct Refused: Error {}

    /// Whoever saves between the exchange of the files and the end of the compaction loses nothing, also if the old file
    /// is put back.
    @Test(arguments: [true, false]) func noSaveIsLostBesideACompaction(isRefused: Bool) throws {
        let insertion = Process()
        let ended = DispatchSemaphore(value: 0)
        insertion.executableURL = Tool.program.url
        insertion.arguments = ["insert", store.path, "Genre", "label=war"]
        insertion.terminationHandler = { _ in ended.signal() }
        var compaction = Compaction(store: StoreArguments(path: store.path), keepsOld: false)
        compaction.whenExchanged = {
            try insertion.run()
            // Nobody can open the store now.
            #expect(ended.wait(timeout: .now() + 0.5) == .timedOut)
            if isRefused { throw Refused() }
        }
        if isRefused {
            #expect(throws: Refused.self) { try compaction.run() }
        } else {
            _ = try compaction.run()
        }
        ended.wait()
        #expect(insertion.terminationStatus == 0)
        let query = try Tool.run("query", store.path, "Genre", "--json")
        #expect(query.output.contains("\"war\""), "\(query)")
        #expect(try Tool.run("verify", store.path).exitCode == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
        #expect(!names.contains { $0.contains("compact") }, "\(names)")
    }

    /// The checkpoint of the old file would be taken for one of a later file that is given its inode number.
    @Test func theCheckpointOfTheOldFileGoesWithIt() throws {
        var options = StoreOptions()
        options.durability = .journaled
        let checkpoint = store.path + "/checkpoint"
        for number in 0..<2 {
            try Store.open(.directory(store.directory), model: nil, options: options).close()
            let insertion = try Tool.run("insert", store.path, "Genre", "label=war \(number)")
            #expect(insertion.exitCode == 0 && FileManager.default.fileExists(atPath: checkpoint), "\(insertion)")
            #expect(try Tool.run("compact", store.path).exitCode == 0)
            #expect(!FileManager.default.fileExists(atPath: checkpoint))
        }
        let query = try Tool.run("query", store.path, "Genre", "--json")
        #expect(query.output.contains("\"war 0\"") && query.output.contains("\"war 1\""), "\(query)")
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    /// A commit that is on its way is in the file before readers see it.
    @Test func theStampOfTheFileIsTakenBetweenCommits() throws {
        let lock = open(store.path + "/writer.lock", O_RDWR | O_CREAT, 0o600)
        #expect(flock(lock, LOCK_EX) == 0)
        let compaction = Process()
        let ended = DispatchSemaphore(value: 0)
        compaction.executableURL = Tool.program.url
        compaction.arguments = ["compact", store.path]
        compaction.terminationHandler = { _ in ended.signal() }
        try compaction.run()
        #expect(ended.wait(timeout: .now() + 1) == .timedOut)
        close(lock)
        ended.wait()
        #expect(compaction.terminationStatus == 0)
    }

    private final class Copies {
        var locked: [Bool] = []
    }

    /// Each of the first copies is overtaken by a save. The last one is made while no process can save.
    @Test func anOvertakenCompactionTriesAgain() throws {
        let copies = Copies()
        let waiting = Process()
        let ended = DispatchSemaphore(value: 0)
        waiting.executableURL = Tool.program.url
        waiting.arguments = ["insert", store.path, "Genre", "label=waiting"]
        waiting.terminationHandler = { _ in ended.signal() }
        var compaction = Compaction(store: StoreArguments(path: store.path), keepsOld: false)
        compaction.whenCopied = { isLocked in
            copies.locked.append(isLocked)
            if isLocked {
                try waiting.run()
                #expect(ended.wait(timeout: .now() + 0.5) == .timedOut)
            } else {
                let saved = try Tool.run("insert", store.path, "Genre", "label=war \(copies.locked.count)")
                #expect(saved.exitCode == 0, "\(saved)")
            }
        }
        _ = try compaction.run()
        ended.wait()
        #expect(waiting.terminationStatus == 0)
        #expect(copies.locked == [false, false, false, true])
        let query = try Tool.run("query", store.path, "Genre", "--json")
        for label in ["war 1", "war 2", "war 3", "waiting"] {
            #expect(query.output.contains("\"\(label)\""), "\(query)")
        }
        #expect(try Tool.run("verify", store.path).exitCode == 0)
        try expectNoCopies()
    }

    /// Other processes do not wait for a long copy.
    @Test func anOvertakenLongCompactionGivesUp() throws {
        let copies = Copies()
        var compaction = Compaction(store: StoreArguments(path: store.path), keepsOld: false)
        compaction.longestLockedCopy = .zero
        compaction.whenCopied = { isLocked in
            copies.locked.append(isLocked)
            let saved = try Tool.run("insert", store.path, "Genre", "label=war \(copies.locked.count)")
            #expect(saved.exitCode == 0, "\(saved)")
        }
        let error = #expect(throws: StrataError.self) { _ = try compaction.run() }
        #expect(error?.code == .persistentStoreTimeout)
        #expect(error?.message == "Another process wrote to the store; nothing was changed. Try again.")
        #expect(copies.locked == [false, false, false])
        #expect(try Tool.run("count", store.path, "Genre").output == "5\n")
        try expectNoCopies()
    }

    /// A compaction waits for a command that ends soon. It does not wait for a program that keeps the store open.
    @Test func aCompactionWaitsForShortReaders() throws {
        func start(count: Int) throws -> Process {
            let reader = Process()
            reader.executableURL = Tool.program.url
            reader.arguments = ["top", store.path, "--count", "\(count)", "--interval", "0.3", "--json"]
            reader.standardOutput = FileHandle.nullDevice
            try reader.run()
            usleep(300_000)
            return reader
        }
        let staying = try start(count: 1000)
        var compaction = Compaction(store: StoreArguments(path: store.path), keepsOld: false)
        let error = #expect(throws: StrataError.self) { _ = try compaction.run() }
        #expect(error?.message == "Another process has the store open; nothing was changed.")
        #expect(staying.isRunning)
        staying.terminate()
        staying.waitUntilExit()
        compaction.whenCopied = { _ in _ = try start(count: 2) }
        _ = try compaction.run()
        try expectNoCopies()
    }

    private func expectNoCopies() throws {
        for folder in [store.directory, store.directory.deletingLastPathComponent()] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
            let own = folder == store.directory ? "" : store.directory.lastPathComponent
            #expect(!names.contains { $0.contains(own + ".compact") || $0 == "data.mdb.before-compact" }, "\(names)")
        }
    }

    /// The hidden and visible copies that killed commands leave beside a store, each with a value of it.
    private func makeLeftovers() throws -> [String] {
        let name = store.directory.lastPathComponent
        let folder = store.directory.deletingLastPathComponent()
        let process = try EndedProcess.number()
        let places = [
            ".\(name).compacting-\(process).partial-\(process)-77/store", "\(name).compacting-\(process)",
            ".\(name).backup-2026-11-21.partial-\(process)-9/store", "\(name).restoring",
        ]
        return try places.map { place in
            let url = folder.appending(path: place, directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data("Stalker".utf8).write(to: url.appending(component: "data.mdb"))
            return folder.appending(path: String(place.split(separator: "/")[0])).path(percentEncoded: false)
        }
    }

    @Test(arguments: [0, 1, 2]) func theNextCommandRemovesWhatKilledOnesHaveLeft(command: Int) throws {
        let left = try makeLeftovers()
        let kept = store.path + "/data.mdb.before-compact"
        try Data("Stalker".utf8).write(to: URL(filePath: kept))
        let running = left[0] + "-running"
        switch command {
        case 0:
            let erased = try Tool.run("erase", store.path, "Film/p5", "--reason", "asked")
            #expect(
                erased.exitCode == 0 && erased.output.contains("removed \(kept), which had the values"), "\(erased)")
            #expect(!FileManager.default.fileExists(atPath: kept))
        case 1: #expect(try Tool.run("compact", store.path).exitCode == 0)
        default:
            let backup = store.path + ".new"
            #expect(try Tool.run("backup", store.path, backup).exitCode == 0)
            let restored = try Tool.run("restore", backup, store.path, "--replace")
            #expect(restored.exitCode == 0, "\(restored)")
        }
        for path in left { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
        #expect(!FileManager.default.fileExists(atPath: running))
        #expect(try Tool.run("verify", store.path).exitCode == 0)
    }

    @Test func twoRestoresToOnePlaceDoNotMeet() throws {
        let backup = store.path + ".new"
        #expect(try Tool.run("backup", store.path, backup).exitCode == 0)
        let place = URL(filePath: LeftCopies.restoring(store.path), directoryHint: .isDirectory)
        let lock = try #require(try PlaceLock(on: place))
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let refused = try Tool.run("restore", backup, store.path, "--replace")
        #expect(refused.exitCode == 1 && refused.error.contains("Another process restores"), "\(refused)")
        // An erasure leaves what is being made, too.
        #expect(try Tool.run("erase", store.path, "Film/p5", "--reason", "asked").exitCode == 0)
        #expect(FileManager.default.fileExists(atPath: place.path(percentEncoded: false)))
        lock.release()
        let done = try Tool.run("restore", backup, store.path, "--replace")
        #expect(done.exitCode == 0, "\(done)")
        #expect(!FileManager.default.fileExists(atPath: place.path(percentEncoded: false)))
    }

    @Test func shippingWithALostLargeValueEndsWithAProblem() throws {
        let poster = store.path + ".poster"
        let target = store.path + ".target"
        let restored = store.path + ".new"
        defer { for path in [poster, target] { try? FileManager.default.removeItem(atPath: path) } }
        try Data(count: 300_000).write(to: URL(filePath: poster))
        #expect(try Tool.run("insert", store.path, "Still", "name=one", "image=@\(poster)").exitCode == 0)
        for folder in try FileManager.default.contentsOfDirectory(atPath: store.path + "/blobs") {
            try FileManager.default.removeItem(atPath: store.path + "/blobs/" + folder)
        }
        for _ in 0..<2 {
            let shipped = try Tool.run("ship", store.path, target)
            #expect(shipped.exitCode == 1 && shipped.error.contains("1 large value could not be shipped"), "\(shipped)")
        }
        let result = try Tool.run("restore", target, restored)
        #expect(result.exitCode == 1 && result.error.contains("1 large value could not be restored"), "\(result)")
        #expect(result.output.contains("but 'strata verify' finds 1 problem"), "\(result)")
        #expect(try Tool.run("verify", restored).output.contains("blob: "))
    }
}
