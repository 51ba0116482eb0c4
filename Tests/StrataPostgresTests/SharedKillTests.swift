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

    /// One process, and what it has said so far.
    private struct Node {
        let process: Process
        let output: Pipe

        init(_ folder: URL, _ address: String, _ lineage: String) throws {
            process = Process()
            process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "race-child")
            process.arguments = [folder.path(percentEncoded: false), "0", "100000", address, lineage]
            output = Pipe()
            process.standardOutput = output
            try process.run()
        }

        /// Kills the process, and tells what it has begun and saved.
        func kill() -> (begun: [String], saved: [String]) {
            Foundation.kill(process.processIdentifier, SIGKILL)
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            func authors(_ word: String) -> [String] {
                lines.filter { $0.count == 2 && $0[0] == word }.map { $0[1] }
            }
            return (authors("begin"), authors("saved"))
        }
    }

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
            let nodes = try (0..<3).map { try Node(root.appending(path: "\($0)"), address, lineage) }
            Thread.sleep(forTimeInterval: Double.random(in: 0.3...0.9, using: &random))
            if round % 3 == 2 {
                try restartServer()
                Thread.sleep(forTimeInterval: Double.random(in: 0.1...0.6, using: &random))
            }
            for (number, node) in nodes.enumerated() {
                let (begun, saved) = node.kill()
                let known = Set(saved)
                for author in begun {
                    history.saves.append(
                        .init(
                            author: author, node: number, begin: .now, end: .now,
                            outcome: known.contains(author) ? .acknowledged : .unknown))
                }
            }
        }
        let log = PersistentStoreLog.postgres(address, lineage: lineage)
        let stores = try (0..<3).map { try RaceWorld.container(at: .url(root.appending(path: "\($0)")), log: log) }
        defer { for store in stores { store.close() } }
        for store in stores {
            try store.catchUp()
            #expect(try store.verify().isSound)
        }
        try history.take(try log.connection.connect().readAll())
        history.ends = try stores.map { try $0.store.logPosition().digest }
        history.views = try stores.map { "\(try RaceWorld.state($0.newBackgroundContext()))" }
        // The times were taken after the kills, so they say nothing about the order.
        let violations = history.violations.filter { if case .againstTime = $0 { false } else { true } }
        #expect(violations == [])
        let saved = history.saves.count { $0.outcome == .acknowledged }
        #expect(saved > 10 * TestLog.killRounds)
        print("\(TestLog.killRounds) rounds, \(saved) acknowledged saves, \(history.saves.count - saved) open ones")
    }
}
