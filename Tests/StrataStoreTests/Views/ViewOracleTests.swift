import Foundation
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Random histories: after each save, every view has the rows that plain values give. A long run sets `STRATA_SEEDS` and
/// `STRATA_VIEW_STEPS`.
@Suite struct ViewOracleTests {
    @Test(arguments: RandomTesting.seeds(unlessAsked: [3, 8, 13, 34]), ViewUpkeep.allCases)
    func viewsAreWhatTheirDefinitionsSay(seed: UInt64, upkeep: ViewUpkeep) throws {
        var oracle = try ViewOracle(seed: seed, upkeep)
        let asked = ProcessInfo.processInfo.environment["STRATA_VIEW_STEPS"].flatMap(Int.init)
        let steps = asked ?? (upkeep == .inline ? 50 : 30)
        for step in 0..<steps {
            try oracle.stepSometimesWithoutTypes()
            let isBuilding = try oracle.changeModel()
            if upkeep == .catchingUp || isBuilding {
                try oracle.keepSomeViews()
                if step % 10 == 0 {
                    let report = try oracle.fixture.store.verify()
                    #expect(report.isSound, "seed \(seed), step \(step): \(report.problems)")
                }
            }
            if let problem = try oracle.difference() {
                Issue.record("seed \(seed), step \(step): \(problem)")
                return
            }
        }
        for (eventNumber, objects) in oracle.history.enumerated().filter({ $0.offset % 7 == 0 }).map(\.element) {
            let problem = try oracle.difference(at: eventNumber, objects)
            #expect(problem == nil, "seed \(seed), event \(eventNumber)")
        }
        #expect(try oracle.fixture.store.verify().isSound, "seed \(seed)")
        try oracle.fixture.store.keepViews()
        #expect(try oracle.fixture.store.viewStates().allSatisfy { $0.upkeep.phase == .live }, "seed \(seed)")
        #expect(try oracle.fixture.store.verify().isSound, "seed \(seed)")
        #expect(try oracle.fixture.store.rebuild().isUnchanged, "seed \(seed)")
        var limits = RebuildLimits(eventsInOneCommit: 0, bytesInOneCommit: 0, stepInBytes: 2_000)
        limits.batchInBytes = 900
        #expect(try oracle.fixture.store.rebuild(limits).isUnchanged, "seed \(seed)")
    }
}

/// A store beside plain values of its objects.
struct ViewOracle {
    let fixture: StoreFixture
    private var generator: SeededGenerator
    /// Works, studios and countries.
    private(set) var objects: [ObjectID: [String: AttributeValue]] = [:]
    private(set) var history: [(EventNumber, [ObjectID: [String: AttributeValue]])] = []
    private var views: [ViewDescription]
    /// The number of the attribute that the model has beside the others; 0 for none.
    private var extra = 0
    private static let titles = ["A", "é", "e\u{301}", "", String(repeating: "long ", count: 80)]

    init(seed: UInt64, _ upkeep: ViewUpkeep = .inline) throws {
        var options = StoreOptions.gathering(seed)
        options.viewKeeping = .byHand
        options.viewStepLimits.objects = 5
        if seed % 3 == 0 { options.viewStepLimits.events = 40 }
        views = try FilmViews.all().enumerated().map { index, view in
            var view = view
            // Other oracles keep their own code.
            let code = FilmViews.bag("FilmViews.Bag\(seed)\(upkeep)")
            for place in view.aggregates.indices where view.aggregates[place].projection != nil {
                view.aggregates[place].projection?.typeName = code.typeName
                code.register()
            }
            // Some are inline beside them.
            if upkeep == .catchingUp, UInt64(index) % 4 != seed % 4 { view.upkeep = .catchingUp }
            return view
        }
        fixture = try StoreFixture(model: try FilmViews.model(views), options: options)
        generator = SeededGenerator(seed: seed)
    }

    /// Sometimes installs another model: other versions of some views, another way to keep them, none of them for a
    /// while, or one more attribute.
    ///
    /// - Returns: whether a view may be under construction.
    mutating func changeModel() throws -> Bool {
        if Int.random(in: 0..<12, using: &generator) == 0 {
            for index in views.indices where Int.random(in: 0..<4, using: &generator) == 0 {
                views[index].version += 1
                if Bool.random(using: &generator) { views[index].upkeep = .inline }
            }
            if Bool.random(using: &generator) { extra += 1 }
            let attribute = AttributeDescription(name: "extra\(extra)", type: .integer32, defaultValue: .integer(1))
            try fixture.store.adopt(try FilmViews.model(views, extra: extra > 0 ? [.attribute(attribute)] : []))
        }
        return try fixture.store.viewStates().contains { $0.upkeep.phase != .live || $0.upkeep.lagInEvents > 0 }
    }

