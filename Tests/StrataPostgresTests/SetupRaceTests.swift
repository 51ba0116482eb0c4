import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import Testing

@testable import StrataPostgres

/// Several processes make the tables at once, as when a service with a shared log is first started on all machines.
@Suite(.enabled(if: TestLog.address != nil, needsServer)) struct SetupRaceTests {
    @Test(arguments: [PostgresSetup.Access.owner, .roles]) func severalMakeTheTablesAtOnce(
        access: PostgresSetup.Access
    ) async throws {
        for _ in 0..<2 {
            let database = try TestDatabase("race")
            let address = database.address
            let versions = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 {
                    group.addTask { try PostgresSetup.makeTables(at: address, access: access).before }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(versions.count { $0 == 0 } == 1)
            #expect(versions.count { $0 == Int(PostgresTables.version) } == 5)
            #expect(try PostgresSetup.logs(at: address).isEmpty)
            try database.drop()
        }
    }

    /// One that has begun and not committed; the other waits for it, and finds everything there.
    @Test func oneWaitsForAnotherThatMakesTheSchema() async throws {
        let database = try TestDatabase("race")
        let address = database.address
        let first = try database.connect()
        for statement in ["begin"] + PostgresTables.preparation {
            _ = try first.run(statement, deadline: .now + .seconds(10))
        }
        let second = BlockingWork { try PostgresSetup.makeTables(at: address).before }
        let waiting = "select count(*) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'"
        let end = ContinuousClock.now + .seconds(20)
        while try database.server.run(waiting, [.text(database.name)], deadline: end).integer(0, 0) == 0, .now < end {
            await Task.yield()
        }
        _ = try first.run("commit", deadline: .now + .seconds(10))
        #expect(try await second.value == 0)
        #expect(try PostgresSetup.makeTables(at: address).before == Int(PostgresTables.version))
        try database.drop()
    }

    @Test func aLogIsNamedInOneText() throws {
        #expect(
            try PersistentStoreLog(postgres: "postgresql://ann:secret@db/shop?x=1#movies").description
                == "postgresql://db/shop#movies")
        for text in ["", "#movies", "postgresql://ann:secret@db/shop", "postgresql://ann:secret@db/shop#"] {
            do {
                _ = try PersistentStoreLog(postgres: text)
                Issue.record("\(text) names no log.")
            } catch {
                #expect(error.code == .invalidRequest && !"\(error)".contains("secret"))
            }
        }
    }
}
