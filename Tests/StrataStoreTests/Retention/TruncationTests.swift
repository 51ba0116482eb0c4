import Foundation
import LMDB
import Locking
import StrataModel
@testable import StrataStore
import StrataTestSupport
import Synchronization
import Testing

@Suite struct TruncationTests {
    private var note: MaintenanceNote { MaintenanceNote(author: "ann") }

    private func limits(_ events: Int) -> TrimLimits { TrimLimits(events: events) }

    @Test(arguments: RandomTesting.seeds, [1, 7, 10_000])
    func statesAndDifferencesAfterTheCutAreWhatTheyWere(seed: UInt64, size: Int) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<80 { try oracle.step() }
        let store = oracle.fixture.store
        let head = try store.head()
        let cut = oracle.history[oracle.history.count / 2].eventNumber
        let kept = oracle.history.filter { $0.eventNumber >= cut }
        let before = try kept.map { try store.netChanges(from: $0.eventNumber.advanced(by: 1), through: head) }
        let report = try store.truncateHistory(through: cut, note, limits: limits(size))
        #expect(report.baseline?.event == cut && report.holds.isEmpty, "seed \(seed)")
        let after = try kept.map { try store.netChanges(from: $0.eventNumber.advanced(by: 1), through: head) }
        #expect(after == before, "seed \(seed)")
        for (eventNumber, moment) in oracle.history {
            guard eventNumber < cut else {
                #expect(try oracle.read(at: eventNumber) == moment, "seed \(seed), event \(eventNumber)")
                continue
            }
            let error = #expect(throws: StrataError.self) { try store.read(at: eventNumber) { _ in } }
            #expect(error?.code == .historyDropped && error?.context.baseline?.eventNumber == cut)
        }
        #expect(try store.verify().problems.map(\.description) == [], "seed \(seed)")
        #expect(try store.rebuild().isUnchanged, "seed \(seed)")
        #expect(try store.rebuild(RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 1)).isUnchanged)
        for _ in 0..<10 { try oracle.step() }
        #expect(try store.verify().isSound, "seed \(seed)")
    }

    @Test(arguments: RandomTesting.seeds.prefix(4))
    func aStoreIsTruncatedAgainAndAgain(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        let store = oracle.fixture.store
        for round in 0..<8 {
            for _ in 0..<15 { try oracle.step() }
            let cut = oracle.history[oracle.history.count - 1 - round % 3 * 4].eventNumber
            try #expect(store.truncateHistory(through: cut, note, limits: limits(5)).baseline?.event == cut)
            for (eventNumber, moment) in oracle.history where eventNumber >= cut {
                #expect(try oracle.read(at: eventNumber) == moment, "seed \(seed), event \(eventNumber)")
            }
            #expect(try store.verify().problems.map(\.description) == [], "seed \(seed), round \(round)")
            #expect(try store.rebuild().isUnchanged, "seed \(seed), round \(round)")
        }
        let baseline = try #require(try store.baseline())
        let objects = try store.read(at: store.head()) { snapshot in
            try oracle.fixture.schema.entities.reduce(0) { try $0 + snapshot.count(of: $1.id) }
        }
        let pairs = try store.read(at: store.head()) { _ in oracle.now.tagged.values.reduce(0) { $0 + $1.count } }
        if baseline.event == (try store.head()) { #expect(Int(baseline.keptCount) == objects + pairs + 1) }
    }

    @Test(arguments: RandomTesting.seeds.prefix(4))
    func aTruncationThatIsStoppedAnywhereLeavesAWholeStore(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<25 { try oracle.step() }
        let store = oracle.fixture.store
        let head = try store.head()
        while try store.baseline()?.event != head {
            let report = try store.truncateHistory(through: head, note, limits: limits(1), while: { false })
            #expect(report.droppedTransactions == 1)
            #expect(try store.verify().problems.map(\.description) == [], "seed \(seed)")
            #expect(try oracle.read(at: head) == oracle.now)
        }
        #expect(try store.rebuild().isUnchanged)
    }

    @Test func aCopyOfATruncatedStoreHasTheSameHistory() throws {
        try withTemporaryDirectory { folder in
            var oracle = try StoreOracle(seed: 3, .directory(folder.appending(path: "a.strata")))
            for _ in 0..<60 { try oracle.step() }
            let store = oracle.fixture.store
            let (cut, middle) = (oracle.history[20], oracle.history[40])
            _ = try store.truncateHistory(through: cut.eventNumber, note, limits: limits(9))
            let replayed = folder.appending(path: "b.strata")
            let report = try store.replay(through: middle.eventNumber, to: replayed)
            #expect(report.verification.isSound)
            let backup = folder.appending(path: "c.strata")
            try store.backup(to: backup)
            let earliest = folder.appending(path: "d.strata")
            #expect(try store.replay(through: cut.eventNumber, to: earliest).verification.isSound)
            for (path, last) in [
                (replayed, middle.eventNumber), (backup, try store.head()), (earliest, cut.eventNumber),
            ] {
                let copy = try Store.open(.directory(path), model: MovieModel.make())
                defer { copy.close() }
                #expect(try copy.head() == last)
                #expect(try copy.baseline() == store.baseline())
                #expect(try copy.verify().isSound)
                #expect(try copy.rebuild().isUnchanged)
                let changes = try store.netChanges(from: cut.eventNumber.advanced(by: 1), through: last)
                #expect(try copy.netChanges(from: cut.eventNumber.advanced(by: 1), through: last) == changes)
            }
            let error = #expect(throws: StrataError.self) {
                try store.replay(through: oracle.history[10].eventNumber, to: folder.appending(path: "e.strata"))
            }
            #expect(error?.code == .historyDropped)
        }
    }

    @Test func aReopenedStoreGoesOnFromItsBaseline() throws {
        try withTemporaryDirectory { folder in
            let location = StoreLocation.directory(folder.appending(path: "a.strata"))
            let cut: EventNumber
            do {
                var oracle = try StoreOracle(seed: 5, location)
                for _ in 0..<40 { try oracle.step() }
                cut = oracle.history[30].eventNumber
                _ = try oracle.fixture.store.truncateHistory(through: cut, note)
                oracle.fixture.store.close()
            }
            let store = try Store.open(location, model: MovieModel.make())
            defer { store.close() }
            let baseline = try store.baseline()
            #expect(baseline?.event == cut && baseline?.author == "ann")
            #expect(try store.verify().isSound)
            _ = try store.truncateHistory(through: store.head(), note)
            #expect(try store.verify().isSound && store.rebuild().isUnchanged)
            #expect(try store.transactions(limit: 10).isEmpty)
        }
    }

    // MARK: Beside others

    /// Reads of the newest and of past states, and saves, while the history is truncated behind them.
    @Test func readersAndWritersGoOnBesideATruncation() throws {
        var oracle = try StoreOracle(seed: 9)
        for _ in 0..<60 { try oracle.step() }
        let store = oracle.fixture.store
        let owner = try oracle.fixture.insert("Owner", ["name": .string("counted")])
        let images = try ["first", "second"].map { try oracle.fixture.image("Owner", ["name": .string($0)]) }
        let saves = Atomic(0)
        let stopped = Atomic(false)
        let readings = Atomic(0)
        let failures = Locked<[String]>([])
        let group = DispatchGroup()
        func begin(_ work: @escaping @Sendable () throws -> Void) {
            group.enter()
            Thread.detachNewThread {
                do {
                    while !stopped.load(ordering: .acquiring) { try work() }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
                group.leave()
            }
        }
        let (version, slot) = (store.schema.version, try oracle.fixture.property("Owner", "name").slot)
        begin {
            let pin = try store.pinnedHead()
            defer { withExtendedLifetime(pin) {} }
            let base = pin.eventNumber
            let revision = try store.read(at: base) { try $0.row(owner)?.revision ?? .zero }
            var changes = ChangeSet(base: base, modelVersion: version)
            let image = images[saves.wrappingAdd(1, ordering: .relaxed).newValue % 2]
            changes.updates.append(.init(id: owner, baseRevision: revision, image: image, changedSlots: [slot]))
            _ = try store.save(changes)
        }
        begin {
            let pin = try store.pinnedHead()
            for _ in 0..<5 {
                try store.read(at: pin.eventNumber) { snapshot in
                    guard try snapshot.row(owner) != nil else { throw StrataError(.corrupt, "the object is gone") }
                }
                usleep(500)
            }
            readings.wrappingAdd(1, ordering: .relaxed)
            withExtendedLifetime(pin) {}
        }
        let deadline = ContinuousClock.now + .seconds(120)
        while try store.baseline()?.transaction.rawValue ?? 0 < 100 || readings.load(ordering: .relaxed) == 0,
            .now < deadline
        {
            _ = try store.truncateHistory(keeping: .transactions(5), note)
            usleep(2000)
        }
        stopped.store(true, ordering: .releasing)
        group.wait()
        #expect(failures.withLock { $0 } == [])
        #expect(readings.load(ordering: .relaxed) > 0)
        let baseline = try #require(try store.baseline())
        #expect(baseline.transaction.rawValue >= 100)
        #expect(try store.verify().problems.map(\.description) == [])
        #expect(try store.rebuild().isUnchanged)
    }

    // MARK: What holds the history

    @Test func tagsSubscriptionsAndReadersHoldTheHistory() throws {
        var oracle = try StoreOracle(seed: 2)
        for _ in 0..<30 { try oracle.step() }
        let store = oracle.fixture.store
        let moments = oracle.history.map(\.eventNumber)
        try store.setTag("first", at: moments[20], note)
        let seen = try #require(try store.transaction(containing: moments[15]))
        try store.acknowledge(seen.number, by: "mailer")
        let pin = store.pin(at: moments[10])
        let head = try store.head()
        let plan = try store.truncationPlan(through: head)
        #expect(plan.holds.map(\.kind) == [.context, .subscription, .tag] && plan.baseline == nil)
        #expect(plan.holds.map(\.eventNumber) == [moments[10], moments[15], moments[20]])
        #expect(try store.truncateHistory(through: head, note).baseline?.event == moments[10])
        pin.move(to: head)
        #expect(try store.truncateHistory(through: head, note).baseline?.event == moments[15])
        #expect(try store.transactions(after: seen.number, limit: 1).first?.number.rawValue == seen.number.rawValue + 1)
        let forced = try store.truncateHistory(through: head, force: .holds, note)
        #expect(forced.baseline?.event == head)
        #expect(try store.tags().isEmpty)
        let error = #expect(throws: StrataError.self) { try store.transactions(after: seen.number, limit: 1) }
        #expect(error?.code == .historyDropped && error?.context.baseline?.eventNumber == head)
        #expect(try store.verify().isSound)
    }

    @Test func tagsAndMetadataInForceSurvive() throws {
        try withTemporaryDirectory { folder in
            let fixture = try StoreFixture()
            let store = fixture.store
            try store.setTag("moved", at: store.head(), note)
            try store.setTag("removed", at: store.head(), note)
            try store.changeMetadata(note) { $0 = ["a": .integer(1), "b": .integer(1)] }
            _ = try fixture.insert("Owner", ["name": .string("one")])
            let last = try store.head()
            try store.setTag("moved", at: last, note)
            _ = try store.removeTag("removed", note)
            try store.changeMetadata(note) { $0["a"] = .integer(2) }
            try store.changeMetadata(note) { $0["b"] = .null }
            for size in [1, 100] {
                _ = try store.truncateHistory(through: last, note, limits: limits(size))
                #expect(try store.verify().isSound)
                let copy = folder.appending(path: "\(size).strata")
                _ = try store.replay(through: store.head(), to: copy)
                let replayed = try Store.open(.directory(copy), model: MovieModel.make())
                defer { replayed.close() }
                #expect(try replayed.tags() == ["moved": last])
                #expect(try replayed.metadata() == ["a": .integer(2)])
                _ = try fixture.insert("Owner", ["name": .string("\(size)")])
            }
            _ = try store.truncateHistory(through: store.head(), force: .holds, note, limits: limits(3))
            #expect(try store.tags().isEmpty)
            #expect(try store.metadata() == ["a": .integer(2)])
            #expect(try store.verify().isSound)
        }
    }

    // MARK: Objects and values

    @Test func aDeletedObjectIsForgottenAndMayBeRestored() throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let (one, two) = (
            try fixture.insert("Owner", ["name": .string("one")]), try fixture.insert("Owner", ["name": .string("two")])
        )
        try fixture.delete(one)
        try fixture.delete(two)
        let cut = try store.head()
        var changes = try fixture.changes()
        changes.insertions.append(.init(id: two, image: try fixture.image("Owner", ["name": .string("again")])))
        try fixture.save(changes)
        _ = try store.truncateHistory(through: cut, note)
        #expect(try store.verify().problems.map(\.description) == [])
        #expect(try store.history(of: one).isEmpty && store.history(of: two).map(\.kind) == [.inserted])
        #expect(try store.deletedObjects(of: one.entityID, limit: 10).isEmpty)
        changes = try fixture.changes()
        changes.insertions.append(.init(id: one, image: try fixture.image("Owner", ["name": .string("one")])))
        try fixture.save(changes)
        try fixture.delete(two)
        #expect(try store.rebuild().isUnchanged)
        _ = try store.truncateHistory(through: store.head(), note)
        #expect(try store.verify().problems.map(\.description) == [])
        #expect(try store.rebuild().isUnchanged)
    }

    @Test func aLargeValueBehindTheCutIsFoundInTheBaseline() throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let long = String(repeating: "long ", count: 1000)
        let id = try fixture.insert("Movie", ["title": .string("short"), "rating": .double(1)])
        try fixture.update(id, ["title": .string(long)])
        try fixture.update(id, ["rating": .double(2)])
        let cut = try store.head()
        try fixture.update(id, ["title": .string("other")])
        _ = try store.truncateHistory(through: cut, note)
        let events = try store.history(of: id)
        #expect(events.count == 1)
        let entity = try fixture.entity("Movie"), title = try #require(entity.property(named: "title"))
        try store.read(at: cut) { snapshot in
            let row = try #require(try snapshot.row(id))
            let value = try row.converted(to: entity).withReader(entity.layout) { reader throws(CorruptRecord) in
                try reader.value(title.slot)
            }
            #expect(value == .string(long))
        }
        guard case .updated(let changes) = try store.resolved(events[0]).payload else {
            Issue.record("no update")
            return
        }
        #expect(changes.first?.before == .value(.string(long)))
    }

    @Test func whatAModelLeftBehindIsGoneBehindTheCut() throws {
        let wide = try MovieModel.make(extraAttributes: [
            .attribute(AttributeDescription(name: "note", type: .string, isOptional: true))
        ])
        let fixture = try StoreFixture(model: wide)
        let store = fixture.store
        var ids: [ObjectID] = []
        for number in 0..<6 {
            ids.append(try fixture.insert("Movie", ["title": .string("\(number)"), "note": .string("n\(number)")]))
        }
        try fixture.update(ids[0], ["note": .string("other")])
        let entities = wide.entities.map { entity -> EntityDescription in
            guard entity.name == "Movie" else { return entity }
            return EntityDescription(
                name: entity.name, properties: entity.properties.filter { $0.name != "note" },
                indexes: [FetchIndexDescription(name: "byYear", elements: [FetchIndexElement("year")])])
        }
        try store.adopt(ManagedObjectModel(entities: entities))
        let installed = try store.head()
        try fixture.update(ids[1], ["title": .string("after")])
        try fixture.delete(ids[2])
        let cut = try store.head()
        try fixture.update(ids[3], ["title": .string("later")])
        try fixture.update(ids[1], ["title": .string("later still")])
        for moment in [installed, cut, try store.head()] {
            _ = try store.truncateHistory(through: moment, note, limits: limits(1))
            #expect(try store.verify().problems.map(\.description) == [])
            #expect(try store.rebuild().isUnchanged)
        }
    }

    @Test func largeValuesBehindTheCutAreSwept() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Photo",
                properties: [
                    .attribute(
                        AttributeDescription(
                            name: "bytes", type: .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true))
                ])
        ])
        try withTemporaryDirectory { folder in
            let fixture = try StoreFixture(.directory(folder.appending(path: "a.strata")), model: model)
            let store = fixture.store
            let lease = try store.beginBlobLease()
            let blobs = try (0..<4).map { try store.stageBlob(Data(repeating: UInt8($0), count: 40_000)) }
            let kept = try fixture.insert("Photo", ["bytes": .blob(blobs[0])])
            let gone = try fixture.insert("Photo", ["bytes": .blob(blobs[1])])
            try fixture.update(kept, ["bytes": .blob(blobs[2])])
            try fixture.delete(gone)
            try fixture.update(kept, ["bytes": .blob(blobs[3])])
            withExtendedLifetime(lease) {}
            let cut = try store.head()
            try fixture.update(kept, ["bytes": .null])
            _ = try store.truncateHistory(through: cut, note, limits: limits(2))
            #expect(try store.verify().problems.map(\.description) == [])
            #expect(try store.rebuild().isUnchanged)
        }
    }
}

/// A directory that is removed at the end.
private func withTemporaryDirectory(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(component: "truncation-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
}
