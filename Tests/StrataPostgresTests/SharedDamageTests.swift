import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataTestSupport
import Testing

@testable import LMDB
@testable import StrataStore

/// Copies of a shared log whose files are damaged are made anew from the log; other stores are left as they are.
@Suite struct SharedDamageTests {
    private let log = MemoryLog()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "strata-damage-\(UUID().uuidString)")

    /// What becomes of a store's files.
    enum Damage: String, CaseIterable, Sendable {
        case halfOfTheFile, aCutHeader, noByte, noFile, noise, noiseInAllTrees, powerCutAndNoise,
            powerCutAndNoCheckpoint
    }

    private func open(
        _ client: (any SharedLog)? = nil, at url: URL? = nil, log other: MemoryLog? = nil,
        _ damage: (@Sendable (StrataError) -> Void)? = nil
    ) throws -> PersistentContainer {
        let log = other ?? log
        let connection = SharedLogConnection(name: "the log", timeout: .milliseconds(200)) { client ?? log.client() }
        var options = PersistentStoreOptions(log: PersistentStoreLog(connection))
        options.damageHandler = damage
        let container = PersistentContainer(
            name: "Race", model: try RaceWorld.model(), at: .url(url ?? folder), options: options)
        try container.loadPersistentStores()
        return container
    }

    private func note(_ text: String, _ container: PersistentContainer) throws { try container.saveNote(text) }

    private func count(_ container: PersistentContainer) throws -> Int {
        try container.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: "Note"))
    }

    private func path(_ name: String) -> String { folder.path(percentEncoded: false) + "/" + name }

    private func folders() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path("")).filter { $0.hasPrefix("damaged-") }
    }

    private func code(_ body: () throws -> Void) -> StrataError.Code? {
        do { try body() } catch { return (error as? StrataError)?.code }
        return nil
    }

    private func write(_ bytes: Data, to name: String = "data.mdb") throws {
        let file = try FileHandle(forUpdating: URL(filePath: path(name)))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    /// Noise in every page but the first two, which have the header.
    private func noise(_ bytes: Data) -> Data {
        var random = SeededGenerator(seed: 7)
        return bytes.prefix(8192) + Data(bytes.dropFirst(8192).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    private func make(_ damage: Damage) throws {
        let bytes = try Data(contentsOf: URL(filePath: path("data.mdb")))
        switch damage {
        case .halfOfTheFile: try write(bytes.prefix(bytes.count / 8192 * 4096))
        case .aCutHeader: try write(bytes.prefix(100))
        case .noByte: try write(Data())
        case .noFile: try FileManager.default.removeItem(atPath: path("data.mdb"))
        case .noise: try write(Data((0..<bytes.count).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
        case .noiseInAllTrees: try write(noise(bytes))
        case .powerCutAndNoise:
            try write(noise(bytes))
            try pretendThatTheSystemStarted()
        case .powerCutAndNoCheckpoint:
            try write(Data(repeating: 0xAA, count: 8192), to: "checkpoint")
        }
    }

    private func pretendThatTheSystemStarted() throws {
        let file = CheckpointFile(Foundation.open(path("checkpoint"), O_RDWR))
        var checkpoint = try #require(file.newest)
        checkpoint.session = FileSession(start: checkpoint.session.start &+ 1, mount: checkpoint.session.mount)
        for _ in 0..<2 {
            checkpoint.number += 1
            #expect(file.write(checkpoint) == 0)
        }
    }

    /// A store with some notes, closed.
    private func makeStore() throws {
        let container = try open()
        try RaceWorld.fill(container)
        for number in 0..<50 { try note("note \(number)", container) }
        container.close()
    }

    @Test(arguments: Damage.allCases) func aDamagedCopyIsMadeAnew(damage: Damage) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore()
        try make(damage)
        let damaged = FileManager.default.contents(atPath: path("data.mdb"))
        let reports = Locked<[StrataError]>([])
        let container = try open { report in reports.withLock { $0.append(report) } }
        #expect(try count(container) == 50)
        try note("later", container)
        #expect(try container.verify().isSound)
        let other = try open(at: folder.appending(path: "other"))
        #expect(try other.store.logPosition() == container.store.logPosition())
        other.close()
        container.close()
        let kept = try #require(try folders().first)
        #expect(FileManager.default.contents(atPath: path(kept + "/data.mdb")) == damaged)
        let report = try #require(reports.withLock { $0.last })
        #expect(report.code == .corrupt && report.message.contains(kept) && report.message.contains("the log"))
        // From then on it is a store like any other.
        let again = try open()
        #expect(try count(again) == 51)
        #expect(try folders().count == 1)
        again.close()
    }

    /// A log that has lost what the damaged store had is refused, as it is by a sound store.
    @Test func aDamagedCopyIsNotMovedForALogThatHasLostTransactions() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore()
        let end = try log.client().open(founder: nil).end
        log.forget(1)
        let connection = log.connection()
        let copy = DamagedCopy(
            directory: try StoreDirectory(.directory(folder)), options: StoreOptions(), connection: connection, end: end
        )
        let damage = StrataError(.corrupt, "A record is damaged.")
        #expect(code { _ = try copy.setAside(damage, try connection.connect()) } == .divergedLog)
        #expect(try folders().isEmpty)
    }

    @Test func aDamagedCopyWaitsForItsLog() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore()
        try make(.noise)
        let damaged = try Data(contentsOf: URL(filePath: path("data.mdb")))
        let cut = FaultyLog(log.client(), LogFaults(), seed: 1)
        cut.setCut(true)
        do {
            try open(cut).close()
            Issue.record("The log is away.")
        } catch let error as StrataError {
            #expect(error.code == .corrupt && error.message.contains("made anew"))
        }
        #expect(try folders().isEmpty)
        #expect(try Data(contentsOf: URL(filePath: path("data.mdb"))) == damaged)
        let container = try open()
        #expect(try count(container) == 50)
        container.close()
    }

    /// With another log, or a log that has lost what the store has, nothing is moved.
    @Test func aDamagedStoreOfAnotherLogIsLeftAsItIs() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore()
        try make(.noise)
        let damaged = try Data(contentsOf: URL(filePath: path("data.mdb")))
        let stranger = MemoryLog()
        #expect(code { try open(log: stranger).close() } == .persistentStoreOpen)
        #expect(try folders().isEmpty)
        #expect(try Data(contentsOf: URL(filePath: path("data.mdb"))) == damaged)
    }

    @Test(arguments: ["own", "text"]) func aStoreThatWasNeverACopyIsLeftAsItIs(kind: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let alone = try RaceWorld.container(at: .url(folder))
        try RaceWorld.fill(alone)
        alone.close()
        let first = try open(at: folder.appending(path: "first"))
        first.close()
        if kind == "text" { try write(Data("my diary".utf8)) } else { try make(.noise) }
        let before = try Data(contentsOf: URL(filePath: path("data.mdb")))
        #expect(code { try open().close() } == .persistentStoreOpen)
        #expect(try folders().isEmpty)
        #expect(try Data(contentsOf: URL(filePath: path("data.mdb"))) == before)
    }

    @Test func aStoreInUseIsNotMoved() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore()
        let user = CheckpointFile(Foundation.open(path("checkpoint"), O_RDWR))
        #expect(user.share(until: .now) == 0)
        try make(.aCutHeader)
        #expect(code { try open().close() } != nil)
        #expect(try folders().isEmpty)
        withExtendedLifetime(user) {}
    }

    /// The power goes while the files are moved: the rest of them follows.
    @Test func aMoveThatWasInterruptedIsFinished() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try makeStore()
        try FileManager.default.createDirectory(atPath: path("damaged-before"), withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: path("data.mdb"), toPath: path("damaged-before/data.mdb"))
        let container = try open()
        #expect(try count(container) == 50)
        container.close()
        #expect(try folders().count == 2)
        #expect(FileManager.default.fileExists(atPath: path("damaged-before/data.mdb")))
    }
}
