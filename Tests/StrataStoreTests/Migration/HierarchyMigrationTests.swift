import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Stores that go to and fro between random hierarchies, beside plain dictionaries: a property of an object is what the
/// model before has under its name or renaming identifier, wherever in the hierarchy either is declared.
struct HierarchyMigrationTests {
    @Test(
        arguments: RandomTesting.seeds(
            unlessAsked: Array(1...50) + [83, 89, 203, 238, 274, 377, 399, 497, 1238, 1307, 1556, 1894]))
    func everyObjectKeepsWhatItsEntityStillHas(seed: UInt64) throws {
        var run = HierarchyRun(seed: seed, .alone)
        defer { run.place.remove() }
        try run.run()
    }

    @Test(arguments: RandomTesting.seeds(unlessAsked: Array(1...25) + [377, 442, 573]))
    func bothEndsOfALinkShowIt(seed: UInt64) throws {
        var run = HierarchyRun(seed: seed, .withInverses)
        defer { run.place.remove() }
        try run.run()
    }
}

/// One store, three models, and what there should be.
private struct HierarchyRun {
    let place = MigratedStore()
    private let seed: UInt64
    private var generator: SeededGenerator
    private let models: [RandomHierarchy]
    /// By entity, model and name: which properties of the models are one.
    private var cells: [[[String: Int]]] = []
    private var objects: [ObjectID: (entity: Int, cells: [Int: StateDump.Held])] = [:]
    private var targets: [ObjectID] = []
    private var history: [(event: EventNumber, version: ModelVersion, dump: StateDump)] = []
    private var values = 0

    init(seed: UInt64, _ links: RandomHierarchy.Links) {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        var models = [RandomHierarchy(&generator, links)]
        for label in 1...2 { models.append(models[label - 1].changed(&generator, label)) }
        self.models = models
        cells = (0..<models[0].count).map { Self.cells(of: $0, models) }
    }

    private static func cells(of entity: Int, _ models: [RandomHierarchy]) -> [[String: Int]] {
        var cells: [[String: Int]] = []
        var next = 0
        for (index, model) in models.enumerated() {
            var found: [String: Int] = [:]
            for property in model.properties(of: entity) {
                let name = index > 0 ? models[index - 1].name(continuedBy: property, in: entity, model) : ""
                let before = index > 0 ? cells[index - 1][name] : nil
                // One that the model before does not have returns.
                let names = [property.name, name, index > 1 ? models[1].formerName(name, in: entity, models[0]) : nil]
                let earlier = index > 1 ? names.compactMap(\.self).lazy.compactMap { cells[0][$0] }.first : nil
                found[property.name] = before
                if before == nil, let earlier, !cells[1].values.contains(earlier) { found[property.name] = earlier }
                if found[property.name] == nil {
                    found[property.name] = next
                    next += 1
                }
            }
            cells.append(found)
        }
        return cells
    }

    mutating func run() throws {
        var path = [0, 1, 0, 1, 2]
        for _ in 0..<3 { path.append((path[path.count - 1] + Int.random(in: 1...2, using: &generator)) % 3) }
        for (step, index) in path.enumerated() {
            let comment = "seed \(seed), model \(index), step \(step) of \(path) between \(models)"
            let options = MigratedStore.options(oneCommit: seed % 3 == 0 ? 0 : 200_000, step: 3)
            do {
                try open(index, options, comment)
            } catch {
                Issue.record(error, "\(comment)")
                return
            }
        }
    }

    private mutating func open(_ index: Int, _ options: StoreOptions, _ comment: String) throws {
        try place.open(models[index].model(), options) { fixture in
            arrive(at: index)
            try check(fixture, index, comment)
            try save(fixture, index)
            try check(fixture, index, "\(comment), saved")
            let head = try fixture.store.head()
            history.append((head, fixture.schema.version, try StateDump(fixture.store, at: head)))
            for (event, version, dump) in history {
                let then = try fixture.store.schema(at: event)
                #expect(then.version == version, "\(comment)")
                let found = try StateDump(fixture.store, at: event, through: then)
                #expect(found == dump, "\(comment), as it was at \(event)")
            }
            try #expect(fixture.store.rebuild().isUnchanged, "\(comment)")
        }
    }

