import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// Processes whose connections to the shared log are cut, slow, one-sided and doubled while they save, and which are
/// killed now and then.
///
/// `make test-shared` runs it; `STRATA_PARTITION_ROUNDS=300` makes a campaign of it.
@Suite(.enabled(if: TestLog.partitionRounds > 0, needsServer)) struct SharedPartitionTests {
    /// A process and the way from it to the server.
    private struct Site {
        let way: any BadWay
        let folder: URL
        var node: RaceNode

        init(_ number: Int, in root: URL, _ socket: String, _ lineage: String, seed: UInt64) throws {
            folder = root.appending(path: "\(number)")
            if let networks = TestLog.networks {
                way = NetworkWay(networks, number)
            } else {
                way = try TestProxy(to: socket, random: SeededGenerator(seed: seed &+ UInt64(number)))
            }
            node = try Self.start(way, folder, lineage)
        }

        mutating func restart(_ lineage: String) throws { node = try Self.start(way, folder, lineage) }

        /// The time is so short that answers which are lost leave saves in doubt.
        private static func start(_ way: any BadWay, _ folder: URL, _ lineage: String) throws -> RaceNode {
            try RaceNode(folder, way.address, lineage, timeout: .milliseconds(400), through: way.launcher)
        }
    }

    @Test func acknowledgedSavesOutlivePartitions() throws {
        let folder = try #require(TestLog.socketFolder)
        let connection = try TestLog.postgres.make()
        let address = try #require(TestLog.address)
        let lineage = try #require(connection.name.split(separator: "#").last.map(String.init))
        let root = FileManager.default.temporaryDirectory.appending(path: "strata-partition-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let seed = RandomTesting.seeds[0]
        var random = SeededGenerator(seed: seed)
        var history = SharedHistory()
        var sites = try (0..<3).map { number in
            try Site(number, in: root, folder + "/.s.PGSQL.5432", lineage, seed: seed)
        }
        defer { for site in sites { site.way.close() } }
        // Each has a store of its own before the first partition.
        Thread.sleep(forTimeInterval: 0.7)
        var counts: [Weather: Int] = [:]
        for round in 0..<TestLog.partitionRounds {
            for site in sites {
                let weather = Weather.allCases.randomElement(using: &random) ?? .fine
                site.way.weather = weather
                counts[weather, default: 0] += 1
            }
            Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.6, using: &random))
            if round % 5 == 4 {
                let number = Int.random(in: 0..<3, using: &random)
                sites[number].node.kill(number, &history)
                try sites[number].restart(lineage)
            }
            if round % 3 == 2 {
                for site in sites { site.way.weather = .fine }
                Thread.sleep(forTimeInterval: 0.15)
            }
        }
        for site in sites { site.way.weather = .fine }
        // What is late comes.
        Thread.sleep(forTimeInterval: 1)
        for (number, site) in sites.enumerated() { site.node.kill(number, &history) }
        try history.takeEnd(of: sites.map(\.folder), .postgres(address, lineage: lineage))
        #expect(history.violations == [], "STRATA_SEED=\(seed)")
        let saved = history.saves.count { $0.outcome == .acknowledged }
        #expect(saved > TestLog.partitionRounds)
        let weathers = counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        print(
            "\(TestLog.partitionRounds) rounds (\(weathers)), \(saved) acknowledged saves, "
                + "\(history.saves.count - saved) open ones, \(history.looks.count) looks")
    }
}
