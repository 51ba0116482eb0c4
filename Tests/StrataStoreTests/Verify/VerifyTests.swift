import Foundation
import LMDB
import Locking
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Testing

@Suite struct VerifyTests {
    @Test func aSoundStoreHasNoProblems() throws {
        let damaged = try DamagedStore()
        for depth in [VerificationDepth.quick, .full] {
            let report = try damaged.store.verify(depth)
            #expect(report.problems.map(\.description) == [])
            #expect(report.isSound)
            #expect(report.objectCount == 4)
            #expect(report.eventCount == Int(report.head.rawValue))
        }
        #expect(try damaged.store.verify().digests.count == StoreTables.viewNames.count)
    }

    @Test func aReadOnlyStoreIsVerifiedWithoutChangingAByte() throws {
        let damaged = try DamagedStore()
        damaged.store.close()
        let file = damaged.directory.appending(component: "data.mdb")
        let before = try Data(contentsOf: file)
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store.open(.directory(damaged.directory), model: nil, options: options)
        #expect(try store.verify().isSound)
        store.close()
        #expect(try Data(contentsOf: file) == before)
    }

    @Test(arguments: RandomTesting.seeds.prefix(4))
    func aStoreWithALongRandomHistoryIsSound(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<80 { try oracle.step() }
        #expect(try oracle.fixture.store.verify().problems.map(\.description) == [], "seed \(seed)")
    }

    /// A flipped bit is found wherever it is: every byte of every record of every table but `state`, which is no part
    /// of what a store says.
    @Test(arguments: StoreTables.names.filter { $0 != "state" && $0 != "models" })
    func aFlippedBitIsFound(table: String) throws {
        let damaged = try DamagedStore()
        for (key, value) in try damaged.records(table) where !value.isEmpty {
            let step = max(1, value.count / 12)
            for offset in stride(from: 0, to: value.count, by: step) {
                var changed = value
                changed[offset] ^= 1 << UInt8(offset % 8)
                try damaged.put(table, key, changed)
                let report = try damaged.store.verify()
                #expect(!report.isSound, "\(table), key \(key), byte \(offset)")
            }
            try damaged.put(table, key, value)
        }
        #expect(try damaged.problems().map(\.description) == [])
    }

    @Test(arguments: StoreTables.names.filter { $0 != "state" })
    func aMissingRecordIsFound(table: String) throws {
        let damaged = try DamagedStore()
        for (key, value) in try damaged.records(table) {
            try damaged.remove(table, key)
            #expect(!(try damaged.store.verify().isSound), "\(table), key \(key)")
            try damaged.put(table, key, value)
        }
        #expect(try damaged.problems().map(\.description) == [])
    }

    @Test(arguments: StoreTables.names.filter { $0 != "state" && $0 != "meta" })
    func anExtraRecordIsFound(table: String) throws {
        let damaged = try DamagedStore()
        guard let (key, value) = try damaged.records(table).last else {
            Issue.record("the table \(table) is empty")
            return
        }
        var extra = key
        extra[extra.count - 1] &+= 1
        try damaged.put(table, extra, value)
        #expect(!(try damaged.store.verify().isSound))
        try damaged.remove(table, extra)
        #expect(try damaged.problems().map(\.description) == [])
    }

