import Foundation
import Locking
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Random histories with everything that takes values out of the log, and steps of views that are written long after they
/// were made: after each piece of work, the records of every view are, byte for byte, those that its definition gives.
/// A long run sets `STRATA_SEEDS` and `STRATA_VIEW_STEPS`.
@Suite struct UpkeepOracleTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: [1, 2, 5, 8, 12]))
    func recordsAreThoseOfTheObjectsWheneverAStepIsWritten(seed: UInt64) throws {
        let world = try UpkeepWorld(seed: seed)
        defer { world.end() }
        let asked = ProcessInfo.processInfo.environment["STRATA_VIEW_STEPS"].flatMap(Int.init)
        for step in 0..<(asked ?? 30) {
            let work = try world.step()
            let report = try world.store.verify()
            guard report.isSound else {
                Issue.record("seed \(seed), step \(step), \(work): \(report.problems.map(\.description))")
                return
            }
        }
        try world.removeHostileObjects()
        for name in try world.store.viewStates().map(\.description.name) {
            if case .failed = try world.store.viewState(name).phase { try world.store.retryView(name) }
        }
        try world.store.keepViews()
        #expect(try world.store.viewStates().allSatisfy { $0.upkeep.phase == .live }, "seed \(seed)")
        #expect(try world.store.verify().isSound, "seed \(seed)")
        for view in try world.store.viewStates() {
            #expect(try world.store.rebuild(view: view.description.name), "seed \(seed), \(view.description.name)")
        }
        #expect(try world.store.rebuild().isUnchanged, "seed \(seed)")
        #expect(try world.store.verify().isSound, "seed \(seed)")
    }
}

/// A store with views, and random work on it. One thread at a time uses it: a worker calls it between the making and the
/// writing of a step.
private final class UpkeepWorld: @unchecked Sendable {
    private var fixture: StoreFixture
    private let directory: URL?
    private let options: StoreOptions
    private var generator: SeededGenerator
    private var views: [ViewDescription]
    private var extra = 0
    /// Steps that were made while others were written, by view.
    private var held: [String: ViewStep] = [:]
    /// How deep the work is within other work.
    private var depth = 0
    /// Each has an id of its own.
    private var note: MaintenanceNote { MaintenanceNote(author: "test") }

    var store: Store { fixture.store }

    init(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var options = StoreOptions.gathering(seed)
        options.viewKeeping = .byHand
        options.viewStepLimits.objects = [3, 5, 1000].randomElement(using: &generator) ?? 5
        if seed % 3 == 0 { options.viewStepLimits.events = 40 }
        var hostile = ViewDescription(
            name: "Hostile", entityName: "Work", where: try FetchPredicate(format: "NOT 'x' MATCHES title"),
            keys: [ViewKey("title")], aggregates: [ViewAggregate("works", .count), ViewAggregate("g", .sum, "gross")])
        hostile.orders = [ViewOrder("g", isRanked: true)]
        views = (try FilmViews.all() + [hostile]).map { view in
            var view = view
            // Types of the app have tests of their own.
            view.aggregates.removeAll { $0.projection != nil }
            if Int.random(in: 0..<3, using: &generator) > 0 { view.upkeep = .catchingUp }
            return view
        }
        directory =
            seed % 4 == 0
            ? FileManager.default.temporaryDirectory.appending(path: "upkeep-\(UUID().uuidString).strata") : nil
        fixture = try StoreFixture(
            directory.map { .directory($0) } ?? .inMemory, model: try FilmViews.model(views), options: options)
        (self.options, self.generator) = (options, generator)
    }

