import Foundation
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataPostgres

/// Servers and what is between end connections on which nothing was said for a while. Nobody notices.
@Suite(.enabled(if: TestLog.address != nil, needsServer)) struct IdleConnectionTests {
    /// A client whose connections have a name of their own, and what asks the server about them.
    private func client(_ settings: String = "") throws -> (client: any SharedLog, name: String, server: PostgresLog) {
        let address = try #require(TestLog.address)
        _ = try TestLog.postgres.make()
        let name = "idle-\(UUID().uuidString.prefix(8))"
        let client = PostgresLog(
            "\(address)&application_name=\(name)\(settings)", lineage: name, timeout: .seconds(10))
        return (client, name, PostgresLog(address, lineage: "none", timeout: .seconds(10)))
    }

    private func end(_ name: String, _ server: PostgresLog) throws {
        let sql = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = $1"
        _ = try server.ask(sql, [.text(name)])
    }

    private func waitUntilEnded(_ name: String, _ server: PostgresLog) throws {
        let sql = "select count(*) from pg_stat_activity where application_name = $1"
        let end = ContinuousClock.now + .seconds(20)
        while try server.ask(sql, [.text(name)]).integer(0, 0) != 0 {
            try #require(ContinuousClock.now < end)
            usleep(5_000)
        }
    }

    private func transaction(after end: SharedLogEnd) -> SharedTransaction {
        SharedTransaction(
            number: TransactionNumber(rawValue: end.transaction.rawValue + 1), id: UUID(),
            firstEvent: end.event.advanced(by: 1), eventCount: 2,
            digest: (0..<32).map { _ in UInt8.random(in: 0...255) }, bytes: Data([1, 2, 3]))
    }

    /// Does everything that a store asks for, each after the connection was ended.
    private func use(_ client: any SharedLog, afterEach ended: () throws -> Void) throws {
        _ = try client.open(
            founder: SharedLogIdentity(identifier: UUID(), lineage: UUID(), createdMicroseconds: 1))
        var made: [SharedTransaction] = []
        for _ in 0..<3 {
            try ended()
            let next = transaction(after: made.last?.end ?? .start)
            #expect(try client.append([next], after: made.last?.end ?? .start) == .appended)
            made.append(next)
        }
        try ended()
        #expect(try client.read(after: .zero, limitInBytes: 1 << 20) == made)
        try ended()
        #expect(try client.leaseRows(3).count == 3)
        #expect(try client.wait(after: .zero, timeout: .seconds(5)) == made[2].number)
        try ended()
        #expect(try client.wait(after: made[1].number, timeout: .seconds(5)) == made[2].number)
        try ended()
        let lease = try client.leases.take("work", for: UUID(), during: .seconds(5))
        #expect(lease.fence == 1)
    }

    @Test func aConnectionThatWasEndedIsMadeAgain() throws {
        let (client, name, server) = try client()
        defer { client.close() }
        try use(client) {
            try end(name, server)
            try waitUntilEnded(name, server)
        }
    }

    @Test func aConnectionThatTheServerFindsIdleIsMadeAgain() throws {
        // In milliseconds: long enough for a question to follow the connection on a busy machine.
        let (client, name, server) = try client("&options=-c%20idle_session_timeout%3D500")
        defer { client.close() }
        try use(client) { try waitUntilEnded(name, server) }
    }
}
