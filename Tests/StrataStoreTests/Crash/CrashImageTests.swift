import Foundation
import StrataStore
import StrataTestSupport
import Testing

/// States that a power cut may leave, made of the recorded system calls of each kind of work.
///
/// `STRATA_IMAGES` says how many of each kind of work; `STRATA_SEED` the seed that a failure has printed.
@Suite struct CrashImageTests {
    private static let works = ["alone", "saves", "rebuild", "models", "create", "backup", "migrate", "compact"]

    private static var count: Int {
        ProcessInfo.processInfo.environment["STRATA_IMAGES"].flatMap { Int($0) } ?? 40
    }

    @Test(arguments: works) func aPowerCutTakesNothingThatWasAcknowledged(work: String) throws {
        let campaign = try ImageCampaign(work, .full)
        try campaign.record(rounds: 4)
        for seed in RandomTesting.seeds(unlessAsked: [1]) {
            let findings = try campaign.findings(seed: seed, count: Self.count)
            #expect(findings.isEmpty, "STRATA_SEED=\(seed), \(work):\n\(findings.joined(separator: "\n"))")
        }
    }

    @Test(arguments: ["alone", "saves", "rebuild", "models", "create", "migrate"])
    func aPowerCutTakesNothingThatTheJournalHas(work: String) throws {
        let campaign = try ImageCampaign(work, .journaled)
        try campaign.record(rounds: 6)
        for seed in RandomTesting.seeds(unlessAsked: [1]) {
            let findings = try campaign.findings(seed: seed, count: Self.count)
            #expect(findings.isEmpty, "STRATA_SEED=\(seed), \(work):\n\(findings.joined(separator: "\n"))")
        }
    }

    /// The last commit, which is one save of a thread at most.
    @Test(arguments: ["alone", "saves", "create"]) func aPowerCutTakesAtMostOneCommitOfARelaxedStore(
        work: String
    ) throws {
        let campaign = try ImageCampaign(work, .relaxed)
        try campaign.record(rounds: 6)
        for seed in RandomTesting.seeds(unlessAsked: [1]) {
            let findings = try campaign.findings(seed: seed, count: Self.count)
            #expect(findings.isEmpty, "STRATA_SEED=\(seed), \(work):\n\(findings.joined(separator: "\n"))")
        }
    }

    /// What the store had when it was closed last is there, and what is left is a beginning of what was acknowledged.
    @Test(arguments: ["alone", "saves", "rebuild", "create"]) func aPowerCutTakesAStoreBackToItsCheckpoint(
        work: String
    ) throws {
        let campaign = try ImageCampaign(work, .checkpointed)
        try campaign.record(rounds: 12)
        for seed in RandomTesting.seeds(unlessAsked: [1]) {
            let findings = try campaign.findings(seed: seed, count: Self.count)
            #expect(findings.isEmpty, "STRATA_SEED=\(seed), \(work):\n\(findings.joined(separator: "\n"))")
        }
    }

    @Test func theEndOfAProcessTakesNothingOfADisposableStore() throws {
        let campaign = try ImageCampaign("alone", .disposable)
        try campaign.record(rounds: 4)
        let findings = try campaign.findings(seed: 1, count: Self.count)
        #expect(findings.isEmpty, "\(findings.joined(separator: "\n"))")
    }
}
