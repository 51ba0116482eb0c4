import Foundation
import StrataStore
import StrataTestSupport
import Testing

/// Damaged stores, read whole by an app that then saves on top: right or a typed error, never a wrong value, an end by a
/// signal, or more damage.
///
/// `STRATA_IMAGES` says how many stores; `STRATA_SEED` the seed that a failure has printed.
@Suite struct DamageTests {
    @Test func aDamagedStoreIsReadRightlyOrRefused() throws {
        let campaign = try ImageCampaign("alone", .full)
        try campaign.record(rounds: 40)
        let count = ProcessInfo.processInfo.environment["STRATA_IMAGES"].flatMap { Int($0) } ?? 60
        for seed in RandomTesting.seeds(unlessAsked: [1]) {
            let findings = try campaign.findings(seed: seed, count: count, "damage")
            #expect(findings.isEmpty, "STRATA_SEED=\(seed):\n\(findings.joined(separator: "\n"))")
        }
    }
}