    func end() {
        guard let directory else { return }
        store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    private func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

    // MARK: Work

    /// Does some work.
    ///
    /// - Returns: what it was.
    func step() throws -> String {
        depth += 1
        defer { depth -= 1 }
        switch Int.random(in: 0..<20, using: &generator) {
        case 0...6:
            try save()
            return "save"
        case 7...10: return try advance()
        case 11...12: return try erase()
        case 13: return try truncate()
        case 14: return try thin()
        case 15: return try changeModel()
        case 16:
            try store.keepViews(steps: chance(2) ? nil : 1)
            return "keep"
        case 17: return try rebuild()
        case 18: return try mend()
        default: return try reopen()
        }
    }

    /// Makes a step of a view, or takes one that was made earlier, and writes it, perhaps after other work.
    private func advance() throws -> String {
        let names = try store.viewWorker().views()
        guard let name = names.randomElement(using: &generator) else { return "nothing to advance" }
        let (direct, isOver) = (store.jobsOnWriter(), Locked(depth > 2))
        let done = Locked<[String]>([])
        var worker = ViewWorker(file: store.file) { [self] job in
            let isFirst = isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
            for _ in 0..<(isFirst ? 2 : 0) {
                let work = try step()
                done.withLock { $0.append(work) }
            }
            try direct(job)
        }
        worker.limits = options.viewStepLimits
        var prepared = held.removeValue(forKey: name)
        do {
            _ = try worker.advance(name, &prepared)
        } catch let error as StrataError where error.code == .storeClosed {
            // It was opened anew in between.
        }
        held[name] = prepared
        return "advance \(name) with \(done.withLock { $0 }) in between"
    }

    private func changeModel() throws -> String {
        for index in views.indices where chance(4) {
            views[index].version += 1
            if chance(2) { views[index].upkeep = chance(2) ? .inline : .catchingUp }
        }
        if chance(2) { extra += 1 }
        let attribute = AttributeDescription(name: "extra\(extra)", type: .integer32, defaultValue: .integer(1))
        try removeHostileObjects()
        try store.adopt(try FilmViews.model(views, extra: extra > 0 ? [.attribute(attribute)] : []))
        return "another model"
    }

    private func rebuild() throws -> String {
        if chance(3) {
            var limits = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 2_000)
            limits.batchInBytes = 900
            let report = try chance(2) ? store.rebuild(limits) : store.rebuild()
            #expect(report.isUnchanged)
            return "rebuild"
        }
        let name = views.randomElement(using: &generator)?.name ?? ""
        do {
            #expect(try store.rebuild(view: name), "\(name)")
        } catch let error as StrataError where error.code == .invalidRequest && name == "Hostile" {
            // An object cannot be grouped.
        }
        return "rebuild of \(name)"
    }

    private func mend() throws -> String {
        guard case .failed = try store.viewState("Hostile").phase else { return "nothing to mend" }
        if chance(2), store.schema.model.view(named: "Hostile")?.upkeep == .catchingUp {
            try store.skipEvent(ofView: "Hostile")
            return "skip"
        }
        try store.retryView("Hostile")
        return "retry"
    }

    private func reopen() throws -> String {
        guard let directory, depth == 1 else { return "nothing to reopen" }
        let model = store.schema.model
        store.close()
        held = [:]
        fixture = try StoreFixture(.directory(directory), model: model, options: options)
        return "reopen"
    }

    // MARK: What goes from the log

    private func erase() throws -> String {
        let whole = chance(2)
        let entities = whole ? ["Film", "Series", "Studio", "Country", "Tag"] : ["Film", "Series"]
        let known = try objects(entities)
        let ids = (0..<3).compactMap { _ in known.randomElement(using: &generator) }
        guard !ids.isEmpty else { return "nothing to erase" }
        var request = ErasureRequest(objects: ids, note: note)
        if !whole {
            let sets = [["title"], ["gross", "year"], ["rating", "shown", "weight"]]
            request.attributes = sets.randomElement(using: &generator)
        }
        _ = try store.erase(request)
        return "erase \(ids.map { "\($0)" }), \(request.attributes ?? ["all"])"
    }

    private func moment() throws -> EventNumber {
        let first = try store.baseline()?.event ?? .zero
        let head = try store.head()
        let number = EventNumber(rawValue: UInt64.random(in: first.rawValue...head.rawValue, using: &generator))
        return try store.transaction(containing: max(number, first.advanced(by: 1)))?.lastEvent ?? head
    }

    private func truncate() throws -> String {
        let end = try chance(2) ? store.head() : moment()
        let limits = TrimLimits(events: Int.random(in: 5...200, using: &generator))
        let force: TruncationForce = chance(2) ? .holds : .none
        _ = try store.truncateHistory(through: end, force: force, note, limits: limits)
        return "truncate through \(end), \(force)"
    }

    private func thin() throws -> String {
        let end = try chance(2) ? store.head() : moment()
        let names = chance(2) ? ["Work"] : ["Studio", "Country"]
        let limits = TrimLimits(events: Int.random(in: 5...200, using: &generator))
        let force: TruncationForce = chance(2) ? .holds : .none
        _ = try store.thinHistory(of: names, through: end, force: force, note, limits: limits)
        return "thin \(names) through \(end), \(force)"
    }

    // MARK: Saves

    private func objects(_ names: [String]) throws -> [ObjectID] {
        try store.read(at: try store.head()) { snapshot in
            var found: [ObjectID] = []
            for name in names {
                guard let entity = snapshot.schema.entity(named: name) else { continue }
                try snapshot.scan(entity.id) { id, _ in
                    found.append(id)
                    return true
                }
            }
            return found
        }
    }

    func removeHostileObjects() throws {
        for id in try objects(["Film", "Series"]) where try fixture.values(id)?["title"] == .string("(") {
            try fixture.delete(id)
        }
    }