    /// What waits beside `indexes` and `links` must fit them, whatever both together come to.
    @Test(arguments: ["indexes", "links"]) func whatCannotBeCarriedOutIsFound(table: String) throws {
        let damaged = try DamagedStore()
        let entries = table == "links" ? damaged.tables.links : damaged.tables.indexes
        let (buffer, removals) = (try #require(entries.buffer), try #require(entries.removals))
        let key = try #require(try damaged.records(table).first).key
        func messages(with key: [UInt8], in part: Table) throws -> [String] {
            try key.withUnsafeBytes { key in try damaged.write { try $0.put(part, key, .empty) } }
            defer { try? key.withUnsafeBytes { key in try damaged.write { _ = try $0.delete(part, key) } } }
            return try damaged.problems().map(\.message)
        }
        #expect(try messages(with: key, in: buffer).contains("an entry is both in the table and in its buffer"))
        let absent = Array(key.dropLast()) + [99]
        #expect(
            try messages(with: absent, in: removals).contains("a removal waits for an entry that is not in the table"))
        #expect(
            try messages(with: [1, 2], in: removals).contains("a removal waits for an entry that is not in the table"))
        #expect(try !messages(with: key, in: removals).isEmpty)
        #expect(try damaged.problems().map(\.description) == [])
    }

    @Test func eachProblemIsNamedForWhatItIs() throws {
        let damaged = try DamagedStore()
        func expect(
            _ table: String, _ kind: VerificationProblem.Kind, at depth: VerificationDepth = .full,
            damage: ([(key: [UInt8], value: [UInt8])]) throws -> Void
        ) throws {
            let records = try damaged.records(table)
            try damage(records)
            #expect(try damaged.kinds(depth).contains(kind), "\(table)")
            for record in try damaged.records(table) { try damaged.remove(table, record.key) }
            for record in records { try damaged.put(table, record.key, record.value) }
        }
        try expect("objects", .row) { try damaged.remove("objects", $0[0].key) }
        try expect("objects", .revision) { records in
            guard let record = records.last else { return }
            var row = record.value
            let image = Array(row[StoredRow.headerSize...])
            row.withUnsafeMutableBytes { target in
                image.withUnsafeBytes { StoredRow.encode(revision: .init(rawValue: 1), image: $0, into: target) }
            }
            try damaged.put("objects", record.key, row)
        }
        try expect("indexes", .index) { try damaged.remove("indexes", $0[0].key) }
        try expect("indexes", .index) { try damaged.put("indexes", Array($0[0].key.dropLast()) + [99], []) }
        try expect("links", .link) { try damaged.remove("links", $0[0].key) }
        try expect("links", .link) { try damaged.put("links", Array($0[0].key.dropLast()) + [99], []) }
        try expect("links", .count, at: .quick) { try damaged.put("links", Array($0[0].key.dropLast()) + [99], []) }
        try expect("pairs", .pair) { try damaged.remove("pairs", $0[0].key) }
        try expect("counts", .count, at: .quick) { try damaged.put("counts", $0[0].key, [9, 0, 0, 0, 0, 0, 0, 0]) }
        try expect("counts", .count) { _ in try damaged.put("counts", [0, 77], [9, 0, 0, 0, 0, 0, 0, 0]) }
        try expect("tombstones", .tombstone) { try damaged.remove("tombstones", $0[0].key) }
        try expect("transactionIDs", .transactionID) { try damaged.remove("transactionIDs", $0[0].key) }
        try expect("models", .model) { try damaged.remove("models", $0[0].key) }
        try expect("blobs", .blob) { try damaged.put("blobs", $0[0].key, [9, 0, 0, 0, 0, 0, 0, 0]) }
        try expect("state", .state) { try damaged.put("state", $0[0].key, [1, 0, 0, 0, 0, 0, 0, 0]) }
        try expect("events", .event, at: .quick) { try damaged.remove("events", $0[2].key) }
        try expect("transactions", .transaction, at: .quick) { try damaged.remove("transactions", $0[2].key) }
        try expect("meta", .head, at: .quick) { try damaged.put("meta", $0[0].key, [1, 2, 3]) }
        #expect(try damaged.problems().map(\.description) == [])
    }

    @Test func aForgedEventBreaksTheChainOfDigests() throws {
        let damaged = try DamagedStore()
        let (key, value) = try damaged.records("events")[3]
        // A header that is changed and sealed again: only the chain knows.
        var forged = value
        forged[24] ^= 1
        forged.withUnsafeMutableBytes { EventHeader.seal($0) }
        try damaged.put("events", key, forged)
        #expect(try damaged.kinds(.quick) == [.transaction])
        #expect(try damaged.kinds().isSuperset(of: [.transaction, .chain]))
        // A payload that is changed and sealed again: only its digest knows.
        forged = value
        forged[forged.count - 1] ^= 1
        forged.withUnsafeMutableBytes { EventHeader.seal($0) }
        try damaged.put("events", key, forged)
        #expect(try damaged.kinds().contains(.payload))
    }

    @Test func aTransactionBeforeTheOneBeforeItIsFound() throws {
        let damaged = try DamagedStore()
        let records = try damaged.records("transactions")
        let number = TransactionNumber(rawValue: UInt64(records.count))
        var last = try records[records.count - 1].value.withUnsafeBytes {
            try TransactionRecord($0, number: number)
        }
        last.microseconds = 1
        try damaged.put("transactions", records[records.count - 1].key, last.encoded())
        #expect(
            try damaged.problems(.quick).map(\.message).contains("its time is not after that of the one before"))
    }

    @Test func anUnlinkedPairThatWasNotLinkedIsFound() throws {
        let damaged = try DamagedStore()
        let record = try #require(
            try damaged.records("events").first { $0.value[1] == EventKind.linked.rawValue })
        var forged = record.value
        forged[1] = EventKind.unlinked.rawValue
        forged.withUnsafeMutableBytes { EventHeader.seal($0) }
        try damaged.put("events", record.key, forged)
        #expect(try damaged.problems().map(\.message).contains("it changes a link that is not there"))
    }

    @Test func aMissingOrChangedBlobIsNamed() throws {
        let damaged = try DamagedStore()
        let path = damaged.store.blobs.path(of: damaged.blob)
        let bytes = try Data(contentsOf: URL(filePath: path))
        try Data(repeating: 8, count: bytes.count).write(to: URL(filePath: path))
        #expect(try damaged.problems().map(\.message).contains { $0.hasPrefix("the file's bytes are not") })
        try Data(repeating: 8, count: 10).write(to: URL(filePath: path))
        #expect(try damaged.problems().map(\.message).contains { $0.hasPrefix("the file has 10 bytes, 100000") })
        try FileManager.default.removeItem(atPath: path)
        #expect(try damaged.problems().map(\.message).contains { $0.hasPrefix("the file is missing") })
        try bytes.write(to: URL(filePath: path))
        #expect(try damaged.store.verify().isSound)
    }

    /// Where no second reader can be had one thread does all: it finds the same, and in the same order.
    @Test func oneReaderFindsWhatTwoFind() throws {
        let damaged = try DamagedStore()
        for table in ["objects", "indexes", "links"] {
            for record in try damaged.records(table).prefix(2) { try damaged.remove(table, record.key) }
        }
        let file = damaged.store.file
        let alone = try file.environment.read {
            try Verifier(file, damaged.store.blobs, $0, .full, nil).run(beside: nil)
        }
        let both = try damaged.store.verify()
        #expect(alone.problems.contains { $0.kind == .replay } && alone.problems.contains { $0.kind == .row })
        #expect(both.problems == alone.problems)
        #expect(both.problemCount == alone.problemCount)
        #expect(both.digests == alone.digests)
    }

    /// The replay says nothing while the views are checked, so that whoever shows it shows one thing at a time.
    @Test func progressTellsOfOneThingAtATime() throws {
        let damaged = try DamagedStore()
        let phases = Locked<[String]>([])
        _ = try damaged.store.verify { progress in phases.withLock { $0.append(progress.phase) } }
        let told = phases.withLock { $0 }
        let replayed = told.drop { !["replaying events", "comparing views"].contains($0) }
        #expect(told.contains("checking rows"))
        #expect(replayed.allSatisfy { ["replaying events", "comparing views"].contains($0) }, "\(told)")
    }

    @Test func aTestThatLeavesAnUnsoundStoreFails() {
        withKnownIssue {
            let fixture = try StoreFixture()
            let id = try fixture.insert("Movie", ["title": .string("Alien")])
            let file = fixture.store.file
            try file.environment.write { _ = try $0.delete(file.tables.objects, id.rawValue) }
        }
    }
}
