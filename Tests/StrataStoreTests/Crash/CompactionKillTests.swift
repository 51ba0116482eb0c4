import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Compactions that are killed at random moments, of a store whose last saves only the journal has on the disk, beside
/// readers in other processes.
@Suite struct CompactionKillTests {
    /// 12 kills, or as many as STRATA_KILLS says.
    private static var kills: Int {
        ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap { Int($0) } ?? 12
    }

    private static let tool = BuiltProgram("strata")

    @Test func aKilledCompactionLosesNoSaveAndReadersSeeAllOfThem() throws {
        let folder = try CampaignFolder()
        let directory = folder.root.appending(path: "main.strata", directoryHint: .isDirectory)
        let path = directory.path(percentEncoded: false)
        let seed = RandomTesting.seeds(unlessAsked: [47])[0]
        var generator = SeededGenerator(seed: seed)
        var saved = 0
        var finished = 0
        for round in 0..<Self.kills {
            let place: Comment = "STRATA_SEED=\(seed), round \(round)"
            let child = try CrashChild(directory, .journaled, "alone")
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                saved = try #require(child.acknowledgement(), place).number
            }
            if let last = child.kill().last { saved = last.number }
            let compaction = Process()
            compaction.executableURL = Self.tool.url
            compaction.arguments = ["compact", path]
            compaction.standardOutput = FileHandle.nullDevice
            compaction.standardError = FileHandle.nullDevice
            try compaction.run()
            usleep(UInt32.random(in: 0...200_000, using: &generator))
            let counted = try Self.tool.run(["count", path, "Movie"], limit: .seconds(30))
            kill(compaction.processIdentifier, SIGKILL)
            compaction.waitUntilExit()
            if compaction.terminationReason == .exit, compaction.terminationStatus == 0 { finished += 1 }
            // The last save may have been made and not said.
            let possible = (saved...saved + 1).map { "\($0 - max(0, $0 / 7 - 1))\n" }
            #expect(counted.exitCode == 0 && possible.contains(counted.output), "\(place): \(counted)")
            saved = try check(directory, saved, place)
        }
        let again = try Self.tool.run(["compact", path])
        #expect(again.exitCode == 0, "\(again), \(finished) were finished before")
        _ = try check(directory, saved, "STRATA_SEED=\(seed), at the end")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["main.strata"])
    }

    /// - Returns: how many saves are there.
    private func check(_ directory: URL, _ acknowledged: Int, _ place: Comment) throws -> Int {
        let store = try Store.open(.directory(directory), model: nil)
        defer { store.close() }
        let saves = try store.savesByThread()[1] ?? []
        #expect(saves == Array(1..<saves.count + 1) && acknowledged...acknowledged + 1 ~= saves.count, place)
        let report = try store.verify()
        #expect(report.isSound, "\(place): \(report.problems.map(\.description))")
        return saves.count
    }
}
