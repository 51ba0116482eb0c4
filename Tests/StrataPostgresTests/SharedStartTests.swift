import Foundation
import StrataGraph
import StrataModel
import StrataShipping
import StrataStore
import StrataTestSupport
import Testing

/// What a store can begin with instead of nothing, and stores that were away.
@Suite struct SharedStartTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "strata-start-\(UUID().uuidString)")

    private func node(_ name: String, _ connection: SharedLogConnection) throws -> PersistentContainer {
        try RaceWorld.container(at: .url(root.appending(path: name)), log: PersistentStoreLog(connection))
    }

    private func noteCount(_ container: PersistentContainer) throws -> Int {
        try container.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    }

    private enum Beginning: CaseIterable {
        case backup, shipment
    }

    @Test(arguments: TestLog.all) func aStoreBeginsWithACopyOfAnother(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        for beginning in Beginning.allCases {
            let connection = try log.make()
            let first = try node("first \(beginning)", connection)
            try RaceWorld.fill(first)
            for number in 0..<30 { try first.saveNote("\(number)") }
            let copy = root.appending(path: "copy \(beginning)")
            switch beginning {
            case .backup: try first.backup(to: copy)
            case .shipment:
                let target = DirectoryTarget(root.appending(path: "target"))
                _ = try LogShipper(first.store, target).ship()
                #expect(try TargetRestore(target).run(to: copy, .now).verification.isSound)
            }
            for number in 30..<60 { try first.saveNote("\(number)") }
            let second = try node("copy \(beginning)", connection)
            #expect(try noteCount(second) == 60)
            try second.saveNote("of the copy")
            try first.catchUp()
            // A restored store has a lineage of its own as the source of shipments, but the same log.
            let ends = try [first, second].map { try $0.store.logPosition() }
            #expect(ends[0].transaction == ends[1].transaction && ends[0].digest == ends[1].digest)
            #expect(try noteCount(first) == 61)
            #expect(try second.verify().isSound)
            // The log waits for both, which have ids of their own.
            let client = try connection.connect()
            let end = ContinuousClock.now + .seconds(20)
            while try Set(client.leases.all(startingWith: "store ").map(\.holder)).count != 2 {
                try #require(ContinuousClock.now < end)
                usleep(5_000)
            }
            client.close()
            for container in [first, second] { container.close() }
        }
    }

    /// Its reads are of states that it receives meanwhile, one after the other.
    @Test func aStoreThatWasAwayReadsWhileItCatchesUp() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let log = MemoryLog()
        let faulty = FaultyLog(log.client(), LogFaults(), seed: 1)
        let first = try node("first", log.connection())
        let second = try node("second", SharedLogConnection(name: "away", timeout: .milliseconds(50)) { faulty })
        try first.saveNote("before")
        try second.catchUp()
        faulty.setCut(true)
        let text = String(repeating: "much ", count: 100_000)
        for number in 0..<90 { try first.saveNote("\(number) \(text)") }
        #expect(try noteCount(second) == 1)
        faulty.setCut(false)
        var counts: [Int] = [1]
        let end = ContinuousClock.now + .seconds(60)
        while counts.last != 91 {
            try #require(ContinuousClock.now < end)
            let (before, count) = (try second.token().transaction, try noteCount(second))
            // A transaction for the model, and one for each note.
            #expect(Int(before.rawValue) - 1 <= count && count >= counts.last ?? 0)
            if count != counts.last { counts.append(count) }
            usleep(500)
        }
        // The log is read some megabytes at a time.
        #expect(counts.count > 2, "\(counts)")
        #expect(try second.sharedLogState()?.isReachable == true && second.verify().isSound)
        for container in [first, second] { container.close() }
    }

    /// It opens at the state that it had, and receives the rest when it gets to it.
    @Test(arguments: TestLog.all) func aStoreOpensAtOnceAndCatchesUp(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        let (first, away) = (try node("first", connection), try node("away", connection))
        try first.saveNote("before")
        try away.catchUp()
        away.close()
        for number in 0..<30 { try first.saveNote("\(number)") }
        // It receives nothing by itself.
        var asleep = connection
        asleep.connect = { Asleep(try connection.connect()) }
        func open(_ name: String, _ connection: SharedLogConnection) throws -> PersistentContainer {
            try RaceWorld.container(
                at: .url(root.appending(path: name)), log: PersistentStoreLog(connection).catchingUpAfterOpening())
        }
        var back = try open("away", asleep)
        #expect(try noteCount(back) == 1)
        #expect(try back.sharedLogState().map { $0.end > $0.transaction && $0.isReachable } == true)
        // A save is checked at the end of the log, and so brings everything before it.
        try back.saveNote("after it came back")
        try first.catchUp()
        #expect(try noteCount(back) == 32 && back.store.logPosition() == first.store.logPosition())
        back.close()
        try first.saveNote("later")
        back = try open("away", connection)
        try back.wait(for: first.token())
        #expect(try noteCount(back) == 33 && back.verify().isSound)
        // A new one has everything.
        let fresh = try open("fresh", asleep)
        #expect(try noteCount(fresh) == 33)
        for container in [first, back, fresh] { container.close() }
    }

    @Test func aStoreThatOpensAtOnceIsRefusedByALogThatDoesNotContinueIt() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let log = MemoryLog()
        let first = try node("first", log.connection())
        for number in 0..<5 { try first.saveNote("\(number)") }
        first.close()
        log.forget(2)
        let error = #expect(throws: StrataError.self) {
            try RaceWorld.container(
                at: .url(root.appending(path: "first")),
                log: PersistentStoreLog(log.connection()).catchingUpAfterOpening()
            ).close()
        }
        #expect(error?.code == .divergedLog)
    }
}
