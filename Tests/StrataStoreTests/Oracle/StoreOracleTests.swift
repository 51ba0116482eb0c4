import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@Suite struct StoreOracleTests {
    @Test(arguments: RandomTesting.seeds)
    func everyMomentEqualsTheOracle(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<120 { try oracle.step() }
        for (eventNumber, expected) in oracle.history {
            #expect(try oracle.read(at: eventNumber) == expected, "seed \(seed), sequence \(eventNumber)")
        }
    }

    /// Chunks of lag layers stack up when a reader stays behind while the head moves on.
    @Test(arguments: RandomTesting.seeds.prefix(4))
    func aReaderThatStaysBehindSeesItsMomentAfterEverySave(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<30 { try oracle.step() }
        let (eventNumber, expected) = oracle.history[oracle.history.count / 2]
        for _ in 0..<40 {
            try oracle.step()
            #expect(try oracle.read(at: eventNumber) == expected, "seed \(seed), sequence \(eventNumber)")
        }
    }
}
