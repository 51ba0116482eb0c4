import Foundation
import LMDB
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

@Suite struct RebuildTests {
    @Test(arguments: RandomTesting.seeds.prefix(4))
    func aRebuildEndsByteForByteEqual(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<60 { try oracle.step() }
        let report = try oracle.fixture.store.rebuild()
        #expect(report.isUnchanged, "seed \(seed)")
        #expect(report.tables.map(\.name) == StoreTables.viewNames)
        #expect(report.head == (try oracle.fixture.store.head()))
        for (eventNumber, expected) in oracle.history {
            #expect(try oracle.read(at: eventNumber) == expected, "seed \(seed), sequence \(eventNumber)")
        }
        try oracle.step()
        #expect(try oracle.fixture.store.verify().isSound)
    }

    @Test func aRebuildInManyCommitsGivesTheSameBytes() throws {
        var oracle = try StoreOracle(seed: 7)
        for _ in 0..<60 { try oracle.step() }
        let limits = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 1)
        #expect(try oracle.fixture.store.rebuild(limits).isUnchanged)
        #expect(try oracle.fixture.store.verify().isSound)
        try oracle.step()
        #expect(try oracle.fixture.store.verify().isSound)
    }

    @Test(arguments: RandomTesting.seeds.prefix(2), [1, 700, 20_000])
    func aBatchThatWasBegunWhileAnotherWasWrittenGivesTheSameBytes(seed: UInt64, size: Int) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<60 { try oracle.step() }
        for step in [Int.max, 3_000] {
            var limits = RebuildLimits(
                eventsInOneCommit: step == .max ? .max : 0, bytesInOneCommit: step, stepInBytes: step)
            limits.batchInBytes = size
            #expect(try oracle.fixture.store.rebuild(limits).isUnchanged, "seed \(seed), size \(size), step \(step)")
        }
        try oracle.step()
        #expect(try oracle.fixture.store.verify().isSound)
    }

    @Test func aReplayGoesOnOnlyWhereItsTablesStand() throws {
        let damaged = try DamagedStore()
        let file = damaged.store.file
        let replay = Replay(after: .start, file.tables, flushLimit: 1)
        let end = try file.read { _, head, _ in head }
        struct GivenUp: Error {}
        #expect(throws: GivenUp.self) {
            try damaged.write { transaction in
                for part in file.tables.viewTables.flatMap(\.table.parts) { try transaction.clear(part) }
                try file.environment.read { committed in
                    var counter = ProgressCounter("", total: 0, nil)
                    let log = LogReader(committed, file.tables, SchemaHistory([]))
                    _ = try replay.run(log, through: end, limit: 1, into: transaction, &counter)
                }
                throw GivenUp()
            }
        }
        #expect(replay.applied > .zero && replay.applied < end)
        var earlier: Replay? = replay
        #expect(Replay.resume(&earlier, after: .start, file.tables) !== replay)
        #expect(earlier == nil)
        earlier = replay
        let step = Replay.Progress(applied: replay.applied, histories: SchemaHistory([]))
        #expect(Replay.resume(&earlier, after: step, file.tables) === replay)
        #expect(earlier == nil)
    }

    @Test func damagedViewsAreMadeRight() throws {
        let damaged = try DamagedStore()
        for table in ["objects", "links", "indexes", "counts", "blobs", "transactionIDs", "tombstones", "pairs"] {
            let records = try damaged.records(table)
            try damaged.remove(table, records[0].key)
        }
        #expect(!(try damaged.store.verify().isSound))
        let report = try damaged.store.rebuild()
        #expect(!report.isUnchanged)
        #expect(report.tables.filter(\.isEqual).map(\.name) == ["models"])
        #expect(try damaged.problems().map(\.description) == [])
        #expect(try damaged.fixture.values(damaged.alien)?["title"] == .string("Alien"))
    }

    @Test func aDamagedLogIsNotRebuiltFrom() throws {
        let damaged = try DamagedStore()
        let (key, _) = try damaged.records("events")[3]
        try damaged.remove("events", key)
        let before = try damaged.records("objects").map(\.value)
        #expect(throws: StrataError.self) { try damaged.store.rebuild() }
        #expect(try damaged.records("objects").map(\.value) == before)
    }

    @Test func aRebuildCutShortIsFinishedByTheNextOpening() throws {
        let damaged = try DamagedStore()
        let expected = try damaged.store.verify().digests
        let store = damaged.store
        try damaged.write { transaction in
            let head = try store.file.readHead(transaction)
            for part in store.file.tables.viewTables.flatMap(\.table.parts) { try transaction.clear(part) }
            try store.file.writeMark(RebuildMark(head: head, applied: .zero), transaction)
        }
        #expect(throws: StrataError.self) { try store.head() }
        #expect(throws: StrataError.self) { try store.verify().isSound ? () : { throw StrataError(.corrupt, "") }() }
        store.close()
        var options = StoreOptions()
        options.isReadOnly = true
        #expect(throws: StrataError.self) {
            try Store.open(.directory(damaged.directory), model: nil, options: options)
        }
        let reopened = try Store.open(.directory(damaged.directory), model: nil)
        let report = try reopened.verify()
        #expect(report.isSound)
        #expect(report.digests == expected)
        reopened.close()
    }

    @Test(arguments: [true, false])
    func aStoreWhoseModelsAreLostOpensAndIsRebuilt(isRemoved: Bool) throws {
        let damaged = try DamagedStore()
        let (key, value) = try damaged.records("models")[0]
        if isRemoved {
            try damaged.remove("models", key)
        } else {
            try damaged.put("models", key, Array(value.dropLast(10)))
        }
        damaged.store.close()
        let store = try Store.open(.directory(damaged.directory), model: nil)
        #expect(try store.verify().problems.contains { $0.kind == .model })
        #expect(try store.rebuild().tables.filter { !$0.isEqual }.map(\.name) == ["models"])
        #expect(try store.verify().isSound)
        store.close()
    }

    /// A model that is not the newest is read when something of its age is.
    @Test(arguments: [true, false]) func aStoreWithADamagedModelOfThePastOpensAndIsRebuilt(isOther: Bool) throws {
        let damaged = try DamagedStore()
        damaged.store.close()
        let subtitle = Describe.attribute("subtitle", .string, optional: true)
        let poster = PropertyDescription.attribute(
            AttributeDescription(
                name: "poster", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true))
        var store = try Store.open(
            .directory(damaged.directory), model: try MovieModel.make(extraAttributes: [poster, subtitle]))
        let tables = store.file.tables
        let records = try store.file.environment.read { transaction in
            try [1, 2].map { try transaction.get(tables.models, $0).map(Array.init) ?? [] }
        }
        try store.file.environment.write { transaction in
            try (isOther ? records[1] : records[0].dropLast(10)).withUnsafeBytes {
                try transaction.put(tables.models, 1, $0)
            }
        }
        store.close()
        store = try Store.open(.directory(damaged.directory), model: nil)
        #expect(store.schema.version == ModelVersion(rawValue: 2))
        let error = #expect(throws: StrataError.self) { try store.schemas }
        #expect(error?.code == .corrupt && error?.message.contains("model 1") == true)
        let row = #expect(throws: StrataError.self) {
            try store.read(at: try store.head()) { try $0.row(damaged.alien)?.revision }
        }
        #expect(row?.code == .corrupt)
        #expect(try store.verify().problems.contains { $0.kind == .model && $0.location == "model 1" })
        #expect(try store.rebuild().tables.filter { !$0.isEqual }.map(\.name) == ["models"])
        #expect(try store.verify().isSound)
        store.close()
        store = try Store.open(.directory(damaged.directory), model: nil)
        #expect(try store.schemas.map(\.version.rawValue) == [1, 2])
        #expect(try store.read(at: try store.head()) { try $0.row(damaged.alien) != nil })
        store.close()
    }

    @Test func aReadOnlyStoreIsNotRebuilt() throws {
        let damaged = try DamagedStore()
        damaged.store.close()
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store.open(.directory(damaged.directory), model: nil, options: options)
        #expect(throws: StrataError.self) { try store.rebuild() }
        store.close()
    }
}
