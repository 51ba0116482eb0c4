import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

@testable import StrataPostgres

/// Tables of version 3, made by an earlier version of Strata and in use, are brought up to date.
@Suite(.enabled(if: TestLog.address != nil, needsServer)) struct SharedUpgradeTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "strata-upgrade-\(UUID().uuidString)")

    /// A log, and a store that has the first of its transactions.
    private struct Past {
        let identity: SharedLogIdentity
        let transactions: [SharedTransaction]
        /// How many the store has.
        let known: Int

        /// - Parameter folder: the directory of the store.
        init(_ folder: URL) throws {
            let log = MemoryLog()
            let node = try RaceWorld.container(at: .url(folder), log: PersistentStoreLog(log.connection()))
            try RaceWorld.fill(node)
            for number in 0..<20 { try node.saveNote("first \(number)", author: "first \(number)") }
            node.close()
            known = log.transactions.count
            let later = try RaceWorld.container(at: .inMemory, log: PersistentStoreLog(log.connection()))
            for number in 0..<300 { try later.saveNote("later \(number)", author: "later \(number)") }
            later.close()
            transactions = log.transactions
            identity = try log.client().open(founder: nil).identity
        }
    }

    /// A database with tables of version 3, and roles.
    private func database() throws -> TestDatabase {
        try PostgresSetup.makeTables(at: try #require(TestLog.address), access: .roles)
        let database = try TestDatabase("upgrade")
        try database.makeTables(ofVersion: 3)
        return database
    }

    private func node(_ location: PersistentStoreLocation, _ address: String) throws -> PersistentContainer {
        try RaceWorld.container(at: location, log: .postgres(address, lineage: "notes", timeout: .seconds(10)))
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do { try body() } catch let error as StrataError {
            return error.code == .logUnavailable ? error.message : "\(error)"
        } catch {
            return "\(error)"
        }
        return ""
    }

    @Test func tablesInUseAreBroughtUpToDate() throws {
        let begin = ContinuousClock.now
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = root.appending(path: "node")
        let past = try Past(folder)
        let database = try database()
        let address = database.address
        let older = try OlderClient(database, lineage: "notes")
        try older.begin(past.identity)
        for (number, transaction) in past.transactions.prefix(past.known).enumerated() {
            let end = number == 0 ? SharedLogEnd.start : past.transactions[number - 1].end
            #expect(try older.append(transaction, after: end) == 0)
        }
        // As the stores did that made these transactions.
        try older.leaseRows(1 << 22)
        let (large, holder) = (Data(repeating: 7, count: 70_000), UUID())
        let digest = Data(repeating: 9, count: 32)
        try older.put(large, digest: digest)
        try older.takeLease("subscription mailer", for: holder, noting: 12)
        // A store of today says what is to be done.
        let early = refusal { try node(.inMemory, address).close() }
        #expect(early.contains("version 3") && early.contains("'strata shared init'"), "\(early)")

        // A store of today waits for the tables, reads and saves, while an older one saves until it is refused.
        let (appended, reason) = (Locked(0), Locked<String?>(nil))
        Thread {
            do {
                var number = past.known
                while true {
                    let end = past.transactions[number - 1].end
                    let outcome = try older.append(past.transactions[number], after: end)
                    guard outcome == 0 || outcome == 1 else { continue }
                    appended.withLock { $0 = max($0, number - past.known + 1) }
                    // It appends the last one again, which is no other append.
                    number = min(number + 1, past.transactions.count - 1)
                    usleep(500)
                }
            } catch {
                reason.withLock { $0 = "\(error)" }
            }
        }.start()
        let newer = StoreOfToday(folder, address)
        newer.start()
        try wait { appended.withLock { $0 } >= 10 }
        let made = try PostgresSetup.makeTables(at: address)
        #expect(made.before == 3 && made.now == Int(PostgresTables.version))
        try wait { newer.failure != nil || newer.authors.count >= 20 && reason.withLock { $0 != nil } }
        // Again, while it saves.
        for access in [PostgresSetup.Access.owner, .roles] {
            #expect(try PostgresSetup.makeTables(at: address, access: access).before == made.now)
        }
        newer.stop()
        #expect(try #require(reason.withLock { $0 }).contains("older version of Strata: update it"))

        // Everything that was acknowledged is there once, in order, and everyone has it.
        let log = try PersistentStoreLog.postgres(address, lineage: "notes").connection.connect()
        defer { log.close() }
        var history = SharedHistory()
        let authors =
            (0..<20).map { "first \($0)" } + (0..<appended.withLock { $0 }).map { "later \($0)" } + newer.authors
        history.saves = authors.map {
            .init(author: $0, node: 0, begin: begin, end: .now, outcome: .acknowledged)
        }
        let all = try log.readAll()
        try history.take(all)
        let (back, fresh) = (try node(.url(folder), address), try node(.inMemory, address))
        history.ends = try [back, fresh].map { try $0.store.logPosition().digest }
        history.views = try [back, fresh].map { "\(try RaceWorld.state($0.newBackgroundContext()))" }
        #expect(history.violations.isEmpty, "\(history.violations)")
        #expect(try back.verify().isSound && fresh.verify().isSound)
        #expect(try older.readAll() == all.map(\.number.rawValue))
        for container in [back, fresh] { container.close() }

        // What else was there stays, and rights are as before.
        #expect(try log.blob(digest: digest) == large)
        let lease = try #require(try log.leases.all(startingWith: "subscription").first)
        #expect(lease.holder == holder && lease.position == 12)
        try checkRights(address)
        try database.drop()
    }

    /// A member of the appending role appends and reads, and cuts nothing.
    private func checkRights(_ address: String) throws {
        let limited = try node(.inMemory, address + "&options=-c%20role%3Dstrata_append")
        defer { limited.close() }
        try limited.saveNote("by a member")
        #expect(throws: StrataError.self) {
            try limited.store.cutSharedLog(through: limited.store.logPosition().eventNumber)
        }
    }

    private func wait(until isSo: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while !isSo() {
            try #require(ContinuousClock.now < end)
            usleep(1_000)
        }
    }

    /// A backup reads the tables for a long time. Saves go on meanwhile, and the tables are brought up to date when it
    /// has ended.
    @Test func anUpgradeThatWaitsLetsSavesThrough() async throws {
        let past = try Past(root.appending(path: "node"))
        defer { try? FileManager.default.removeItem(at: root) }
        let database = try database()
        let address = database.address
        let older = try OlderClient(database, lineage: "notes")
        try older.begin(past.identity)
        let backup = try database.connect()
        for statement in ["begin", "select count(*) from strata.logs"] {
            _ = try backup.run(statement, deadline: .now + .seconds(10))
        }
        let upgrade = BlockingWork { try PostgresSetup.makeTables(at: address).before }
        let waiting = "select count(*) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'"
        var (end, rounds) = (SharedLogEnd.start, 0)
        for transaction in past.transactions.prefix(6) {
            // The first of them comes while the upgrade waits.
            let limit = ContinuousClock.now + .seconds(20)
            while rounds == 0, .now < limit,
                try database.server.run(waiting, [.text(database.name)], deadline: limit).integer(0, 0) == 0
            {
                await Task.yield()
            }
            rounds += 1
            #expect(try older.append(transaction, after: end) == 0)
            end = transaction.end
        }
        _ = try backup.run("commit", deadline: .now + .seconds(10))
        #expect(try await upgrade.value == 3)
        let node = try node(.inMemory, address)
        #expect(try node.store.logPosition().transaction == end.transaction)
        node.close()
        try database.drop()
    }

    @Test func aStoreThatIsOlderThanTheTablesIsToldSo() throws {
        let database = try TestDatabase("newer")
        try PostgresSetup.makeTables(at: database.address)
        let node = try node(.inMemory, database.address)
        defer { node.close() }
        try node.saveNote("before")
        // A later version has another function to append.
        let connection = try database.connect()
        for statement in [
            "insert into strata.versions(version) values (\(PostgresTables.version + 1))",
            "alter function strata.append(text, bigint, bytea, uuid[], bigint[], bigint[], bytea[], bytea[], bytea[]) "
                + "rename to append_more",
        ] { _ = try connection.run(statement, deadline: .now + .seconds(10)) }
        let late = refusal { try node.saveNote("after") }
        #expect(late.contains("Use a newer version of Strata"), "\(late)")
        #expect(refusal { try self.node(.inMemory, database.address).close() }.contains("Use a newer version"))
        #expect(throws: StrataError.self) { try PostgresSetup.makeTables(at: database.address) }
        let notes = FetchRequest<ManagedObject>(entityName: "Note")
        #expect(try node.newBackgroundContext().count(for: notes) == 1)
        try database.drop()
    }
}

