import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Dropping the replaced values of one entity, against plain dictionaries that say what each state held.
@Suite struct ThinningTests {
    private var note: MaintenanceNote { MaintenanceNote(author: "ann", metadata: ["strata.reason": "a month"]) }

    /// Drops values of movies up to a moment, and compares every state with what it was.
    private func thin(_ oracle: inout StoreOracle, through cut: EventNumber, _ size: Int, _ place: String) throws {
        let store = oracle.fixture.store
        let movie = try oracle.fixture.entity("Movie").id
        let head = try store.head()
        let kept = oracle.history.filter { $0.eventNumber >= cut }
        let before = try kept.map { try store.netChanges(from: $0.eventNumber.advanced(by: 1), through: head) }
        let planned = try store.thinningPlan(of: ["Movie"], through: cut).changedEvents
        let report = try store.thinHistory(of: ["Movie"], through: cut, note, limits: TrimLimits(events: size))
        #expect(report.changedEvents == planned && report.holds.isEmpty, "\(place)")
        let after = try kept.map { try store.netChanges(from: $0.eventNumber.advanced(by: 1), through: head) }
        #expect(after == before, "\(place)")
        try compare(oracle, cut, place)
        let titles = try #require(oracle.history.last { $0.eventNumber <= cut }).moment.objects
            .mapValues { $0["title"] }
        try store.readLog { log, _ in
            try log.events(from: EventNumber(rawValue: 1), through: cut, .whole) { event, number in
                guard event.header.object.entityID == movie, event.header.kind.isOnRow else { return true }
                for text in try texts(RecordedEvent(event, number, log.histories)) where !text.isEmpty {
                    #expect(titles[event.header.object] == .string(text), "\(place), event \(number)")
                }
                return true
            }
            // Another look from the beginning finds nothing more to drop.
            var anew = Thinning([movie], after: .zero, through: cut)
            var step = ThinningStep()
            while !step.isDone {
                step = try anew.plan(over: 1_000_000, store.file, log.transaction)
                #expect(step.changedEvents == 0, "\(place)")
            }
        }
        if report.changedEvents > 0 { oracle.history.append((try store.head(), oracle.now)) }
    }

    /// States from the cut on are what they were. Earlier ones are that, or say that values are gone.
    private func compare(_ oracle: StoreOracle, _ cut: EventNumber, _ place: String) throws {
        let store = oracle.fixture.store
        for (eventNumber, moment) in oracle.history {
            do {
                #expect(try oracle.read(at: eventNumber) == moment, "\(place), event \(eventNumber)")
            } catch let error as StrataError {
                #expect(eventNumber < cut && error.code == .historyDropped, "\(place), event \(eventNumber): \(error)")
                #expect(error.context.entityName == "Movie" && error.context.baseline?.eventNumber ?? .zero >= cut)
            }
            // Objects of other entities are all there.
            for (id, values) in moment.objects where store.schema.entity(id.entityID)?.name == "Owner" {
                let name = try store.read(at: eventNumber) { snapshot in
                    let owner = try oracle.fixture.entity("Owner")
                    let image = try #require(try snapshot.row(id)).converted(to: owner)
                    return try image.withReader(owner.layout) { reader throws(CorruptRecord) in
                        try reader.value(owner.property(named: "name")?.slot ?? 0)
                    }
                }
                #expect(name == values["name"] ?? .null, "\(place), event \(eventNumber)")
            }
        }
    }

    private func texts(_ event: RecordedEvent) -> [String] {
        let values: [RecordedValue] =
            switch event.payload {
            case .inserted(let values), .deleted(let values): values.map(\.value)
            case .updated(let changes): changes.flatMap { [$0.before, $0.after] }
            default: []
            }
        return values.compactMap { if case .value(.string(let text)) = $0 { text } else { nil } }
    }