    /// Saves some changes; one that an inline view cannot follow is refused and leaves everything as it was.
    private func save() throws {
        var (changes, touched) = (try fixture.changes(), Set<ObjectID>())
        for _ in 0..<Int.random(in: 1...6, using: &generator) { try change(&changes, &touched) }
        guard !changes.isEmpty else { return }
        changes.insertions.sort { $0.id < $1.id }
        do {
            try fixture.save(changes)
        } catch let error as StrataError where error.code == .invalidRequest {
            #expect(error.message.contains("pattern"), "\(error)")
        }
    }

    private func change(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        func some(_ names: String...) throws -> ObjectID? {
            try objects(names).filter { !touched.contains($0) }.randomElement(using: &generator)
        }
        switch Int.random(in: 0..<12, using: &generator) {
        case 0...3:
            var values = try works(touched)
            if values["released"] == nil { values["released"] = .boolean(false) }
            touched.insert(try fixture.insert(chance(2) ? "Film" : "Series", values, into: &changes))
        case 4...6:
            let values = try works(touched)
            guard let id = try some("Film", "Series"), !values.isEmpty else { return }
            try fixture.update(id, values, in: &changes)
            touched.insert(id)
        case 7:
            guard let id = try some("Film", "Series") else { return }
            changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
            touched.insert(id)
        case 8...9: try changeFarEnd(&changes, &touched)
        default:
            guard let tag = try some("Tag"), let work = try some("Film", "Series") else {
                touched.insert(try fixture.insert("Tag", ["name": .string("t")], into: &changes))
                return
            }
            try link(work, tag, &changes)
            touched.formUnion([tag, work])
        }
    }

    private func link(_ work: ObjectID, _ tag: ObjectID, _ changes: inout ChangeSet) throws {
        let property = try fixture.property("Film", "tags")
        guard case .pair(let canonical)? = property.relationship?.truth else { return }
        let isForward = canonical == property.id
        let key = PairKey(property: canonical, source: isForward ? work : tag, target: isForward ? tag : work)
        let isLinked = try store.read(at: try store.head()) { try $0.pairState(key) != nil }
        changes.pairs.append(.init(key: key, kind: isLinked ? .unlink : .link(PairPositions())))
    }

    private func changeFarEnd(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        let entity = chance(3) ? "Country" : "Studio"
        let known = try objects([entity]).filter { !touched.contains($0) }
        var values: [String: AttributeValue] = [
            "name": .string(["x", "y", "é", "e\u{301}"].randomElement(using: &generator) ?? "")
        ]
        if entity == "Studio" {
            values["stars"] = chance(3) ? .null : .integer(Int64.random(in: 0...4, using: &generator))
            let country = try objects(["Country"]).filter { !touched.contains($0) }.randomElement(using: &generator)
            values["country"] = country.map(AttributeValue.objectID) ?? .null
        }
        if known.count < 4 {
            touched.insert(try fixture.insert(entity, values, into: &changes))
        } else if let id = known.randomElement(using: &generator) {
            try fixture.update(id, values, in: &changes)
            touched.insert(id)
        }
    }

    /// Values of a work. Some are equal without the same bytes, and some are long enough to be kept apart.
    private func works(_ touched: Set<ObjectID>) throws -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        func set(_ name: String, _ some: [AttributeValue]) {
            guard !chance(3) else { return }
            values[name] = chance(6) ? .null : some.randomElement(using: &generator)
        }
        let long = String(repeating: "long ", count: 80)
        let titles = ["A", "a", "é", "e\u{301}", "", long, long + "\(Int.random(in: 0..<9, using: &generator))"]
        set("title", titles.map { .string($0) } + [.string("t\(Int.random(in: 0..<60, using: &generator))")])
        if chance(25) { values["title"] = .string("(") }
        set("year", (1960...1963).map { .integer($0) })
        let cents = Decimal(Int64.random(in: -500...100_000, using: &generator)) / 100
        let decimals = [cents, 1, Decimal(sign: .plus, exponent: -2, significand: 100), 0, -1, .nan]
        set("gross", decimals.map { .decimal($0) })
        set(
            "rating",
            [0, -0.0, .nan, -.nan, .infinity, -.infinity, 1e300, -1e300, .leastNonzeroMagnitude, 0.1].map {
                .double($0)
            })
        set("weight", [0.1, -0.0, 0, .nan, -7.3, .greatestFiniteMagnitude].map { .float($0) })
        let seconds = [0, 7_300_000, 3e9, -3e9, Double.random(in: -4e7...4e7, using: &generator)]
        set("shown", seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) })
        if chance(2) { values["released"] = .boolean(chance(2)) }
        let studios = try objects(["Studio"]).filter { !touched.contains($0) }
        if !studios.isEmpty { set("studio", studios.map { .objectID($0) }) }
        return values
    }
}
