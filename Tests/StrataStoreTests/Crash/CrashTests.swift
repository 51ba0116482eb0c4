import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A writer is killed at random moments; afterwards every save it acknowledged is there, none is there by half, and the
/// views are what the log says.
@Suite(.serialized) struct CrashTests {
    /// 20 kills, or as many as STRATA_KILLS says.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap { Int($0) } ?? 20
    }

    private enum Work: String, CaseIterable {
        case saves, rebuild, models, create, backup, migrate
    }

    /// What a killed child had acknowledged, over all its rounds.
    private struct Acknowledged {
        /// By thread, the number of its last save.
        var saves: [Int: Int] = [:]
        var extras = 0
    }

    @Test(arguments: [StoreDurability.full, .journaled, .relaxed])
    func aKilledWriterLosesNothingItAcknowledged(durability: StoreDurability) throws {
        let root = FileManager.default.temporaryDirectory
            .appending(path: "strata-crash-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: RandomTesting.seeds(unlessAsked: [7])[0])
        var acknowledged = Acknowledged()
        var directory = root
        for round in 0..<max(4, Self.kills / 2) {
            // A new store now and then, so that checking stays short.
            if round % 20 == 0 {
                directory = root.appending(path: "\(round).strata", directoryHint: .isDirectory)
                acknowledged = Acknowledged()
            }
            let work: Work = [.saves, .saves, .rebuild, .saves, .models, .create][round % 6]
            let child = try CrashChild(directory, durability, work.rawValue)
            let pieces = Int.random(in: 0...(work == .saves ? 20 : 4), using: &generator)
            var lines: [(thread: Int, number: Int)] = []
            for _ in 0..<pieces { lines.append(try #require(child.acknowledgement(), "round \(round)")) }
            usleep(UInt32.random(in: 0...(lines.isEmpty ? 60_000 : 6_000), using: &generator))
            lines += child.kill()
            let place = "\(durability), round \(round), \(work)"
            switch work {
            case .saves: for line in lines { acknowledged.saves[line.thread] = line.number }
            case .models: acknowledged.extras = max(acknowledged.extras, lines.last?.number ?? 0)
            case .rebuild: break
            case .create: try checkCreated(directory, lines.last?.number ?? 0, place)
            case .backup, .migrate: break
            }
            if work != .create { try check(directory, &acknowledged, place) }
        }
    }

    /// A backup is there whole or not at all, and what one that was killed has left goes with the next.
    @Test func aKilledBackupLeavesNothingUnderItsName() throws {
        let root = FileManager.default.temporaryDirectory
            .appending(path: "strata-crash-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: RandomTesting.seeds(unlessAsked: [11])[0])
        for round in 0..<max(4, Self.kills / 4) {
            let directory = root.appending(path: "\(round).strata", directoryHint: .isDirectory)
            let child = try CrashChild(directory, .full, Work.backup.rawValue)
            var made = try #require(child.acknowledgement(), "round \(round)").number
            usleep(UInt32.random(in: 0...40_000, using: &generator))
            made = child.kill().last?.number ?? made
            let names = try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))
            let backups = names.filter { $0.hasPrefix("\(round).strata-") }
            #expect(backups.count >= made && backups.count <= made + 1, "\(backups), \(made) acknowledged")
            for name in backups {
                let copy = try Store.open(.directory(root.appending(path: name)), model: nil)
                let report = try copy.verify()
                #expect(report.isSound, "\(name): \(report.problems.map(\.description))")
                #expect(try copy.statistics().blobs.fileCount == 1)
                copy.close()
            }
            guard let left = names.first(where: { $0.contains(".partial-") }) else { continue }
            let place = left.dropFirst().components(separatedBy: ".partial-")[0]
            let store = try Store.open(.directory(directory), model: nil)
            defer { store.close() }
            // Killed between putting the copy in place and taking away where it was made, it stands there whole.
            if backups.contains(place) {
                #expect(throws: StrataError.self) { try store.backup(to: root.appending(path: place)) }
            } else {
                try store.backup(to: root.appending(path: place, directoryHint: .isDirectory))
            }
            let after = try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))
            #expect(!after.contains { $0.contains(".partial-") }, "\(after)")
        }
    }

    /// A migration in many commits is killed at random; whoever opens the store next goes on, and every value is there.
    @Test func aKilledMigrationIsFinishedByTheNextOpening() throws {
        let root = FileManager.default.temporaryDirectory
            .appending(path: "strata-crash-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: RandomTesting.seeds(unlessAsked: [23])[0])
        var unfinished = 0
        var directory = root
        let least = max(8, Self.kills / 2)
        for round in 0..<least * 10 {
            // How often a kill meets a migration depends on the machine; one must.
            if round >= least, unfinished > 0 { break }
            // A new store now and then: every migration rewrites all objects, and verifying reads the whole log.
            if round % 20 == 0 {
                directory = root.appending(path: "\(round).strata", directoryHint: .isDirectory)
                let fixture = try StoreFixture(.directory(directory), model: try MigratedNotes.model(.integer64))
                for number in 0..<60 { _ = try fixture.insert("Note", ["x": .integer(Int64(number))]) }
                fixture.store.close()
            }
            let child = try CrashChild(directory, .full, Work.migrate.rawValue)
            if round % 2 == 0 { _ = try #require(child.acknowledgement(), "round \(round)") }
            usleep(UInt32.random(in: 0...80_000, using: &generator))
            _ = child.kill()
            // Who only reads cannot go on, and sees nothing half done.
            var readOnly = StoreOptions()
            readOnly.isReadOnly = true
            do {
                try Store.open(.directory(directory), model: nil, options: readOnly).close()
            } catch let error as StrataError where error.code == .persistentStoreOpen {
                unfinished += 1
                try MigratedNotes.finish(directory)
            }
            for type in [AttributeType.string, .integer64] {
                let store = try Store.open(
                    .directory(directory), model: try MigratedNotes.model(type), options: MigratedNotes.backAndForth)
                defer { store.close() }
                #expect(try MigratedNotes.values(store) == Set((0..<60).map(String.init)), "round \(round), \(type)")
                let report = try store.verify()
                #expect(report.isSound, "round \(round): \(report.problems.map(\.description))")
            }
        }
        #expect(unfinished > 0, "no kill met a migration that was under way")
    }

    private func check(_ directory: URL, _ acknowledged: inout Acknowledged, _ place: String) throws {
        guard let store = try opened(directory, place) else {
            #expect(acknowledged.saves.isEmpty, "\(place): the store is gone")
            return
        }
        defer { store.close() }
        let numbers = try store.savesByThread()
        var movies = 0
        for thread in Set(numbers.keys).union(acknowledged.saves.keys) {
            let saved = numbers[thread] ?? []
            let last = acknowledged.saves[thread] ?? 0
            #expect(saved == Array(1..<saved.count + 1), "\(place): the saves are not in order and whole")
            #expect(saved.count >= last, "\(place): save \(last) was acknowledged and is gone")
            #expect(saved.count <= last + 1, "\(place): more saves than were begun")
            // The last may have been made and not said; the next child goes on behind it.
            acknowledged.saves[thread] = saved.count
            // Every seventh save takes the movie of seven saves before.
            movies += saved.count - max(0, saved.count / 7 - 1)
        }
        #expect(try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0 == movies, "\(place)")
        let extras = store.schema.entity(named: "Movie")?.properties.count { $0.name.hasPrefix("extra") } ?? 0
        #expect(extras >= acknowledged.extras, "\(place): a model is gone")
        try verify(store, place)
        _ = try store.sweepBlobs()
        try verify(store, "\(place), after sweeping")
    }

    /// nil when the child was killed before there was a store with a model.
    private func opened(_ directory: URL, _ place: String) throws -> Store? {
        do {
            return try Store.open(.directory(directory), model: nil)
        } catch let error as StrataError where error.code == .invalidModel || error.message == "There is no store." {
            return nil
        }
    }

    private func checkCreated(_ directory: URL, _ last: Int, _ place: String) throws {
        let root = directory.deletingLastPathComponent()
        for name in try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false)) {
            guard name.hasPrefix(directory.lastPathComponent + "-"), let number = Int(name.split(separator: "-")[1])
            else { continue }
            let made = root.appending(path: name, directoryHint: .isDirectory)
            defer { try? FileManager.default.removeItem(at: made) }
            // The next opening finishes an interrupted one.
            let store = try opened(made, place) ?? Store.open(.directory(made), model: try MovieModel.make())
            if number <= last {
                #expect(try store.transactions(limit: .max).contains { $0.metadata["n"] == "1" }, "\(place)")
            }
            #expect(number <= last + 1, "\(place)")
            try verify(store, "\(place), store \(number)")
            store.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: made.path(percentEncoded: false))
            #expect(!names.contains { $0.hasPrefix(".new-") }, "\(place): \(names)")
        }
    }

    private func verify(_ store: Store, _ place: String) throws {
        let report = try store.verify()
        #expect(report.isSound, "\(place): \(report.problems.map(\.description))")
    }
}