    private func checkWhole(_ store: Store, _ place: String) throws {
        let report = try store.verify()
        #expect(report.problems.map(\.description) == [], "\(place)")
        #expect(!report.hasUnfinishedThinning, "\(place)")
        #expect(try store.rebuild().isUnchanged, "\(place)")
        let small = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 1)
        #expect(try store.rebuild(small).isUnchanged, "\(place)")
    }

    @Test(arguments: RandomTesting.seeds, [1, 7, 10_000])
    func statesFromTheCutOnAreWhatTheyWereAndEarlierOnesSayWhatIsGone(seed: UInt64, size: Int) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<80 { try oracle.step() }
        let cut = oracle.history[oracle.history.count / 2].eventNumber
        try thin(&oracle, through: cut, size, "seed \(seed)")
        try checkWhole(oracle.fixture.store, "seed \(seed)")
        for _ in 0..<10 { try oracle.step() }
        try checkWhole(oracle.fixture.store, "seed \(seed)")
    }

    /// Also with events in blocks, truncations and erasures between.
    @Test(arguments: RandomTesting.seeds.prefix(6)) func aHistoryIsThinnedAgainAndAgain(seed: UInt64) throws {
        let place = try ErasureFolder()
        defer { withExtendedLifetime(place) {} }
        let folder = place.url
        var oracle = try StoreOracle(seed: seed, .directory(folder.appending(path: "a.strata")))
        let store = oracle.fixture.store
        for round in 0..<8 {
            let comment = "seed \(seed), round \(round)"
            for _ in 0..<15 { try oracle.step() }
            if round % 2 == 1 { try EventBlockStoreTests.pack(store) }
            if round == 4 {
                let end = oracle.history[oracle.history.count / 3].eventNumber
                _ = try store.truncateHistory(through: end, note, limits: TrimLimits(events: 5))
                oracle.history.removeAll { $0.eventNumber < end }
            }
            if round == 6 { try oracle.erase(after: .zero) }
            let cut = oracle.history[oracle.history.count - 1 - round % 3 * 4].eventNumber
            try thin(&oracle, through: cut, 5 + round, comment)
            try checkWhole(store, comment)
        }
        let copy = folder.appending(path: "b.strata")
        #expect(try store.replay(through: try store.head(), to: copy).verification.isSound)
        let copied = try Store.open(.directory(copy), model: MovieModel.make())
        defer { copied.close() }
        #expect(try copied.thinnedEntities().mapValues(\.cut) == store.thinnedEntities().mapValues(\.cut))
        #expect(try copied.verify().isSound && copied.rebuild().isUnchanged)
        let first = try #require(oracle.history.first).eventNumber
        let error = #expect(throws: StrataError.self) {
            try store.replay(through: first, to: folder.appending(path: "c.strata"))
        }
        #expect(error?.code == .historyDropped)
    }

    @Test(arguments: RandomTesting.seeds.prefix(4))
    func aThinningThatIsStoppedAnywhereLeavesAWholeStoreAndIsTakenUp(seed: UInt64) throws {
        var oracle = try StoreOracle(seed: seed)
        for _ in 0..<30 { try oracle.step() }
        let store = oracle.fixture.store
        let cut = oracle.history[oracle.history.count - 5].eventNumber
        for stop in [1, 5, 12, 25] {
            var left = stop
            let report = try store.thinHistory(
                of: ["Movie"], through: cut, note, limits: TrimLimits(events: 3),
                while: {
                    left -= 1
                    return left > 0
                })
            let verified = try store.verify()
            #expect(verified.problems.map(\.description) == [], "seed \(seed), stop \(stop)")
            #expect(try store.rebuild().isUnchanged, "seed \(seed), stop \(stop)")
            if report.changedEvents > 0, stop < 12 { #expect(verified.hasUnfinishedThinning) }
            try compare(oracle, cut, "seed \(seed), stop \(stop)")
        }
        let count = try store.transactions(limit: 1000).count
        try thin(&oracle, through: cut, 4, "seed \(seed)")
        #expect(try store.transactions(limit: 1000).count == count, "a thinning that is taken up is recorded once")
        try checkWhole(store, "seed \(seed)")
        #expect(try store.thinHistory(of: ["Movie"], through: cut, note).cut == .zero)
    }

    @Test func tagsAndPinsHoldTheHistoryThatTheyNeed() throws {
        var oracle = try StoreOracle(seed: 4)
        for _ in 0..<30 { try oracle.step() }
        let store = oracle.fixture.store
        let (early, late) = (oracle.history[10], oracle.history[20])
        try store.setTag("kept", at: early.eventNumber, note)
        let pin = store.pin(at: late.eventNumber)
        let report = try store.thinHistory(of: ["Movie"], through: store.head(), note)
        #expect(report.cut == early.eventNumber && report.holds.map(\.kind) == [.tag, .context])
        #expect(try oracle.read(at: early.eventNumber) == early.moment)
        let forced = try store.thinHistory(of: ["Movie"], through: store.head(), force: .holds, note)
        #expect(forced.cut > late.eventNumber)
        #expect(try store.tags() == ["kept": early.eventNumber])
        withExtendedLifetime(pin) {}
        let error = #expect(throws: StrataError.self) { try oracle.read(at: early.eventNumber) }
        #expect(error?.code == .historyDropped)
        #expect(throws: StrataError.self) { try store.thinHistory(of: ["Film"], through: store.head(), note) }
    }

    @Test func verificationFindsEventsThatNoThinningSpeaksOf() throws {
        var oracle = try StoreOracle(seed: 6)
        for _ in 0..<30 { try oracle.step() }
        let store = oracle.fixture.store
        _ = try store.thinHistory(of: ["Movie"], through: store.head(), note)
        let movie = try oracle.fixture.entity("Movie").id
        let report = try store.verify()
        #expect(report.isSound && report.thinnedEventCount > 0)
        #expect(report.thinnings.map(\.entities) == [["Movie"]] && report.thinnings.first?.transaction?.author == "ann")
        try store.file.write { transaction in
            let less = ThinnedEntity(cut: EventNumber(rawValue: 2), done: .zero, record: .zero)
            try ThinnedEntities.put(less, movie, transaction, store.file.tables)
        }
        #expect(try store.verify().problems.map(\.location) == ["thinned"])
        try store.file.write { transaction in
            let cut = try #require(report.thinnings.first).cut
            let sound = ThinnedEntity(cut: cut, done: cut, record: .zero)
            try ThinnedEntities.put(sound, movie, transaction, store.file.tables)
        }
    }
}
