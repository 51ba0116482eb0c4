import Foundation
import LMDB
import Locking
import StrataModel
@testable import StrataStore
import Testing

/// Rules of the store that no other suite is about.
@Suite struct StoreRulesTests {
    // MARK: Restored objects, removed payloads

    @Test func aRestoredObjectGoesOnFromItsDeletion() throws {
        let fixture = try StoreFixture()
        let id = try fixture.insert("Movie", ["title": .string("Alien")])
        try fixture.delete(id)
        let deleted = try fixture.store.head()
        var changes = try fixture.changes()
        changes.insertions.append(.init(id: id, image: try fixture.image("Movie", ["title": .string("Alien again")])))
        try fixture.save(changes)
        let history = try fixture.store.history(of: id)
        #expect(history.map(\.kind) == [.inserted, .deleted, .inserted])
        #expect(history[0].previous == deleted && history[2].previous == .zero)
        #expect(try fixture.values(id)?["title"] == .string("Alien again"))
        #expect(try fixture.values(id, at: deleted) == nil)
        #expect(try fixture.store.rebuild().isUnchanged)
    }

    @Test func anObjectThatIsThereIsNotInsertedAgain() throws {
        let fixture = try StoreFixture()
        let id = try fixture.insert("Movie", ["title": .string("Alien")])
        var changes = try fixture.changes()
        changes.insertions.append(.init(id: id, image: try fixture.image("Movie", ["title": .string("Alien")])))
        let head = try fixture.store.head()
        let error = #expect(throws: StrataError.self) { try fixture.save(changes) }
        #expect(error?.code == .invalidRequest)
        #expect(try fixture.store.head() == head)
    }

    private func kinds(_ store: Store) throws -> [EventKind] {
        var kinds: [EventKind] = []
        try store.events(from: EventNumber(rawValue: 1), through: try store.head()) {
            kinds.append($0.kind)
            return true
        }
        return kinds
    }

    @Test func theChainOfDigestsHoldsWithoutAPayload() throws {
        let damaged = try DamagedStore()
        // The rating of Alien: what came and went between its neighbours.
        let place = try #require(try kinds(damaged.store).lastIndex(of: .updated))
        let (key, record) = try damaged.records("events")[place]
        try damaged.put("events", key, DamagedStore.redacted(record))
        #expect(try kinds(damaged.store)[place] == .updated)
        #expect(try damaged.problems(.quick).map(\.description) == [])
        // Anything else of the header is covered.
        var forged = DamagedStore.redacted(record)
        forged[EventHeader.digestOffset] ^= 1
        forged.withUnsafeMutableBytes { EventHeader.seal($0) }
        try damaged.put("events", key, forged)
        #expect(try !damaged.problems(.quick).isEmpty)
        damaged.store.close()
    }

