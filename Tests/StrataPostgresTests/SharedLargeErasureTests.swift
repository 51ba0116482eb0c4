import Foundation
import StrataGraph
import StrataModel
import StrataPostgres
import StrataStore
import StrataTestSupport
import Testing

/// Large values that are erased in one store leave the shared log and the files of every other store.
@Suite struct SharedLargeErasureTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "strata-large-\(UUID().uuidString)")
    private let mark = "a face that nobody keeps"

    private func node(_ name: String, _ connection: SharedLogConnection) throws -> PersistentContainer {
        try PictureWorld.container(at: .url(root.appending(path: name)), log: PersistentStoreLog(connection))
    }

    /// 40 KB with the mark in the middle.
    private func face(_ number: UInt8 = 0) -> Data {
        Data(repeating: number, count: 20_000) + Data(mark.utf8) + Data(repeating: 1, count: 20_000)
    }

    /// How many files of a store have the mark, its damaged copies too.
    private func files(with mark: String, in name: String) throws -> Int {
        let folder = root.appending(path: name)
        let paths = FileManager.default.enumerator(atPath: folder.path(percentEncoded: false))
        return (paths?.allObjects as? [String] ?? []).count { path in
            let url = folder.appending(path: path)
            let data = FileManager.default.contents(atPath: url.path(percentEncoded: false)) ?? Data()
            return data.firstRange(of: Data(mark.utf8)) != nil
        }
    }

    /// The large values of the log that have the mark.
    private func values(with mark: String, _ connection: SharedLogConnection) throws -> Int {
        let log = try connection.connect()
        defer { log.close() }
        return try log.upkeep.blobDigests(after: nil, limit: 1_000).count { digest in
            try log.blob(digest: digest)?.firstRange(of: Data(mark.utf8)) != nil
        }
    }

    /// Finishes what is left, which the thread that receives may do at the same time, or put off while it reads old pages.
    private func finishErasures(_ container: PersistentContainer) throws {
        let end = ContinuousClock.now + .seconds(30)
        while let rest = try container.finishErasures(), !rest.isComplete, .now < end { usleep(10_000) }
        #expect(try container.finishErasures() == nil)
    }

    private func names(_ container: PersistentContainer) throws -> [String] {
        let context = container.newBackgroundContext()
        defer { withExtendedLifetime(context) {} }
        return try PictureWorld.pictures(context).map { picture in
            let bytes = try picture.value(forKey: "bytes") as? Data
            return "\(try picture.value(forKey: "name") as? String ?? "") \(bytes?.count ?? 0)"
        }.sorted()
    }

    @Test(arguments: TestLog.all) func aLargeValueLeavesTheLogAndEveryStore(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        let (first, second) = (try node("first", connection), try node("second", connection))
        let id = try PictureWorld.save("a", face(), first)
        try PictureWorld.save("b", Data(repeating: 7, count: 30_000), first)
        try second.catchUp()
        // A version in the past, which only events name.
        try PictureWorld.change(id, to: face(9), second)
        try first.catchUp()
        #expect(try values(with: mark, connection) == 2)
        #expect(try files(with: mark, in: "first") == 2 && files(with: mark, in: "second") == 2)
        let result = try first.erase([id], reason: "asked for")
        #expect(result.isComplete, "\(result)")
        #expect(try values(with: mark, connection) == 0 && files(with: mark, in: "first") == 0)
        try second.catchUp()
        #expect(try files(with: mark, in: "second") == 0)
        let third = try node("third", connection)
        for container in [first, second, third] {
            #expect(try names(container) == ["b 30000"])
            #expect(try container.verify().isSound)
            container.close()
        }
        for name in ["first", "second", "third"] { #expect(try files(with: mark, in: name) == 0) }
    }

    @Test(arguments: TestLog.all) func aStoreThatWasAwayLosesTheValueWhenItComesBack(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        let first = try node("first", connection)
        let id = try PictureWorld.save("a", face(), first)
        let second = try node("second", connection)
        second.close()
        #expect(try files(with: mark, in: "second") == 1)
        #expect(try first.erase([id], attributes: ["bytes"], reason: nil).isComplete)
        #expect(try values(with: mark, connection) == 0)
        let back = try node("second", connection)
        defer { back.close() }
        #expect(try files(with: mark, in: "second") == 0 && names(back) == ["a 0"])
        first.close()
    }

    @Test(arguments: TestLog.all) func aValueThatAnotherObjectHasStays(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        let (first, second) = (try node("first", connection), try node("second", connection))
        let id = try PictureWorld.save("a", face(), first)
        try PictureWorld.save("same", face(), second)
        #expect(try first.erase([id], reason: nil).isComplete)
        #expect(try values(with: mark, connection) == 1)
        try second.catchUp()
        for container in [first, second] {
            #expect(try names(container) == ["same \(face().count)"])
            container.close()
        }
    }

    /// The value was put before it was erased elsewhere, and the save that names it comes afterwards.
    @Test(arguments: TestLog.all) func aSaveUnderWayPutsItsValueAgain(log: TestLog) throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let connection = try log.make()
        let interposed = Interposed(try connection.connect())
        let first = try node("first", connection)
        let second = try node("second", SharedLogConnection(name: "between", timeout: .seconds(10)) { interposed })
        let id = try PictureWorld.save("a", face(), first)
        try second.catchUp()
        // Between the value and the append of the transaction that names it.
        interposed.beforeNextAppend { () throws in
            #expect(try first.erase([id], reason: nil).isComplete)
            #expect(try values(with: mark, connection) == 0)
        }
        try PictureWorld.save("under way", face(), second)
        try first.catchUp()
        #expect(try names(first) == ["under way \(face().count)"] && values(with: mark, connection) == 1)
        for container in [first, second] { container.close() }
    }

    @Test func anErasureIsNotDoneWhileTheLogHasTheValue() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let log = MemoryLog()
        let faulty = FaultyLog(log.client(), LogFaults(), seed: 1)
        let connection = SharedLogConnection(name: "memory", timeout: .milliseconds(50)) { faulty }
        let first = try node("first", connection)
        let id = try PictureWorld.save("a", face(), first)
        faulty.setUpkeepCut(true)
        let result = try first.erase([id], reason: nil)
        #expect(!result.isComplete && result.waiting.contains { $0.contains("shared log") })
        #expect(try values(with: mark, log.connection()) == 1)
        faulty.setUpkeepCut(false)
        try finishErasures(first)
        #expect(try values(with: mark, log.connection()) == 0)
        first.close()
    }

    @Test func aStoreThatMayOnlyAppendMakesErasuresThatItReceives() throws {
        guard let address = TestLog.address else { return }
        defer { try? FileManager.default.removeItem(at: root) }
        try PostgresSetup.makeTables(at: address, access: .roles)
        let lineage = "limited \(UUID().uuidString)"
        let whole = PersistentStoreLog.postgres(address, lineage: lineage).connection
        let limited = PersistentStoreLog.postgres(address + "&options=-c%20role%3Dstrata_append", lineage: lineage)
        let (first, second) = (try node("first", whole), try node("second", limited.connection))
        let id = try PictureWorld.save("a", face(), second)
        try first.catchUp()
        #expect(try first.erase([id], reason: nil).isComplete)
        try second.catchUp()
        #expect(try files(with: mark, in: "second") == 0)
        // Nothing is left that it would try again for ever.
        try finishErasures(second)
        for container in [first, second] { container.close() }
    }
}
