import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// What is PostgreSQL's own: processes, roles, versions, errors.
@Suite(.enabled(if: TestLog.address != nil, needsServer)) struct PostgresTests {
    private func folder() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "strata-postgres-\(UUID().uuidString)")
    }

    @Test func processesOnSeveralStoresShareOneLog() throws {
        let address = try #require(TestLog.address)
        _ = try TestLog.postgres.make()
        let (root, lineage) = (folder(), "processes \(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let container = try RaceWorld.container(
            at: .url(root.appending(path: "0")), log: .postgres(address, lineage: lineage))
        defer { container.close() }
        try RaceWorld.fill(container)
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "race-child")
        let running = try (1...3).map { seed in
            let process = Process()
            process.executableURL = program
            process.arguments = [
                root.appending(path: "\(seed)").path(percentEncoded: false), "\(seed)", "60", address, lineage,
            ]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            return (process, output)
        }
        var mine = RaceWorker(container, seed: 99, name: "this process")
        for _ in 0..<60 { try mine.step() }
        let reports = try running.map { process, output in
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return try JSONDecoder().decode(RaceReport.self, from: data)
        }
        try container.catchUp()
        #expect(try RaceCheck.problems(container, reports + [mine.report]) == [])
        #expect(reports.allSatisfy { $0.transfers > 0 })
        #expect(try container.verify().isSound)
    }

    @Test func theTablesAreMadeOnce() throws {
        let address = try #require(TestLog.address)
        _ = try TestLog.postgres.make()
        let again = try PostgresSetup.makeTables(at: address, access: .roles)
        #expect(again.before == again.now)
        #expect(try PostgresSetup.logs(at: address).allSatisfy { !$0.lineage.isEmpty })
    }

    @Test func aMemberOfTheAppendingRoleAppendsAndChangesNothingElse() throws {
        let address = try #require(TestLog.address)
        try PostgresSetup.makeTables(at: address, access: .roles)
        let lineage = "roles \(UUID().uuidString)"
        let limited = address + "&options=-c%20role%3Dstrata_append"
        let container = try RaceWorld.container(at: .inMemory, log: .postgres(limited, lineage: lineage))
        defer { container.close() }
        try RaceWorld.fill(container)
        #expect(try container.sharedLogState()?.isReachable == true)
        #expect(throws: StrataError.self) { try PostgresSetup.makeTables(at: limited) }
    }

    @Test func aServerThatIsNotThereIsNamedWithoutThePassword() throws {
        let address = "postgresql://ann:secret@127.0.0.1:1/shop"
        do {
            try RaceWorld.container(
                at: .inMemory, log: .postgres(address, lineage: "x", timeout: .milliseconds(100))
            ).close()
            Issue.record("There is no server.")
        } catch let error as StrataError {
            #expect(error.code == .logUnavailable)
            #expect("\(error)".contains("127.0.0.1:1/shop#x") && !"\(error)".contains("secret"))
        }
    }

    @Test func aStoreBecomesTheFirstOfASharedLog() throws {
        let address = try #require(TestLog.address)
        _ = try TestLog.postgres.make()
        let (root, lineage) = (folder(), "filled \(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let log = PersistentStoreLog.postgres(address, lineage: lineage)
        let alone = try RaceWorld.container(at: .url(root))
        try RaceWorld.fill(alone)
        let end = try alone.store.fill(log.connection)
        #expect(try alone.store.fill(log.connection) == end)
        alone.close()
        let (first, second) = (
            try RaceWorld.container(at: .url(root), log: log), try RaceWorld.container(at: .inMemory, log: log)
        )
        defer {
            first.close()
            second.close()
        }
        #expect(try first.store.logPosition() == second.store.logPosition())
        let ids = try [first, second].map { container in
            try container.newBackgroundContext().insertNewObject(forEntityName: "Note").objectID
        }
        #expect(ids[0] != ids[1])
    }
}
