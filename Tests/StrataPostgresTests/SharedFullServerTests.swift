import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// A server whose disk is full. `make test-shared` gives it a small one of its own, with a file that can be deleted.
@Suite(.enabled(if: TestLog.ballast != nil, "make test-shared gives the server a small disk."))
struct SharedFullServerTests {
    private func restartServer() throws {
        let program = try #require(ProcessInfo.processInfo.environment["STRATA_POSTGRES_RESTART"])
        let process = try Process.run(URL(filePath: program), arguments: [])
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    /// As an app does: the first answer may be that the connection has ended.
    private func again(_ work: () throws -> Void) throws {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            do { return try work() } catch let error as StrataError
                where [.logUnavailable, .inDoubt].contains(error.code) && .now < end
            { Thread.sleep(forTimeInterval: 0.05) }
        }
    }

    @Test func aFullDiskOfTheServerLosesAndDoublesNothing() throws {
        let address = try #require(TestLog.address)
        try PostgresSetup.makeTables(at: address)
        let log = PersistentStoreLog.postgres(address, lineage: "full", timeout: .milliseconds(500))
        let (first, second) = (
            try RaceWorld.container(at: .inMemory, log: log), try RaceWorld.container(at: .inMemory, log: log)
        )
        defer {
            first.close()
            second.close()
        }
        var history = SharedHistory()
        var failed: [(context: ManagedObjectContext, place: Int)] = []
        var codes: Set<StrataError.Code> = []
        for number in 0..<4_000 where failed.count < 5 {
            let context = first.newBackgroundContext()
            context.transactionAuthor = "save \(number)"
            try context.insertNewObject(forEntityName: "Note").setValue(
                "\(number) " + String(repeating: "much ", count: 10_000), forKey: "text")
            let begin = ContinuousClock.now
            history.saves.append(
                .init(author: "save \(number)", node: 0, begin: begin, end: begin, outcome: .acknowledged))
            do {
                try context.save()
                history.saves[number].end = .now
            } catch let error as StrataError {
                codes.insert(error.code)
                failed.append((context, number))
                // Reads go on.
                let all = FetchRequest<ManagedObject>(entityName: "Note")
                #expect(try first.newBackgroundContext().count(for: all) <= number)
            }
        }
        #expect(failed.count == 5 && codes.isSubset(of: [.logUnavailable, .inDoubt]), "\(codes)")
        try FileManager.default.removeItem(atPath: try #require(TestLog.ballast))
        // It ends by itself where it cannot write its own log.
        try restartServer()
        for (context, place) in failed {
            #expect(context.hasChanges)
            try again { try context.save() }
            history.saves[place].end = .now
        }
        for container in [first, second] { try again { try container.catchUp() } }
        try history.take(try log.connection.connect().readAll())
        history.ends = try [first, second].map { try $0.store.logPosition().digest }
        history.views = try [first, second].map { "\(try RaceWorld.state($0.newBackgroundContext()))" }
        #expect(history.violations == [])
        #expect(try first.verify().isSound && second.verify().isSound)
        print("\(history.saves.count) saves, of which \(failed.count) met a full disk: \(codes)")
    }
}
