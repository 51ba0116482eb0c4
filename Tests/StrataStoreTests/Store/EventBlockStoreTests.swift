import Foundation
import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// A store whose events are in blocks is the store that it would be without them.
@Suite struct EventBlockStoreTests {
    private static func options(_ fewest: Int, newest: Int = 1 << 40) -> StoreOptions {
        var options = StoreOptions()
        options.packing.fewestInTransaction = fewest
        options.packing.newestApart = newest
        options.packing.eventsInOneCommit = 1
        return options
    }

    private static func insert(_ count: Int, _ fixture: StoreFixture, _ name: String = "Film") throws -> [ObjectID] {
        var changes = try fixture.changes()
        let ids = try (0..<count).map { index in
            try fixture.insert(
                "Movie", ["title": .string("\(name) \(index)"), "rating": .double(Double(index))], into: &changes)
        }
        try fixture.save(changes)
        return ids
    }

    /// The records of the log, and how many of them are blocks.
    private static func records(_ store: Store) throws -> (records: Int, blocks: Int) {
        try store.file.environment.read { transaction in
            try transaction.withCursor(store.file.tables.events) { cursor in
                var counts = (records: 0, blocks: 0)
                var found = try cursor.first()
                while found {
                    counts.records += 1
                    if EventBlock.isBlock(cursor.value) { counts.blocks += 1 }
                    found = try cursor.next()
                }
                return counts
            }
        }
    }

    /// The log, byte for byte.
    static func events(_ store: Store) throws -> [[UInt8]] {
        try store.readLog { log, head in
            var events: [[UInt8]] = []
            try log.events(from: EventNumber(rawValue: 1), through: head.event, .whole) { event, _ in
                events.append(Array(event.record))
                return true
            }
            return events
        }
    }

    /// Packs all of a log.
    static func pack(_ store: Store, atMost count: Int = .max) throws {
        try store.file.write { transaction in
            let head = try store.file.readHead(transaction)
            _ = try LogPacking(tables: store.file.tables, transaction: transaction)
                .run(to: head.event, keeping: 0, atMost: min(count, 1 << 40))
        }
    }

    private static func isSound(_ store: Store, _ place: Comment = "") throws {
        #expect(try store.verify(.full).problems.map(\.description) == [], place)
        #expect(try store.rebuild().isUnchanged, place)
    }

    @Test func aLargeSaveGoesIntoBlocks() throws {
        let fixture = try StoreFixture(options: Self.options(256))
        let small = try Self.insert(255, fixture, "Small")
        #expect(try Self.records(fixture.store).blocks == 0)
        let ids = try Self.insert(3000, fixture)
        let counts = try Self.records(fixture.store)
        #expect(counts.blocks > 4 && counts.records < 600, "\(counts)")
        try fixture.update(ids[7], ["rating": .double(-1)])
        try fixture.delete(ids[8])
        let head = try fixture.store.head()
        let movie = try fixture.entity("Movie").id
        let count = try fixture.store.read(at: head) { try $0.count(of: movie) }
        #expect(count == 3254)
        #expect(try fixture.store.history(of: ids[7]).map(\.kind) == [.updated, .inserted])
        #expect(try fixture.store.history(of: ids[8]).map(\.kind) == [.deleted, .inserted])
        let first = try #require(fixture.store.history(of: small[0]).first?.eventNumber)
        let changes = try fixture.store.netChanges(from: first, through: head)
        #expect(changes.objects.count == 3254)
        try Self.isSound(fixture.store)
    }

    @Test func theHeaderSaysThatThereAreBlocks() throws {
        let fixture = try StoreFixture(options: Self.options(100))
        func flags() throws -> UInt32 {
            try fixture.store.file.environment.read { transaction in
                let bytes = try #require(try StoreFile.meta("header", fixture.store.file.tables, transaction))
                return try StoreHeader(bytes).incompatibleFlags
            }
        }
        _ = try Self.insert(99, fixture)
        #expect(try flags() & 64 == 0)
        _ = try Self.insert(100, fixture)
        #expect(try flags() & 64 != 0)
    }

