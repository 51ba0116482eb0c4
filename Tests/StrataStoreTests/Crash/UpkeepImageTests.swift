import Foundation
import StrataStore
import StrataTestSupport
import Testing

/// Power cuts and kills in the middle of what is done to a store now and then, and of shipping it: made of the recorded
/// system calls of each kind of work, as in `CrashImageTests`.
///
/// `STRATA_IMAGES` says how many of each kind of work; `STRATA_SEED` the seed that a failure has printed.
@Suite struct UpkeepImageTests {
    /// With how often it is done.
    private static let works: [(work: String, rounds: Int, durability: StoreDurability)] = [
        ("compact", 3, .journaled), ("upgrade", 1, .full), ("upgrade", 1, .journaled), ("rotate", 2, .full),
        ("rotate", 2, .journaled), ("restore", 1, .full), ("restore", 1, .journaled), ("erase", 6, .full),
        ("erase", 6, .journaled), ("trim", 12, .full), ("trim", 12, .journaled), ("thin", 6, .full),
        ("thin", 6, .journaled), ("subjects", 3, .full), ("subjects", 3, .journaled),
    ]
    private static let shipping: [(work: String, rounds: Int, durability: StoreDurability)] = [
        ("ship", 4, .full), ("ship", 4, .journaled), ("thinnedship", 5, .full), ("follow", 4, .full),
        ("follow", 4, .journaled),
    ]

    private static var count: Int {
        ProcessInfo.processInfo.environment["STRATA_IMAGES"].flatMap { Int($0) } ?? 8
    }

    private func run(
        _ work: String, _ rounds: Int, _ durability: StoreDurability, _ manners: [String] = ["images", "kills"],
        count: Int = Self.count
    ) throws {
        let campaign = try ImageCampaign(work, durability)
        try campaign.record(rounds: rounds)
        for seed in RandomTesting.seeds(unlessAsked: [1]) {
            for manner in manners {
                let findings = try campaign.findings(seed: seed, count: count, manner)
                #expect(
                    findings.isEmpty,
                    "STRATA_SEED=\(seed), \(work), \(durability), \(manner):\n\(findings.joined(separator: "\n"))")
            }
        }
    }

    @Test(arguments: works) func upkeepThatIsInterruptedLosesNothing(
        work: String, rounds: Int, durability: StoreDurability
    ) throws {
        try run(work, rounds, durability)
    }

    @Test(arguments: shipping) func aTargetHasWhatItWasSaidToHave(
        work: String, rounds: Int, durability: StoreDurability
    ) throws {
        try run(work, rounds, durability, count: max(4, Self.count / 2))
    }
}
