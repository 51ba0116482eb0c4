import Foundation
import StrataGraph
import StrataModel
import StrataTestSupport
import Synchronization
import Testing

/// Several contexts at once: every read is what the log says of its moment (repeatable, never half a transaction), and
/// no update is lost.
@Suite(.verifiesStores) struct RaceTests {
    private func makeStore(at location: PersistentStoreLocation = .inMemory) throws -> PersistentContainer {
        let container = try RaceWorld.container(at: location)
        MadeStores.current?.add(container)
        try RaceWorld.fill(container)
        return container
    }

    /// The seed alone says who goes when.
    @Test(arguments: RandomTesting.seeds)
    func contextsThatTakeTurns(seed: UInt64) throws {
        let container = try makeStore()
        var random = SeededGenerator(seed: seed)
        var workers = (0..<4).map { RaceWorker(container, seed: seed &* 10 &+ UInt64($0), name: "context \($0)") }
        for _ in 0..<200 { try workers[Int.random(in: 0..<4, using: &random)].step() }
        #expect(try RaceCheck.problems(container, workers.map(\.report)) == [])
        #expect(workers.contains { $0.report.refusals > 0 })
    }

    @Test(arguments: RandomTesting.seeds)
    func threads(seed: UInt64) async throws {
        let container = try makeStore()
        let reports = try await withThrowingTaskGroup(of: RaceReport.self) { group in
            for number in 0..<6 {
                group.addTask {
                    try await container.performBackgroundTask { _ in
                        var worker = RaceWorker(
                            container, seed: seed &* 100 &+ UInt64(number), name: "thread \(number)")
                        for _ in 0..<60 { try worker.step() }
                        return worker.report
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.count == 6)
        let problems = try RaceCheck.problems(container, reports)
        #expect(problems == [])
    }

    @Test func processes() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "strata-race-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let container = try makeStore(at: .url(directory))
        defer { container.close() }
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "race-child")
        let running = try (1...3).map { seed in
            let process = Process()
            process.executableURL = program
            process.arguments = [directory.path(percentEncoded: false), "\(seed)", "80"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            return (process, output)
        }
        var mine = RaceWorker(container, seed: 99, name: "this process")
        for _ in 0..<80 { try mine.step() }
        let reports = try running.map { process, output in
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return try JSONDecoder().decode(RaceReport.self, from: data)
        }
        #expect(try RaceCheck.problems(container, reports + [mine.report]) == [])
        #expect(reports.allSatisfy { $0.transfers > 0 })
        #expect(try container.verify().isSound)
    }
}
