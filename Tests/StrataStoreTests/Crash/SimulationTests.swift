import Foundation
import StrataStore
import StrataTestSupport
import Testing

/// Schedules of contexts, writers, large values and a disk that fails, delays, reorders, tears and loses writes, each
/// with what a power cut may leave of it.
///
/// `STRATA_SCHEDULES` says how many, half of them for each durability; `STRATA_SEED` from which seed on. A failure names
/// its seed and the fewest steps with which it still fails. `make schedules` runs many more, in a release build.
@Suite struct SimulationTests {
    private static let steps = 12
    private static let cuts = 4

    @Test(arguments: [StoreDurability.full, .journaled])
    func whatWasAcknowledgedIsThereAfterAPowerCut(durability: StoreDurability) throws {
        let environment = ProcessInfo.processInfo.environment
        let count = max(2, (environment["STRATA_SCHEDULES"].flatMap { Int($0) } ?? 2000)) / 2
        let first = environment["STRATA_SEED"].flatMap { Int($0) } ?? 1
        // Records of many would fill the memory.
        for begin in stride(from: first, to: first + count, by: 100) {
            let seeds = begin..<min(begin + 100, first + count)
            for finding in try findings(seeds, durability, steps: Self.steps, cuts: Self.cuts) {
                let seed = Int(finding.prefix { $0.isNumber }) ?? seeds.lowerBound
                let shortest = try shrunk(seed, durability) ?? finding
                Issue.record("STRATA_SEED=\(seed), \(durability): \(shortest)")
            }
        }
    }

    /// The finding with the fewest steps, of those that are still there; nil if none is, which a race would do.
    private func shrunk(_ seed: Int, _ durability: StoreDurability) throws -> String? {
        for steps in 1...Self.steps {
            if let finding = try findings(seed..<seed + 1, durability, steps: steps, cuts: 60).first {
                return "\(steps) steps: \(finding)"
            }
        }
        return nil
    }

    private func findings(
        _ seeds: Range<Int>, _ durability: StoreDurability, steps: Int, cuts: Int
    ) throws -> [String] {
        let folder = try CampaignFolder()
        // What hangs is to be ended, also on a machine that does much else.
        let limit = Duration.seconds(120 + seeds.count * cuts * 5)
        let arguments = [
            folder.path, durability.rawValue, "\(seeds.lowerBound)", "\(seeds.count)", "\(steps)", "\(cuts)",
        ]
        let simulated = try folder.run(["simulate"] + arguments, limit: limit)
        if simulated.output.contains("unavailable") { return [] }
        guard simulated.exitCode == 0 else {
            return ["\(seeds.lowerBound) or later ended the process: \(simulated.output + simulated.error)"]
        }
        let checked = try folder.run(["check"] + arguments, limit: limit)
        let lines = checked.output.split(separator: "\n").map(String.init)
        guard lines.count == seeds.count else {
            return ["\(seeds.lowerBound + lines.count) ended the process: \(checked.exitCode) \(checked.error)"]
        }
        return lines.filter { $0.contains(" wrong: ") }
    }
}