    @Test func anUnknownKindIsPassedOverOnlyWhenItSaysSo() throws {
        var record = [UInt8](repeating: 0, count: EventHeader.size)
        record.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            EventHeader(
                kind: .maintenance, flags: .skippable, object: ObjectID(rawValue: 0),
                transaction: TransactionNumber(rawValue: 1), previous: .zero, payloadSize: 0
            ).encode(into: base)
        }
        for (flags, isRead) in [(UInt8(1), true), (0, false)] {
            record[1] = 99
            record[2] = flags
            record.withUnsafeMutableBytes { EventHeader.seal($0) }
            let kind = try? record.withUnsafeBytes { try EventView($0).header.kind }
            #expect(kind == (isRead ? .maintenance : nil))
        }
    }

    /// A log whose first events are no longer kept, as its head says.
    @Test func aTimeBeforeTheKeptHistoryIsAClearError() throws {
        let damaged = try DamagedStore()
        let found = try damaged.records("meta").first { $0.key == Array("head".utf8) }
        let record = try #require(found)
        var head = try record.value.withUnsafeBytes { try LogHead($0) }
        let last = head.event.rawValue
        head.firstKeptEvent = EventNumber(rawValue: last - 1)
        try damaged.put("meta", record.key, head.encoded())
        let store = damaged.store
        for number in 0...last {
            let eventNumber = EventNumber(rawValue: number)
            if number + 1 < last - 1 {
                let error = #expect(throws: StrataError.self) { try store.read(at: eventNumber) { _ in } }
                #expect(error?.code == .historyDropped && error?.context.eventNumber == eventNumber)
            } else {
                try store.read(at: eventNumber) { snapshot in _ = try snapshot.row(damaged.alien) }
            }
        }
        let error = #expect(throws: StrataError.self) {
            try store.events(from: .zero, through: head.event) { _ in true }
        }
        #expect(error?.code == .historyDropped)
        damaged.store.close()
    }

    // MARK: Huge saves

    @Test func aSaveThatIsTooLargeIsRefusedBeforeItsFirstPut() throws {
        let fixture = try StoreFixture()
        var changes = try fixture.changes()
        let text = String(repeating: "0123456789abcdef", count: 1 << 18)
        for number in 0..<34 {
            _ = try fixture.insert("Movie", ["title": .string("\(number) " + text)], into: &changes)
        }
        let before = try fixture.store.file.environment.info()
        let head = try fixture.store.head()
        let error = #expect(throws: StrataError.self) { try fixture.save(changes) }
        #expect(error?.code == .saveTooLarge)
        let numbers = error?.message.matches(of: /\d+/).compactMap { Int($0.output) } ?? []
        #expect(numbers.count == 2 && numbers[0] > numbers[1] && numbers[1] == 64_000, "\(String(describing: error))")
        let after = try fixture.store.file.environment.info()
        #expect(after.lastPage == before.lastPage && after.lastTransaction == before.lastTransaction)
        #expect(try fixture.store.head() == head)
        changes.insertions.removeLast(33)
        try fixture.save(changes)
    }

    // MARK: Blobs

    /// A lock as another process holds it: `flock` belongs to the opening of a file, not to the process.
    private func lock(_ store: Store, _ operation: Int32) -> Int32? {
        let descriptor = open(store.path + "/blobs.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if flock(descriptor, operation | LOCK_NB) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    @Test func nothingIsSweptWhileAnotherProcessWritesLargeValues() throws {
        let damaged = try DamagedStore()
        let reference = try damaged.store.stageBlob(Data("of nobody yet".utf8))
        let other = try #require(lock(damaged.store, LOCK_SH))
        #expect(try damaged.store.sweepBlobs() == 0)
        #expect(damaged.store.blobs.exists(reference))
        close(other)
        #expect(try damaged.store.sweepBlobs() == 1)
        #expect(!damaged.store.blobs.exists(reference) && damaged.store.blobs.exists(damaged.blob))
    }

    @Test func aLinkInPlaceOfALargeValueIsNotFollowed() throws {
        let damaged = try DamagedStore()
        let reference = try damaged.store.stageBlob(Data("moved away".utf8))
        let path = damaged.store.blobs.path(of: reference)
        rename(path, path + ".moved")
        symlink(path + ".moved", path)
        let error = #expect(throws: StrataError.self) { try damaged.store.blobs.read(reference) }
        #expect(error?.code == .missingBlob)
        #expect(damaged.store.blobs.contents(digest: reference.digest) == nil)
        unlink(path)
        rename(path + ".moved", path)
        #expect(try damaged.store.blobs.read(reference) == Data("moved away".utf8))
        #expect(try damaged.store.sweepBlobs() == 1)
    }

    @Test func aLinkInPlaceOfTheLockOfLargeValuesIsNotFollowed() throws {
        let damaged = try DamagedStore()
        let path = damaged.store.path + "/blobs.lock"
        rename(path, path + ".moved")
        symlink(path + ".moved", path)
        #expect(throws: (any Error).self) { try damaged.store.sweepBlobs() }
        unlink(path)
        rename(path + ".moved", path)
    }

    @Test func aSaveWhoseLargeValueWentIsRefused() throws {
        let damaged = try DamagedStore()
        let reference = try damaged.store.stageBlob(Data("swept before the save".utf8))
        #expect(try damaged.store.sweepBlobs() == 1)
        let head = try damaged.store.head()
        let error = #expect(throws: StrataError.self) {
            try damaged.fixture.update(damaged.heat, ["poster": .blob(reference)])
        }
        #expect(error?.code == .missingBlob && error?.context.key == "poster")
        #expect(try damaged.store.head() == head)
    }

    @Test func aBackupKeepsTheSweeperAwayForItsWholeLength() throws {
        let damaged = try DamagedStore()
        let target = damaged.directory.appendingPathExtension("backup")
        defer { try? FileManager.default.removeItem(at: target) }
        let store = damaged.store
        let seen = Locked((asked: 0, free: 0))
        try store.backup(to: target) { [self] _ in
            let descriptor = lock(store, LOCK_EX)
            if let descriptor { close(descriptor) }
            seen.withLock {
                $0.asked += 1
                if descriptor != nil { $0.free += 1 }
            }
        }
        #expect(seen.withLock { $0.asked > 0 && $0.free == 0 })
        // A program that another test starts holds the lock between its fork and its exec.
        var descriptor = lock(store, LOCK_EX)
        for _ in 0..<100 where descriptor == nil {
            usleep(10_000)
            descriptor = lock(store, LOCK_EX)
        }
        close(try #require(descriptor))
    }

    // MARK: Time

    @Test func commitTimeNeverGoesBack() throws {
        let times = Locked([100.0, 50, 50, 200])
        var options = StoreOptions()
        options.clock = { times.withLock { Date(timeIntervalSince1970: $0.count > 1 ? $0.removeFirst() : $0[0]) } }
        let store = try Store.open(.inMemory, model: try MovieModel.make(), options: options)
        for name in ["Ann", "Bob", "Cid", "Dan"] { try saveOwner(name, in: store) }
        let dates = try store.transactions(limit: .max).map(\.microseconds)
        #expect(zip(dates, dates.dropFirst()).allSatisfy { $0 < $1 })
        store.close()
    }

    private func saveOwner(_ name: String, in store: Store) throws {
        let owner = try #require(store.schema.entity(named: "Owner"))
        var changes = ChangeSet(base: try store.head(), modelVersion: store.schema.version)
        var builder = RowBuilder(owner.layout)
        try builder.set(try #require(owner.property(named: "name")).slot, .string(name))
        changes.insertions.append(.init(id: try store.newObjectID(in: owner.id), image: try builder.finish()))
        guard case .saved = try store.save(changes) else { throw StrataError(.merge, "stale") }
    }

    @Test func aSaveThatIsAloneIsWrittenOnItsCallersThread() throws {
        let writer = Locked<pthread_t?>(nil)
        var options = StoreOptions()
        options.clock = {
            writer.withLock { $0 = pthread_self() }
            return Date()
        }
        let store = try Store.open(.inMemory, model: try MovieModel.make(), options: options)
        // What opening has left to the writer's thread may still be under way.
        let isHere = try (0..<1_000).contains { number in
            try saveOwner("\(number)", in: store)
            return writer.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
        }
        #expect(isHere)
        store.close()
    }

    // MARK: Ids

    @Test func aLostCounterRestartsFarAboveTheLargestRow() throws {
        let damaged = try DamagedStore()
        let largest = max(damaged.alien.row, damaged.heat.row, damaged.deleted.row)
        try damaged.remove("state", Array("rows".utf8))
        damaged.store.close()
        let store = try Store.open(.directory(damaged.directory), model: nil)
        defer { store.close() }
        #expect(try store.newObjectID(in: damaged.alien.entityID).row >= largest + 1 << 20)
    }

    @Test func aRebuildGivesNoIdTwice() throws {
        let fixture = try StoreFixture()
        let movie = try fixture.entity("Movie").id
        let before = try (0..<10).map { _ in try fixture.store.newObjectID(in: movie) }
        _ = try fixture.store.rebuild()
        let after = try (0..<10).map { _ in try fixture.store.newObjectID(in: movie) }
        #expect(Set(before).isDisjoint(with: after))
        #expect(before.allSatisfy { $0.row > 0 })
    }
}