    /// Sometimes the process that saves does not have the types of the app.
    mutating func stepSometimesWithoutTypes() throws {
        guard Int.random(in: 0..<5, using: &generator) == 0 else { return try step() }
        let names = views.flatMap(\.aggregates).compactMap(\.projection?.typeName)
        names.forEach { ProjectionCode.forget($0) }
        defer { names.forEach { FilmViews.bag($0).register() } }
        try step()
        try keepSomeViews()
        if Int.random(in: 0..<4, using: &generator) == 0 {
            let report = try fixture.store.verify()
            #expect(report.isSound && report.uncheckedViews == ["Bags", "ByTag"], "\(report.problems)")
        }
    }

    /// Makes some steps of some views that catch up, or none, or all.
    mutating func keepSomeViews() throws {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try fixture.store.keepViews()
        case 1...4: try fixture.store.keepViews(steps: Int.random(in: 1...2, using: &generator))
        default: return
        }
    }

    mutating func step() throws {
        var changes = try fixture.changes()
        var touched: Set<ObjectID> = []
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            switch Int.random(in: 0..<15, using: &generator) {
            case 12...14: try changeTags(&changes, &touched)
            case 0...4: try insert(&changes, &touched)
            case 5...8: try update(&changes, &touched)
            case 9...10: try delete(&changes, &touched)
            default: try changeFarEnd(&changes, &touched)
            }
        }
        guard !changes.isEmpty else { return }
        changes.insertions.sort { $0.id < $1.id }
        let receipt = try fixture.save(changes)
        history.append((receipt.eventNumber, objects))
    }

    private mutating func insert(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        var values = try someValues(touched)
        if values["released"] == nil { values["released"] = .boolean(false) }
        let entity = Bool.random(using: &generator) ? "Film" : "Series"
        let id = try fixture.insert(entity, values, into: &changes)
        touched.insert(id)
        objects[id] = values
    }

    private func living(_ entity: String, _ touched: Set<ObjectID>) throws -> [ObjectID] {
        let id = try fixture.entity(entity).id
        return objects.keys.filter { $0.entityID == id && !touched.contains($0) }.sorted()
    }

    /// Makes, links, unlinks or deletes a tag.
    private mutating func changeTags(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        let known = try living("Tag", touched)
        if known.count < 3 {
            let id = try fixture.insert("Tag", ["name": .string("t")], into: &changes)
            (objects[id], _) = ([:], touched.insert(id))
            return
        }
        let tag = known.randomElement(using: &generator) ?? known[0]
        if Int.random(in: 0..<8, using: &generator) == 0 {
            changes.deletions.append(.init(id: tag, baseRevision: try fixture.revision(of: tag)))
            objects[tag] = nil
            for id in objects.keys { setTag(tag, of: id, isLinked: false) }
            touched.insert(tag)
            return
        }
        guard let work = try works(touched).randomElement(using: &generator) else { return }
        let isLinked = tags(of: work)["\(tag)"] != nil
        let property = try fixture.property("Film", "tags")
        guard case .pair(let canonical)? = property.relationship?.truth else { return }
        let isForward = canonical == property.id
        let key = PairKey(property: canonical, source: isForward ? work : tag, target: isForward ? tag : work)
        changes.pairs.append(.init(key: key, kind: isLinked ? .unlink : .link(PairPositions())))
        setTag(tag, of: work, isLinked: !isLinked)
        touched.formUnion([tag, work])
    }

    private func tags(of id: ObjectID) -> [String: AttributeValue] {
        if case .composite(let tags)? = objects[id]?["tags"] { tags } else { [:] }
    }

    private mutating func setTag(_ tag: ObjectID, of id: ObjectID, isLinked: Bool) {
        var tags = tags(of: id)
        tags["\(tag)"] = isLinked ? .objectID(tag) : nil
        objects[id]?["tags"] = .composite(tags)
    }

    /// Makes or changes a studio or a country.
    private mutating func changeFarEnd(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        let entity = Int.random(in: 0..<3, using: &generator) == 0 ? "Country" : "Studio"
        let known = try living(entity, touched)
        var values: [String: AttributeValue] = [
            "name": .string(["x", "y", "z"].randomElement(using: &generator) ?? "")
        ]
        if entity == "Studio" {
            values["stars"] =
                Bool.random(using: &generator)
                ? .null : .integer(Int64.random(in: 0...4, using: &generator))
            let country = try living("Country", touched).randomElement(using: &generator)
            values["country"] = country.map(AttributeValue.objectID) ?? .null
        }
        let id: ObjectID
        if known.count < 4 {
            id = try fixture.insert(entity, values, into: &changes)
            objects[id] = values
        } else {
            id = known.randomElement(using: &generator) ?? known[0]
            try fixture.update(id, values, in: &changes)
            for (name, value) in values { objects[id]?[name] = value }
        }
        touched.insert(id)
    }

    private mutating func someValues(_ touched: Set<ObjectID>) throws -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        func often() -> Bool { Int.random(in: 0..<3, using: &generator) > 0 }
        func maybe(_ value: AttributeValue) -> AttributeValue {
            Int.random(in: 0..<6, using: &generator) == 0 ? .null : value
        }
        if often() { values["title"] = maybe(.string(Self.titles.randomElement(using: &generator) ?? "")) }
        if often() { values["year"] = maybe(.integer(Int64.random(in: 1960...1963, using: &generator))) }
        if often() {
            let cents = Decimal(Int64.random(in: -500...100_000, using: &generator))
            values["gross"] = maybe(.decimal(cents / pow(10, Int.random(in: 0...3, using: &generator))))
        }
        if often() {
            let ratings: [Double] = [0.1, 0.2, 0.3, 4.5, -0.0, 0, 1e6, 1.0 / 3]
            values["rating"] = maybe(.double(ratings.randomElement(using: &generator) ?? 0))
        }
        if often() {
            let weights: [Float] = [0.1, 0.25, -7.3, 1e5]
            values["weight"] = maybe(.float(weights.randomElement(using: &generator) ?? 0))
        }
        if often() {
            let reaches: [Double] = [9, 4e7, 3e9]
            let reach: Double = reaches.randomElement(using: &generator) ?? 9
            let date = Date(timeIntervalSinceReferenceDate: .random(in: -reach...reach, using: &generator))
            values["shown"] = maybe(.date(date))
        }
        if often() { values["released"] = .boolean(Bool.random(using: &generator)) }
        if often() {
            let studio = try living("Studio", touched).randomElement(using: &generator)
            values["studio"] = maybe(studio.map(AttributeValue.objectID) ?? .null)
        }
        return values
    }

    private mutating func update(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        guard let id = try works(touched).randomElement(using: &generator) else { return }
        let values = try someValues(touched)
        guard !values.isEmpty else { return }
        try fixture.update(id, values, in: &changes)
        touched.insert(id)
        for (name, value) in values { objects[id]?[name] = value }
    }

    private func works(_ touched: Set<ObjectID>) throws -> [ObjectID] {
        try living("Film", touched) + living("Series", touched)
    }

    private mutating func delete(_ changes: inout ChangeSet, _ touched: inout Set<ObjectID>) throws {
        guard let id = try works(touched).randomElement(using: &generator) else { return }
        changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
        touched.insert(id)
        objects[id] = nil
    }

    // MARK: Comparing

    /// A work's values with those behind its to-ones.
    private func withFarValues(
        _ values: [String: AttributeValue], _ objects: [ObjectID: [String: AttributeValue]]
    ) -> [String: AttributeValue] {
        var values = values
        guard case .objectID(let studio)? = values["studio"], let far = objects[studio] else { return values }
        for (name, value) in far { values["studio.\(name)"] = value }
        guard case .objectID(let country)? = far["country"], let further = objects[country] else { return values }
        for (name, value) in further { values["studio.country.\(name)"] = value }
        return values
    }

    func difference() throws -> String? { try difference(at: try fixture.store.head(), objects) }

    /// What a view says that the plain values do not, or the reverse.
    func difference(
        at eventNumber: EventNumber, _ objects: [ObjectID: [String: AttributeValue]]
    ) throws -> String? {
        for view in try FilmViews.all() {
            let film = try fixture.entity("Film").id
            let series = try fixture.entity("Series").id
            let entities =
                switch view.entityName {
                case "Work": [film, series]
                case "Studio": [try fixture.entity("Studio").id]
                default: [film]
                }
            let own = objects.filter { entities.contains($0.key.entityID) }
            let plain = own.map { id, values in
                let works = objects.filter { $0.value["studio"] == .objectID(id) }.keys
                let members = Dictionary(uniqueKeysWithValues: works.map { ("\($0)", AttributeValue.objectID($0)) })
                return withFarValues(values, objects)
                    .merging(["SELF": .objectID(id), "works": .composite(members)]) { $1 }
            }
            let expected = try PlainView(view, plain).rows()
            let problem = try fixture.store.read(at: eventNumber) { snapshot -> String? in
                let rows = try snapshot.rows(ViewRequest(view.name)).map(Array.init)
                let found = rows.map(Self.text).sorted()
                if found != expected {
                    return "\(view.name) has \(found.filter { !expected.contains($0) }), "
                        + "not \(expected.filter { !found.contains($0) })"
                }
                // Requests for some rows take long, and each state is much like the one before.
                return history.count % 9 == 0 ? try ViewReading(view, rows).problem(snapshot) : nil
            }
            if let problem { return problem }
        }
        return nil
    }

    static func text(_ row: [AttributeValue]) -> String {
        row.map { "\(PlainView.normal($0))" }.joined(separator: " | ")
    }
}
