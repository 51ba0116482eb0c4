import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// The beginning of a shared log that every store has is cut off, and new stores begin with a snapshot.
@Suite struct SharedCutTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "strata-cut-\(UUID().uuidString)")

    private func made(_ log: TestLog) throws -> SharedLogConnection {
        var connection = try log.make()
        connection.positionInterval = .milliseconds(5)
        return connection
    }

    private func node(_ name: String?, _ connection: SharedLogConnection) throws -> PersistentContainer {
        try RaceWorld.container(
            at: name.map { .url(root.appending(path: $0)) } ?? .inMemory, log: PersistentStoreLog(connection))
    }

    private func texts(_ container: PersistentContainer) throws -> [String] {
        try container.newBackgroundContext().fetch(FetchRequest<ManagedObject>(entityName: "Note"))
            .compactMap { try $0.value(forKey: "text") as? String }.sorted()
    }

    private func event(_ number: UInt64, _ container: PersistentContainer) throws -> EventNumber {
        try container.store.eventNumber(of: TransactionNumber(rawValue: number))
    }

    private func cut(
        _ container: PersistentContainer, through number: UInt64? = nil, isPlan: Bool = false
    ) throws -> SharedCutReport {
        let end = try number.map { try event($0, container) } ?? container.store.logPosition().eventNumber
        return try container.store.cutSharedLog(through: end, isPlan: isPlan)
    }

    /// Waits until the log knows that these have everything.
    private func settle(_ containers: [PersistentContainer], _ connection: SharedLogConnection) throws {
        let end = try containers[0].store.logPosition().transaction.rawValue
        let log = try connection.connect()
        defer { log.close() }
        let limit = ContinuousClock.now + .seconds(20)
        while try log.leases.all(startingWith: "store ").contains(where: { ($0.position ?? 0) < end }) {
            try #require(ContinuousClock.now < limit)
            for container in containers { try container.catchUp() }
            usleep(10_000)
        }
    }

    @Test(arguments: TestLog.all) func whatEveryStoreHasIsCutOff(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        let (first, second) = (try node("first", connection), try node("second", connection))
        for number in 0..<30 { try (number % 2 == 0 ? first : second).saveNote("\(number)") }
        try first.catchUp()
        try settle([first, second], connection)
        let plan = try cut(first, through: 20, isPlan: true)
        #expect(plan.cut.rawValue == 20 && plan.droppedTransactions == 20 && plan.holds.isEmpty)
        #expect(try connection.connect().readAll().count > 30)
        let report = try cut(first, through: 20)
        #expect(report.cut.rawValue == 20 && report.droppedTransactions == 20 && report.snapshotSizeInBytes > 0)
        let client = try connection.connect()
        let left = try client.read(after: TransactionNumber(rawValue: 20), limitInBytes: 1 << 20)
        #expect(left.first?.number.rawValue == 21)
        #expect(throws: SharedLogFailure.self) { try client.read(after: .zero, limitInBytes: 1) }
        #expect(try cut(first, through: 20).droppedTransactions == 0)
        // Those that were there have everything; new ones begin at the cut, on the disk and in memory.
        let (third, fourth) = (try node("third", connection), try node(nil, connection))
        #expect(try second.store.baseline() == nil)
        for container in [third, fourth] {
            #expect(try container.store.baseline()?.transaction.rawValue == 20)
            #expect(throws: StrataError.self) { try container.context(asOf: .transaction(.init(rawValue: 5))) }
            try container.saveNote("of a new one")
        }
        for container in [first, second, third, fourth] {
            try container.catchUp()
            #expect(try container.verify().isSound)
            #expect(try texts(container) == texts(first) && texts(first).count == 32)
        }
        #expect(Set(try [first, second, third, fourth].map { try $0.store.logPosition() }).count == 1)
        for container in [first, second, third, fourth] { container.close() }
        let again = try node("third", connection)
        #expect(try texts(again).count == 32)
        again.close()
    }

    @Test(arguments: TestLog.all) func theWholeLogCanBeCutOff(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        let first = try node("first", connection)
        for number in 0..<5 { try first.saveNote("\(number)") }
        let end = try first.store.logPosition().transaction
        #expect(try cut(first).cut == end)
        #expect(try connection.connect().open(founder: nil).end.transaction == end)
        try first.saveNote("next")
        let second = try node("second", connection)
        try second.saveNote("of the second")
        try first.catchUp()
        #expect(try texts(first) == texts(second) && texts(first).count == 7)
        for container in [first, second] {
            #expect(try container.verify().isSound)
            container.close()
        }
    }

    @Test(arguments: TestLog.all) func storesAndSubscriptionsThatAreBehindHoldTheLog(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        let (first, second) = (try node("first", connection), try node("second", connection))
        for number in 0..<10 { try first.saveNote("\(number)") }
        try second.catchUp()
        try settle([first, second], connection)
        let away = try second.store.logPosition().transaction
        second.close()
        for number in 10..<20 { try first.saveNote("\(number)") }
        let report = try cut(first)
        #expect(report.cut == away && report.holds.map(\.kind) == [.store])
        #expect(report.holds.first?.transaction == away)
        let back = try node("second", connection)
        #expect(try back.store.baseline() == nil && texts(back).count == 20)
        try settle([first, back], connection)
        let lease = try #require(first.store.sharedLease("subscription mails"))
        try lease.note(away.rawValue + 3)
        let held = try cut(first)
        #expect(held.cut.rawValue == away.rawValue + 3)
        #expect(held.holds.map(\.kind) == [.subscription] && held.holds.first?.name == "mails")
        // One that will not come back is named.
        back.close()
        #expect(try first.store.removeLease("subscription mails"))
        for number in 20..<25 { try first.saveNote("\(number)") }
        let waiting = try cut(first)
        let id = try #require(waiting.holds.first?.name.split(separator: " ").first)
        let end = try first.store.logPosition()
        #expect(waiting.cut < end.transaction)
        #expect(
            try first.store.cutSharedLog(through: end.eventNumber, forgetting: [String(id)]).cut == end.transaction)
        #expect(try first.store.leases(startingWith: "store ").count == 1)
        first.close()
    }

    @Test(arguments: TestLog.all) func aTagKeepsItsStateInTheSnapshot(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        let first = try node("first", connection)
        for number in 0..<3 { try first.saveNote("\(number)") }
        try first.setTag("release")
        for number in 3..<9 { try first.saveNote("\(number)") }
        #expect(try cut(first).cut == first.store.logPosition().transaction)
        let second = try node("second", connection)
        let context = try second.context(asOf: .tag("release"))
        #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 3)
        #expect(try second.verify().isSound && texts(second).count == 9)
        for container in [first, second] { container.close() }
    }

    /// Forgets stores, as the log does when they have been away for two weeks.
    private func forget(_ connection: SharedLogConnection) throws {
        let log = try connection.connect()
        defer { log.close() }
        for lease in try log.leases.all(startingWith: "store ") { _ = try log.leases.remove(lease.name) }
    }

    @Test(arguments: TestLog.all) func aStoreThatWasAwayForTooLongIsMadeAnew(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        let (first, second) = (try node("first", connection), try node("second", connection))
        for number in 0..<10 { try first.saveNote("\(number)") }
        try second.catchUp()
        second.close()
        for number in 10..<20 { try first.saveNote("\(number)") }
        try forget(connection)
        #expect(try cut(first).holds.isEmpty)
        let back = try node("second", connection)
        #expect(try texts(back) == texts(first) && back.store.baseline() != nil)
        #expect(try back.verify().isSound)
        try back.saveNote("after it came back")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: root.appending(path: "second").path(percentEncoded: false))
        #expect(names.count { $0.hasPrefix("outdated-") } == 1)
        for container in [first, back] { container.close() }
    }

    @Test func aStoreThatIsOpenAndBehindSaysSo() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let log = MemoryLog()
        let faulty = FaultyLog(log.client(), LogFaults(), seed: 1)
        let connection = SharedLogConnection(name: "memory", timeout: .milliseconds(50)) { faulty }
        let (first, second) = (try node("first", log.connection()), try node("second", connection))
        try first.saveNote("1")
        try second.catchUp()
        faulty.setCut(true)
        for number in 2..<9 { try first.saveNote("\(number)") }
        log.passTime(.seconds(15 * 24 * 3600))
        // The first one is heard of while it is cut.
        #expect(try cut(first).cut == first.store.logPosition().transaction)
        faulty.setCut(false)
        do {
            try second.catchUp()
            Issue.record("What it needs is gone.")
        } catch let error as StrataError {
            #expect(error.code == .historyDropped && error.message.contains("Open it again"))
        }
        #expect(throws: StrataError.self) { try second.saveNote("too late") }
        #expect(try texts(second) == ["1"])
        second.close()
        let back = try node("second", log.connection())
        #expect(try texts(back).count == 8)
        for container in [first, back] { container.close() }
    }

    @Test(arguments: TestLog.all) func aCutThatIsInterruptedGoesOn(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        let first = try node("first", connection)
        for number in 0..<12 { try first.saveNote("\(number)") }
        first.close()
        // The process ends before each question about upkeep in turn.
        var steps = 0
        while true {
            let faulty = Interposed(try connection.connect())
            faulty.failUpkeep(after: steps)
            let store = try node(
                "first",
                SharedLogConnection(name: "between", timeout: .milliseconds(1)) { faulty })
            let isDone = (try? cut(store)) != nil
            store.close()
            let other = try node(nil, connection)
            #expect(try texts(other).count == 12 && other.verify().isSound)
            other.close()
            if isDone { break }
            steps += 1
            try #require(steps < 30)
        }
        #expect(steps >= 5)
        let last = try node("first", connection)
        #expect(try connection.connect().read(after: last.store.logPosition().transaction, limitInBytes: 1) == [])
        #expect(try last.verify().isSound)
        last.close()
    }

    @Test(arguments: TestLog.all) func erasedValuesLeaveTheSnapshot(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        let first = try node("first", connection)
        let secret = "a secret that nobody keeps"
        let id = try first.saveNote(secret)
        for number in 0..<5 { try first.saveNote("\(number)") }
        _ = try cut(first)
        #expect(try snapshotHas(secret, connection))
        // A new store has no more of the history than the log, so it may erase.
        let second = try node("second", connection)
        let result = try second.erase([id], reason: nil)
        #expect(result.isComplete, "\(result)")
        #expect(try !snapshotHas(secret, connection))
        try first.catchUp()
        let third = try node("third", connection)
        for container in [first, second, third] {
            #expect(try texts(container) == ["0", "1", "2", "3", "4"])
            #expect(try container.verify().isSound)
            container.close()
        }
    }

    private func snapshotHas(_ text: String, _ connection: SharedLogConnection) throws -> Bool {
        let log = try connection.connect()
        defer { log.close() }
        guard let snapshot = try log.upkeep.beginning().snapshot else { return false }
        var all = Data()
        for index in 0..<snapshot.pieces { all += try log.upkeep.piece(index, of: snapshot.id) ?? Data() }
        #expect(all.count == snapshot.sizeInBytes)
        return all.firstRange(of: Data(text.utf8)) != nil
    }

    @Test(arguments: TestLog.all) func largeValuesThatOnlyTheOldHistoryNamesGo(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try made(log)
        func pictures(_ name: String) throws -> PersistentContainer {
            try PictureWorld.container(at: .url(root.appending(path: name)), log: PersistentStoreLog(connection))
        }
        let first = try pictures("first")
        let id = try PictureWorld.save("a", Data(repeating: 1, count: 50_000), first)
        for number in UInt8(2)..<6 { try PictureWorld.change(id, to: Data(repeating: number, count: 50_000), first) }
        let log = try connection.connect()
        defer { log.close() }
        #expect(try log.upkeep.blobDigests(after: nil, limit: 9).count == 5)
        let report = try cut(first, through: first.store.logPosition().transaction.rawValue - 1)
        #expect(report.removedBlobs == 3)
        #expect(try log.upkeep.blobDigests(after: nil, limit: 9).count == 2)
        let second = try pictures("second")
        let context = second.newBackgroundContext()
        let bytes = try context.existingObject(with: id).value(forKey: "bytes") as? Data
        #expect(bytes == Data(repeating: 5, count: 50_000))
        for container in [first, second] {
            #expect(try container.verify().isSound)
            container.close()
        }
    }

    @Test func aMemberOfTheAppendingRoleCannotCut() throws {
        guard let address = TestLog.address else { return }
        defer { try? FileManager.default.removeItem(at: root) }
        try PostgresSetup.makeTables(at: address, access: .roles)
        let limited = address + "&options=-c%20role%3Dstrata_append"
        let container = try node(
            "limited", PersistentStoreLog.postgres(limited, lineage: "cut \(UUID().uuidString)").connection)
        defer { container.close() }
        try container.saveNote("1")
        #expect(throws: StrataError.self) { try cut(container) }
        #expect(try container.store.cutSharedLog(through: event(1, container), isPlan: true).droppedTransactions == 1)
    }

    /// Three stores over a connection that fails, delays and doubles, one of which cuts the log again and again; new
    /// ones come meanwhile.
    @Test(arguments: TestLog.all, RandomTesting.seeds) func cutsAmongSavesLoseNothing(
        log: TestLog, seed: UInt64
    ) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        var random = SeededGenerator(seed: seed)
        let connection = try made(log)
        func faulty(_ number: UInt64) -> SharedLogConnection {
            var faulty = SharedLogConnection(name: "faulty", timeout: .seconds(120)) {
                FaultyLog(try connection.connect(), .wild, seed: seed &+ number)
            }
            faulty.positionInterval = .milliseconds(2)
            return faulty
        }
        var nodes = try (0..<3).map { try node("\($0)", faulty(UInt64($0))) }
        var expected: [String] = []
        var cuts = Set<TransactionNumber>()
        for step in 0..<90 {
            let index = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<7:
                try nodes[index].saveNote("\(step)")
                expected.append("\(step)")
            case 7:
                cuts.insert(try cut(nodes[index]).cut)
            case 8:
                nodes[index].close()
                nodes[index] = try node("\(index)", faulty(UInt64(step)))
            default:
                let fresh = try node(nil, faulty(UInt64(step)))
                #expect(try texts(fresh) == expected.sorted())
                fresh.close()
            }
        }
        #expect(cuts.count > 1)
        for container in nodes {
            try container.catchUp()
            #expect(try texts(container) == expected.sorted())
            #expect(try container.verify().isSound)
        }
        #expect(Set(try nodes.map { try $0.store.logPosition() }).count == 1)
        for container in nodes { container.close() }
    }
}
