import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// A process that truncates or thins the history, or packs events into blocks, beside saves is killed at random moments. Afterwards every save that it
/// acknowledged is there, the history begins where the store says, and the views are what the log says.
@Suite(.serialized) struct TruncationCrashTests {
    /// 20 kills, or as many as STRATA_KILLS says.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap { Int($0) } ?? 20
    }

    @Test func aKilledTruncationLeavesAWholeStore() throws {
        let truncated = try kill("trim") { try $0.baseline() != nil }
        #expect(truncated > 0, "nothing was truncated")
    }

    /// What is left of a killed thinning is done by the next one.
    @Test func aKilledThinningLeavesAWholeStore() throws {
        let seed = RandomTesting.seeds(unlessAsked: [41])[0]
        var generator = SeededGenerator(seed: seed)
        var folder = try ErasureFolder()
        var (last, thinned, unfinished) = (0, 0, 0)
        for round in 0..<max(4, Self.kills) {
            // A new store now and then, so that its notes stay few.
            if round % 10 == 0 { (folder, last) = (try ErasureFolder(), 0) }
            let place = "seed \(seed), round \(round)"
            let child = try CrashChild(folder.store, round % 2 == 0 ? .full : .relaxed, "thin")
            var lines: [(thread: Int, number: Int)] = []
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                lines.append(try #require(child.acknowledgement(), "\(place)"))
            }
            usleep(UInt32.random(in: 0...20_000, using: &generator))
            lines += child.kill()
            last = max(last, lines.last { $0.thread == 1 }?.number ?? 0)
            thinned += lines.count { $0.thread == 0 }
            let store = try Store.open(.directory(folder.store), model: nil)
            defer { store.close() }
            let saved = try store.savesByThread()[1] ?? []
            #expect(saved == Array(1..<saved.count + 1) && last...last + 1 ~= saved.count, "\(place)")
            last = saved.count
            let found = try store.verify(.full)
            #expect(found.isSound, "\(place): \(found.problems.map(\.description))")
            #expect(try store.rebuild().isUnchanged, "\(place)")
            if found.hasUnfinishedThinning { unfinished += 1 }
            guard let cut = try store.thinnedEntities().values.map(\.cut).max(), cut > .zero else { continue }
            _ = try store.thinHistory(of: ["Note"], through: cut, MaintenanceNote(author: "test"))
            let report = try store.verify(.full)
            #expect(report.isSound && !report.hasUnfinishedThinning, "\(place)")
            #expect(try store.thinningPlan(of: ["Note"], through: cut).changedEvents == 0, "\(place)")
        }
        #expect(thinned > 0 && unfinished > 0, "no thinning was interrupted: \(thinned), \(unfinished)")
    }

    @Test func aKilledUpgradeLeavesAWholeStore() throws {
        let packed = try kill("seal") { try $0.plannedUpgrade().before.blockCount > 0 }
        #expect(packed > 0, "nothing was packed")
    }

    /// - Returns: after how many rounds something had been done to the store.
    private func kill(_ work: String, _ isDone: (Store) throws -> Bool) throws -> Int {
        let root = FileManager.default.temporaryDirectory
            .appending(path: "strata-crash-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: RandomTesting.seeds(unlessAsked: [31])[0])
        var directory = root
        var (last, done) = (0, 0)
        for round in 0..<max(4, Self.kills) {
            // A new store now and then, so that its rows stay few.
            if round % 20 == 0 {
                directory = root.appending(path: "\(round).strata", directoryHint: .isDirectory)
                last = 0
            }
            let child = try CrashChild(directory, round % 2 == 0 ? .full : .relaxed, work)
            var lines: [(thread: Int, number: Int)] = []
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                lines.append(try #require(child.acknowledgement(), "round \(round)"))
            }
            usleep(UInt32.random(in: 0...6_000, using: &generator))
            lines += child.kill()
            last = max(last, lines.last { $0.thread == 1 }?.number ?? 0)
            last = try check(directory, last, "round \(round)")
            let store = try Store.open(.directory(directory), model: nil)
            if try isDone(store) { done += 1 }
            store.close()
        }
        return done
    }

    /// - Returns: the last save in the log; it may have been made and not said.
    private func check(_ directory: URL, _ last: Int, _ place: String) throws -> Int {
        let store = try Store.open(.directory(directory), model: nil)
        defer { store.close() }
        let saved = try store.savesByThread()[1] ?? []
        let end = saved.last ?? last
        #expect(saved == Array((saved.first ?? 1)..<(saved.first ?? 1) + saved.count), "\(place): a save is missing")
        #expect(last...last + 1 ~= end, "\(place): save \(last) was acknowledged, the log ends with \(end)")
        if let baseline = try store.baseline() {
            #expect(try store.transactions(limit: 1).first?.number.rawValue == baseline.transaction.rawValue + 1)
        }
        // Every seventh save takes the movie of seven saves before.
        let movies = try store.statistics().entities.first { $0.name == "Movie" }?.objectCount ?? 0
        #expect(movies == end - max(0, end / 7 - 1), "\(place)")
        let report = try store.verify()
        #expect(report.isSound, "\(place): \(report.problems.map(\.description))")
        _ = try store.sweepBlobs()
        #expect(try store.verify(.full).isSound && store.rebuild().isUnchanged, "\(place)")
        return end
    }
}