/// A store of today that opens its log when it can, and saves until it is stopped. `state` guards the variables.
private final class StoreOfToday: Sendable {
    private struct State {
        var authors: [String] = []
        var failure: String?
        var isStopped = false
        var hasEnded = false
    }

    private let folder: URL
    private let address: String
    private let state = Locked(State())

    init(_ folder: URL, _ address: String) {
        self.folder = folder
        self.address = address
    }

    /// Of the saves that have returned.
    var authors: [String] { state.withLock { $0.authors } }
    var failure: String? { state.withLock { $0.failure } }

    func start() { Thread { self.run() }.start() }

    private func run() {
        do {
            let container = try opened()
            defer { container.close() }
            while !state.withLock({ $0.isStopped }) {
                let saved = authors.count
                let author = "newer \(saved)"
                try container.saveNote(author, author: author)
                let notes = FetchRequest<ManagedObject>(entityName: "Note")
                guard try container.newBackgroundContext().count(for: notes) > saved else {
                    throw StrataError(.corrupt, "An own save is not there.")
                }
                state.withLock { $0.authors.append(author) }
            }
        } catch {
            state.withLock { $0.failure = "\(error)" }
        }
        state.withLock { $0.hasEnded = true }
    }

    /// Only tables of an older version keep it from opening.
    private func opened() throws -> PersistentContainer {
        while true {
            do {
                return try RaceWorld.container(
                    at: .url(folder), log: .postgres(address, lineage: "notes", timeout: .seconds(10)))
            } catch let error as StrataError where error.message.contains("strata shared init") {
                usleep(5_000)
            }
        }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        let end = ContinuousClock.now + .seconds(20)
        while !state.withLock({ $0.hasEnded }), .now < end { usleep(1_000) }
        #expect(failure == nil)
    }
}