    /// Objects have the defaults of properties that are new to them.
    private mutating func arrive(at index: Int) {
        for (id, object) in objects {
            for property in models[index].properties(of: object.entity) {
                guard let cell = cells[object.entity][index][property.name], object.cells[cell] == nil else { continue }
                objects[id]?.cells[cell] = property.kind == .toMany ? .members([]) : .value(property.value ?? .null)
            }
        }
    }

    private func check(_ fixture: StoreFixture, _ index: Int, _ comment: String) throws {
        let dump = try StateDump(fixture.store, at: fixture.store.head())
        for (id, object) in objects.sorted(by: { $0.key < $1.key }) {
            for property in models[index].properties(of: object.entity) {
                let expected = cells[object.entity][index][property.name].flatMap { object.cells[$0] }
                let name = "\(RandomHierarchy.name(object.entity)).\(property.name)"
                #expect(sorted(dump[id, property.name]) == sorted(expected), "\(comment): \(name) of \(id)")
            }
        }
        checkInverses(dump, index, comment)
    }

    /// The targets list the objects that lead to them, and no others.
    private func checkInverses(_ dump: StateDump, _ index: Int, _ comment: String) {
        for (name, entity, property) in models[index].inverses {
            let family = models[index].family(of: entity)
            for target in targets {
                let leading = objects.filter { _, object in
                    guard family.contains(object.entity), let cell = cells[object.entity][index][property.name] else {
                        return false
                    }
                    return switch object.cells[cell] {
                    case .members(let members)?: members.contains(target)
                    case .value(let value)?: value == .objectID(target)
                    case nil: false
                    }
                }
                #expect(
                    sorted(dump[target, name]) == .members(leading.keys.sorted()), "\(comment): \(name) of \(target)")
            }
        }
    }

    private func sorted(_ held: StateDump.Held?) -> StateDump.Held? {
        if case .members(let members)? = held { .members(members.sorted()) } else { held }
    }

    // MARK: Objects

    private mutating func save(_ fixture: StoreFixture, _ index: Int) throws {
        if targets.isEmpty { for _ in 0..<3 { targets.append(try fixture.insert(RandomHierarchy.target, [:])) } }
        for entity in 0..<models[index].count {
            let id = try fixture.insert(RandomHierarchy.name(entity), [:])
            objects[id] = (entity, [:])
            for property in models[index].properties(of: entity) { try set(property, of: id, fixture, index) }
        }
        for (id, object) in objects.sorted(by: { $0.key < $1.key }) where Int.random(in: 0..<3, using: &generator) == 0
        {
            guard let property = models[index].properties(of: object.entity).randomElement(using: &generator) else {
                continue
            }
            try set(property, of: id, fixture, index)
        }
    }

    private mutating func set(
        _ property: RandomHierarchy.Property, of id: ObjectID, _ fixture: StoreFixture, _ index: Int
    ) throws {
        guard let object = objects[id], let cell = cells[object.entity][index][property.name] else { return }
        values += 1
        let isNil = Int.random(in: 0..<4, using: &generator) == 0
        let target = targets.randomElement(using: &generator) ?? targets[0]
        switch property.kind {
        case .toMany:
            var members: [ObjectID] = []
            if case .members(let known)? = object.cells[cell] { members = known }
            if members.contains(target) {
                try fixture.unlink(id, property.name, target)
                members.removeAll { $0 == target }
            } else {
                try fixture.link(id, property.name, target, place: Int64(values))
                members.append(target)
            }
            objects[id]?.cells[cell] = .members(members)
        case .text, .number, .toOne:
            let value: AttributeValue =
                switch property.kind {
                case _ where isNil: .null
                case .text: .string("v\(values)")
                case .number: .integer(Int64(values))
                default: .objectID(target)
                }
            try fixture.update(id, [property.name: value])
            objects[id]?.cells[cell] = .value(value)
        }
    }
}
