import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Thirty models after one another, each with saves, against an oracle.
struct ModelChainTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: [1, 2, 3, 4]))
    func everyStateReadsAsItWasUnderTheModelOfThen(seed: UInt64) throws {
        try run(seed, .gathering(seed))
    }

    @Test(arguments: [UInt64(1), 2])
    func migrationsOfManyCommitsComeToTheSame(seed: UInt64) throws {
        try run(seed, MigratedStore.options(oneCommit: 0, step: 3))
    }

    /// With events of each model in blocks of their own, and erasures of objects of earlier models.
    @Test(arguments: RandomTesting.seeds(unlessAsked: [5, 6, 7]))
    func migrationsReadAndWriteEventsInBlocks(seed: UInt64) throws {
        var options = StoreOptions()
        options.packing = .eager
        if seed % 2 == 0 { options.bufferLimits = .eager }
        try run(seed, options)
    }

    /// Replaced values of things of all models are dropped again and again. `STRATA_SEEDS` takes all models.
    @Test(arguments: RandomTesting.seeds(unlessAsked: [8, 11]))
    func aThinnedHistoryGoesThroughMigrations(seed: UInt64) throws {
        var options = StoreOptions.gathering(seed)
        options.packing = .eager
        try run(seed, options, thins: true)
    }

    private func run(_ seed: UInt64, _ options: StoreOptions, thins: Bool = false) throws {
        // A random model may be one that the store has had.
        var options = options
        options.migration.allowsDowngrade = true
        var chain = ModelChain(seed: seed, options: options)
        defer { chain.place.remove() }
        let isLong = ProcessInfo.processInfo.environment.keys.contains { $0.hasPrefix("STRATA_SEED") }
        for version in 1...(thins && !isLong ? 20 : 30) {
            try chain.place.open(chain.model(), options) { fixture in
                let comment = "seed \(seed), model \(version)"
                try chain.check(fixture, comment)
                try chain.save(fixture)
                try chain.check(fixture, "\(comment), saved")
                if thins, version % 4 == 0 { try chain.thin(fixture, comment) }
                if version % 5 == 0 { try chain.checkHistory(fixture, comment) }
            }
            chain.changeModel()
        }
    }
}
