import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// Processes with a shared log that are killed amid their saves, and a server that is.
///
/// Other tests of the same server would lose their answers, so `make test-shared` runs this one by itself.
/// `STRATA_KILL_ROUNDS=300` makes a campaign of it.
@Suite(.enabled(if: TestLog.killRounds > 0, needsServer)) struct SharedKillTests {

    private func restartServer() throws {
        guard let program = ProcessInfo.processInfo.environment["STRATA_POSTGRES_RESTART"] else { return }
        let process = try Process.run(URL(filePath: program), arguments: [])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func acknowledgedSavesOutliveKillsOfNodesAndServer() throws {
        let address = try #require(TestLog.address)
        let connection = try TestLog.postgres.make()
        let lineage = try #require(connection.name.split(separator: "#").last.map(String.init))
        let root = FileManager.default.temporaryDirectory.appending(path: "strata-kill-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        var random = SeededGenerator(seed: RandomTesting.seeds[0])
        var history = SharedHistory()
        for round in 0..<TestLog.killRounds {
            let nodes = try (0..<3).map { try RaceNode(root.appending(path: "\($0)"), address, lineage) }
            Thread.sleep(forTimeInterval: Double.random(in: 0.3...0.9, using: &random))
            if round % 3 == 2 {
                try restartServer()
                Thread.sleep(forTimeInterval: Double.random(in: 0.1...0.6, using: &random))
            }
            for (number, node) in nodes.enumerated() { node.kill(number, &history) }
        }
        try history.takeEnd(of: (0..<3).map { root.appending(path: "\($0)") }, .postgres(address, lineage: lineage))
        #expect(history.violations == [])
        let saved = history.saves.count { $0.outcome == .acknowledged }
        #expect(saved > 10 * TestLog.killRounds)
        print("\(TestLog.killRounds) rounds, \(saved) acknowledged saves, \(history.saves.count - saved) open ones")
    }
}
