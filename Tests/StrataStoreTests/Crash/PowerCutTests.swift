import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// The power of a disk is cut while three threads save: what was acknowledged is there, as far as the durability promises.
///
/// `STRATA_CUTS` says how many cuts.
@Suite(.serialized, .enabled(if: LoopDisk.isPermitted, "mounting a file system is not permitted here"))
struct PowerCutTests {
    private static var cuts: Int {
        ProcessInfo.processInfo.environment["STRATA_CUTS"].flatMap { Int($0) } ?? 3
    }

    @Test(arguments: [StoreDurability.full, .journaled, .relaxed]) func aPowerCutTakesNoMoreThanTheDurabilitySays(
        durability: StoreDurability
    ) throws {
        let seed = RandomTesting.seeds(unlessAsked: [17])[0]
        var generator = SeededGenerator(seed: seed)
        let disk = try LoopDisk(sizeInMegabytes: 96)
        var directory = disk.root
        var saved: [Int: Int] = [:]
        for round in 0..<Self.cuts {
            if round % 10 == 0 {
                if round > 0 { try FileManager.default.removeItem(at: directory) }
                directory = disk.root.appending(path: "\(round).strata", directoryHint: .isDirectory)
                saved = [:]
            }
            let child = try CrashChild(directory, durability, "saves")
            for _ in 0..<Int.random(in: 3...60, using: &generator) {
                let line = try #require(child.acknowledgement(), "round \(round)")
                saved[line.thread] = line.number
            }
            // Idle cuts take other things than busy ones: the processes end first, or are stopped by the cut.
            let isIdle = round % 3 == 2
            if isIdle { for line in child.kill() { saved[line.thread] = line.number } }
            usleep(UInt32.random(in: 0...20_000, using: &generator))
            try disk.cutPower()
            // What a save says after the cut it has not made durable, but the cut comes before the answer.
            if !isIdle { _ = child.kill() }
            try disk.mountAgain()
            saved = try check(directory, durability, saved, "STRATA_SEED=\(seed), \(durability), round \(round)")
        }
    }

    /// Two processes write the same journal, each between the other's saves.
    @Test func aPowerCutTakesNothingOfTwoProcessesWithAJournal() throws {
        let seed = RandomTesting.seeds(unlessAsked: [23])[0]
        var generator = SeededGenerator(seed: seed)
        let disk = try LoopDisk(sizeInMegabytes: 96)
        let directory = disk.root.appending(path: "two.strata", directoryHint: .isDirectory)
        var saved: [Int: Int] = [:]
        for round in 0..<Self.cuts {
            let first = try CrashChild(directory, .journaled, "alone")
            // It makes the store.
            let line = try #require(first.acknowledgement(), "round \(round)")
            saved[line.thread] = line.number
            let second = try CrashChild(directory, .journaled, "second")
            for _ in 0..<Int.random(in: 3...30, using: &generator) {
                for child in [first, second] {
                    let line = try #require(child.acknowledgement(), "round \(round)")
                    saved[line.thread] = line.number
                }
            }
            // One of them ends before the power does, now and then.
            if round % 3 == 1 { for line in first.kill() { saved[line.thread] = line.number } }
            usleep(UInt32.random(in: 0...20_000, using: &generator))
            try disk.cutPower()
            if round % 3 != 1 { _ = first.kill() }
            _ = second.kill()
            try disk.mountAgain()
            saved = try check(directory, .journaled, saved, "STRATA_SEED=\(seed), two processes, round \(round)")
        }
    }

    /// - Returns: how many saves of each thread are there.
    private func check(
        _ directory: URL, _ durability: StoreDurability, _ acknowledged: [Int: Int], _ place: String
    ) throws -> [Int: Int] {
        let store = try Store.open(.directory(directory), model: nil)
        defer { store.close() }
        let numbers = try store.savesByThread()
        for thread in 1...3 {
            let saves = numbers[thread] ?? []
            let least = (acknowledged[thread] ?? 0) - (durability == .relaxed ? 1 : 0)
            #expect(saves == Array(1..<saves.count + 1), "\(place): \(saves)")
            #expect(saves.count >= least, "\(place): \(saves.count) saves of thread \(thread), \(least) are promised")
        }
        let report = try store.verify()
        #expect(report.isSound, "\(place): \(report.problems.map(\.description))")
        return numbers.mapValues(\.count)
    }
}