    @Test(arguments: RandomTesting.seeds) func packingChangesNoEvent(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<60 { try oracle.step() }
        let store = oracle.fixture.store
        let before = try Self.events(store)
        let head = try store.head()
        let changes = try store.netChanges(from: EventNumber(rawValue: 1), through: head)
        try Self.pack(store, atMost: 1 + Int(seed) * 7)
        #expect(try Self.events(store) == before, "seed \(seed)")
        try Self.pack(store)
        #expect(try Self.records(store).blocks > 1)
        #expect(try Self.events(store) == before, "seed \(seed)")
        #expect(try store.netChanges(from: EventNumber(rawValue: 1), through: head) == changes)
        for (eventNumber, moment) in oracle.history {
            #expect(try oracle.read(at: eventNumber) == moment, "seed \(seed), event \(eventNumber)")
        }
        try Self.isSound(store, "seed \(seed)")
    }

    /// Saves, packing, truncations and erasures in any order.
    @Test(arguments: RandomTesting.seeds) func aLogWithBlocksIsTruncatedAndErasedAtAnyTime(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        let store = oracle.fixture.store
        var generator = SeededGenerator(seed: seed &+ 1000)
        var cut = EventNumber.zero
        for round in 0..<14 {
            for _ in 0..<12 { try oracle.step() }
            if Int.random(in: 0...2, using: &generator) > 0 {
                try Self.pack(store, atMost: Int.random(in: 1...60, using: &generator))
            }
            if Int.random(in: 0...2, using: &generator) == 0 {
                let index = oracle.history.count - 1 - Int.random(in: 0...10, using: &generator)
                cut = max(cut, oracle.history[index].eventNumber)
                _ = try store.truncateHistory(
                    through: cut, MaintenanceNote(author: "ann"),
                    limits: TrimLimits(events: Int.random(in: 1...40, using: &generator)))
            }
            if Int.random(in: 0...2, using: &generator) == 0 { try oracle.erase(after: cut) }
            for (eventNumber, moment) in oracle.history where eventNumber >= cut {
                #expect(try oracle.read(at: eventNumber) == moment, "seed \(seed), event \(eventNumber)")
            }
            try Self.isSound(store, "seed \(seed), round \(round)")
        }
    }

