import Foundation
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

/// Truncations and erasures of one store, in any order.
@Suite struct TruncatedErasureTests {
    @Test(arguments: RandomTesting.seeds)
    func truncationsAndErasuresLeaveAWholeStore(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        let store = oracle.fixture.store
        var erased = 0
        for round in 0..<8 {
            for _ in 0..<15 { try oracle.step() }
            if Bool.random(using: &oracle.generator) {
                let cut = try #require(oracle.history.randomElement(using: &oracle.generator)).eventNumber
                if cut > (try store.baseline()?.event ?? .zero) {
                    _ = try store.truncateHistory(
                        through: cut, MaintenanceNote(author: "tests"), limits: TrimLimits(events: 7))
                }
            }
            let ids = oracle.now.objects.keys.sorted().filter {
                oracle.fixture.schema.entity($0.entityID)?.name != "Owner"
            }
            if let id = ids.randomElement(using: &oracle.generator) {
                let report = try store.erase(
                    ErasureRequest(objects: [id], note: MaintenanceNote(author: "dpo", metadata: ["n": "\(round)"])))
                #expect(report.objects == [id] && report.deletedCount == 1, "seed \(seed), round \(round)")
                oracle.now.objects[id] = nil
                oracle.now.tagged[id] = nil
                for tag in oracle.now.tagged.keys { oracle.now.tagged[tag]?[id] = nil }
                erased += 1
            }
            let verified = try store.verify()
            #expect(verified.problems.map(\.description) == [], "seed \(seed), round \(round)")
            #expect(verified.erasures.count == erased, "seed \(seed), round \(round)")
            #expect(try store.rebuild().isUnchanged, "seed \(seed), round \(round)")
            #expect(try oracle.read(at: store.head()) == oracle.now, "seed \(seed), round \(round)")
        }
        #expect(erased > 4)
        #expect(try store.erasures().count == erased)
    }
}
