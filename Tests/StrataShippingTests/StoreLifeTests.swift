import StrataTestSupport
import Testing

/// Saves, reverts, restores, trims, thinnings, erasures, tags, migrations, exchanged files, shipping, restored stores,
/// standbys, moments from the target, kills, rotations of keys and rebuilds of one store, in any order.
@Suite struct StoreLifeTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: [1, 2, 3, 4]))
    func whateverHappensToAStoreItsMomentsStay(seed: UInt64) throws {
        let life = try StoreLife(seed: seed)
        for number in 1...40 {
            try life.step()
            if number % 8 == 0 { try life.checkHistory() }
        }
        try life.checkHistory()
    }
}