    @Test func anErasureLeavesNoByteOfAValueInABlock() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(
            .directory(folder.store), model: try ErasureFixture.model(), options: Self.options(50))
        var changes = try fixture.changes()
        let ids = try (0..<400).map { person in
            let mark = person % 9 == 4 ? "Secret" : "Public"
            return try fixture.insert(
                "Person",
                [
                    "name": .string("\(mark)Näme\(person)"), "email": .string("\(mark)Mail\(person)@x.org"),
                    "code": .string("\(mark)Code"),
                ], into: &changes)
        }
        try fixture.save(changes)
        for id in ids.enumerated().filter({ $0.offset % 9 == 4 }).map(\.element).prefix(30) {
            try fixture.update(id, ["name": .string("SecretOther"), "note": .string("SecretNote")])
        }
        try Self.pack(fixture.store)
        let before = try Self.events(fixture.store)
        let erased = ids.enumerated().filter { $0.offset % 9 == 4 }.map(\.element)
        let report = try fixture.store.erase(ErasureRequest(objects: erased, note: ErasureFixture.note()))
        #expect(report.waiting == [] && report.objects == erased.sorted())
        // Neither the texts nor pieces of them: blocks write parts of a value once.
        #expect(try folder.scan(for: ["Secret", "SECRET", "secret", "SecretMail", "ecretN"]) == [:])
        let after = try Self.events(fixture.store)
        for (old, new) in zip(before, after) {
            let (old, new) = (old, new)
            let isErased = new[2] & 2 != 0
            #expect(isErased || old == new)
        }
        #expect(try Self.records(fixture.store).blocks > 5)
        try Self.isSound(fixture.store)
    }

    @Test func aDamagedBlockIsAnErrorThatNamesItsEvents() throws {
        let fixture = try StoreFixture(options: Self.options(100))
        _ = try Self.insert(400, fixture)
        let store = fixture.store
        let range = try store.file.write { transaction in
            let cursor = try transaction.writeCursor(store.file.tables.events)
            defer { cursor.close() }
            _ = try cursor.first()
            while !EventBlock.isBlock(cursor.value) { _ = try cursor.next() }
            _ = try cursor.next()
            let first = StoreKey.objectID(cursor.key, at: 0).rawValue
            let count = try EventBlock.count(cursor.value)
            var bytes = Array(cursor.value)
            bytes[bytes.count - 3] ^= 1
            try bytes.withUnsafeBytes { try transaction.put(store.file.tables.events, first, $0) }
            return first..<first + UInt64(count)
        }
        let error = #expect(throws: StrataError.self) {
            try store.events(from: EventNumber(rawValue: range.lowerBound + 2), through: try store.head()) { _ in true }
        }
        #expect(error?.code == .corrupt && error?.context.eventNumber?.rawValue == range.lowerBound)
        #expect(error?.message.contains("events \(range.lowerBound) to \(range.upperBound - 1) are damaged") == true)
        // Events outside of the block are read.
        try store.events(
            from: EventNumber(rawValue: range.upperBound), through: try store.head()
        ) { _ in true }
        let problems = try store.verify(.full).problems.map(\.description)
        #expect(problems.count { $0.contains("are damaged") } == 1, "\(problems)")
        #expect(!problems.contains { $0.contains("missing") }, "\(problems)")
        let head = try store.head()
        try store.file.write { transaction in
            // What the test support verifies at the end is a whole store.
            let log = try transaction.writeCursor(store.file.tables.events)
            defer { log.close() }
            _ = try withUnsafeBytes(of: range.lowerBound.bigEndian) { try log.seek(to: $0) }
            var bytes = Array(log.value)
            bytes[bytes.count - 3] ^= 1
            try withUnsafeBytes(of: range.lowerBound.bigEndian) { key in
                try bytes.withUnsafeBytes { try log.put(key, $0) }
            }
        }
        #expect(try store.head() == head)
        try Self.isSound(store)
    }

    @Test func copiesAndFramesHaveTheSameEvents() throws {
        let folder = try ErasureFolder()
        let fixture = try StoreFixture(.directory(folder.store), options: Self.options(100))
        let ids = try Self.insert(500, fixture)
        try fixture.delete(ids[3])
        let store = fixture.store
        let expected = try Self.events(store)
        let replayed = folder.url.appending(path: "b.strata")
        #expect(try store.replay(through: try store.head(), to: replayed).verification.isSound)
        let backup = folder.url.appending(path: "c.strata")
        try store.backup(to: backup)
        for place in [replayed, backup] {
            let copy = try Store.open(.directory(place), model: MovieModel.make())
            defer { copy.close() }
            #expect(try Self.events(copy) == expected)
            #expect(try Self.records(copy).blocks > 1)
            try Self.isSound(copy)
        }
    }

    @Test func eventsBehindTheNewestArePackedBetweenSaves() throws {
        var options = StoreOptions()
        options.packing.newestApart = 50
        options.packing.eventsInOneCommit = 100
        let fixture = try StoreFixture(options: options)
        for index in 0..<400 { _ = try fixture.insert("Tag", ["label": .string("tag \(index)")]) }
        // The writer's thread tidies when it has nothing else to do.
        for _ in 0..<200 where try Self.records(fixture.store).blocks < 3 { usleep(10_000) }
        let counts = try Self.records(fixture.store)
        #expect(counts.blocks >= 3 && counts.records >= 50, "\(counts)")
        try Self.isSound(fixture.store)
    }
}
