import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Requests of one shape are prepared once; each still gets the answer to its own constants.
@Suite struct QueryShapeCacheTests {
    @Test(arguments: RandomTesting.seeds) func requestsOfOneShapeAreAnsweredByTheirOwnConstants(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var world = try QueryWorld(&random)
        for size in [60, 25] {
            let before = world.state
            let step = try world.mutate(size, &random)
            try world.save(step, from: before)
        }
        let saved = world.state
        let step = try world.mutate(20, &random)
        let pending = try world.layer(step, from: saved)
        let head = try world.fixture.store.head()
        let past = try #require(world.moments.first)
        let moments: [(String, EventNumber, [Layer], PlainState)] = [
            ("now", head, [], saved), ("past", past.eventNumber, [], past.state),
            ("pending", head, [pending], world.state),
        ]
        var generator = QueryGenerator(random: random, state: saved)
        var shapes: [StoreRequest] = []
        for _ in 0..<60 { shapes.append(try generator.request(world)) }
        var answers = Set<String>()
        for round in 0..<4 {
            for (name, eventNumber, layers, state) in moments {
                let oracle = QueryOracle(state: state, schema: world.fixture.schema)
                try world.fixture.store.read(at: eventNumber, layers: layers) { snapshot in
                    for (number, shape) in shapes.enumerated() {
                        let (request, isUsual) = round == 0 ? (shape, true) : generator.withOtherConstants(shape)
                        let place: Comment = "seed \(seed), round \(round), \(name), shape \(number): \(request)"
                        let found = try check(request, snapshot, isUsual ? oracle : nil, place)
                        answers.insert("\(number) \(found)")
                    }
                }
            }
        }
        // Other constants do give other answers.
        #expect(answers.count > shapes.count * 2)
    }

    /// Compares with a scan by a query of its own, and with the oracle where that knows such constants.
    private func check(
        _ request: StoreRequest, _ snapshot: Snapshot, _ oracle: QueryOracle?, _ place: Comment
    ) throws -> [ObjectID] {
        let own: CompiledQuery
        do {
            own = try CompiledQuery(request, snapshot.schema, access: .scanOnly)
        } catch {
            // What is refused by itself is refused behind others of its shape, for the same reason.
            let refusal = #expect(throws: StrataError.self, place) { try snapshot.fetch(request) }
            #expect(refusal?.code == error.code, place)
            #expect(refusal?.message == error.message, place)
            return []
        }
        let wanted = try snapshot.fetch(own)
        #expect(try snapshot.fetch(request) == wanted, place)
        #expect(try snapshot.count(request) == wanted.count, place)
        if let oracle { #expect(try oracle.fetch(request) == wanted, place) }
        return wanted
    }

    /// Who is named need not be of the far end's entity: nobody is linked to such an object.
    @Test func objectsOfAnotherEntityAreNoMembers() throws {
        var random = SeededGenerator(seed: 3)
        var world = try QueryWorld(&random)
        let before = world.state
        let step = try world.mutate(60, &random)
        try world.save(step, from: before)
        let tag = try #require(world.state.ids(try world.entityID("Tag")).first)
        for predicate in [
            FetchPredicate.any("items", .equalTo, .objectID(tag)), .equal("items.owner", .objectID(tag)),
        ] {
            guard case .comparison(var comparison) = predicate else { continue }
            comparison.modifier = .any
            let request = StoreRequest(entityID: try world.entityID("Owner"), predicate: .comparison(comparison))
            let head = try world.fixture.store.head()
            #expect(try world.fixture.store.read(at: head) { try $0.fetch(request) } == [])
        }
    }

    /// The same request through two models of one open store: names stand for other slots and kinds in each.
    @Test func anotherModelIsAnotherShape() throws {
        let store = MigratedStore()
        defer { store.remove() }
        func model(_ type: AttributeType, _ more: [PropertyDescription]) throws -> ManagedObjectModel {
            try Describe.model(
                EntityDescription(
                    name: "Note", properties: more + [Describe.attribute("x", type, optional: true)],
                    indexes: [FetchIndexDescription(name: "byX", elements: [FetchIndexElement("x")])]))
        }
        let (id, then) = try store.open(model(.string, [])) { fixture in
            let id = try fixture.insert("Note", ["x": "7"])
            _ = try fixture.insert("Note", ["x": "8"])
            return (id, try fixture.store.head())
        }
        let more = Describe.attribute("a", .string, optional: true)
        try store.open(model(.integer32, [more])) { fixture in
            let old = try fixture.store.schema(at: then)
            func found(_ value: AttributeValue, isOld: Bool) throws -> [ObjectID] {
                let request = StoreRequest(entityID: try fixture.entity("Note").id, predicate: .equal("x", value))
                let head = try fixture.store.head()
                return try fixture.store.read(at: isOld ? then : head, through: isOld ? old : nil) {
                    try $0.fetch(request)
                }
            }
            for _ in 0..<2 {
                #expect(try found(.integer(7), isOld: false) == [id])
                #expect(try found(.string("7"), isOld: true) == [id])
                #expect(throws: StrataError.self) { try found(.integer(7), isOld: true) }
                #expect(throws: StrataError.self) { try found(.string("7"), isOld: false) }
            }
        }
    }

    /// Whether an index settles an equality by itself depends on the value, for each request of one shape anew: nil is
    /// the same however an index folds, and of a long text it holds the beginning.
    @Test(arguments: [true, false]) func anIndexSettlesAnEqualityByItselfOnlyWhereItCan(isFolding: Bool) throws {
        let store = MigratedStore()
        defer { store.remove() }
        let element = FetchIndexElement("x", folding: isFolding ? [.caseInsensitive] : [])
        let model = try Describe.model(
            EntityDescription(
                name: "Note", properties: [Describe.attribute("x", .string, optional: true)],
                indexes: [FetchIndexDescription(name: "byX", elements: [element])]))
        try store.open(model) { fixture in
            let long = String(repeating: "long ", count: 200)
            let values: [AttributeValue] = [
                .null, .string("a"), .string("A"), .string(""), .string(long + "a"), .string(long + "b"),
                .string("a"),
            ]
            var ids: [(ObjectID, AttributeValue)] = []
            for value in values { ids.append((try fixture.insert("Note", ["x": value]), value)) }
            let entity = try fixture.entity("Note").id
            let head = try fixture.store.head()
            // The last is not there, and each comes once behind every other.
            let asked = values + [.string("b"), .integer(7)]
            for first in asked {
                for value in [first] + asked {
                    let request = StoreRequest(entityID: entity, predicate: .equal("x", value))
                    if case .integer = value {
                        #expect(throws: StrataError.self) { try fixture.store.read(at: head) { try $0.fetch(request) } }
                        continue
                    }
                    let wanted = ids.filter { $0.1 == value }.map(\.0).sorted()
                    let found = try fixture.store.read(at: head) { (try $0.fetch(request), try $0.count(request)) }
                    #expect(found.0 == wanted && found.1 == wanted.count, "\(value) behind \(first)")
                }
            }
        }
    }

    @Test func nowIsWorkedOutAnewForEachRun() throws {
        var random = SeededGenerator(seed: 1)
        let world = try QueryWorld(&random)
        let soon = Date(timeIntervalSinceNow: 0.05)
        let isPast = FetchPredicate.comparison(
            ComparisonPredicate(.constant(.date(soon)), .lessThan, .function(.now, [])))
        let request = StoreRequest(entityID: try world.entityID("Tag"), predicate: .not(isPast))
        var before = world
        let state = before.state
        let step = try before.mutate(40, &random)
        try before.save(step, from: state)
        let count = before.state.ids(try world.entityID("Tag")).count
        try #require(count > 0)
        let head = try world.fixture.store.head()
        func found() throws -> Int { try world.fixture.store.read(at: head) { try $0.fetch(request).count } }
        let first = try found()
        let wasBefore = Date() < soon
        while Date() <= soon {}
        #expect(first == count || !wasBefore)
        #expect(try found() == 0)
    }
}

extension QueryGenerator {
    /// A request that differs in nothing but the constants of its predicate, its limit and its offset.
    ///
    /// - Returns: whether all constants are of a kind that the oracle knows there.
    mutating func withOtherConstants(_ request: StoreRequest) -> (StoreRequest, isUsual: Bool) {
        var request = request
        var constants = ConstantReplacement(random: random, ids: state.rows.keys.sorted())
        request.predicate = request.predicate.map { constants.replaced($0) }
        random = constants.random
        request.limit = [0, 0, 2, 7].randomElement(using: &random) ?? 0
        request.offset = [0, 0, 1].randomElement(using: &random) ?? 0
        return (request, constants.isUsual)
    }
}

/// Puts other constants on the right sides of comparisons, now and then of a kind that does not belong there.
private struct ConstantReplacement {
    var random: SeededGenerator
    let ids: [ObjectID]
    var isUsual = true

    mutating func replaced(_ predicate: FetchPredicate) -> FetchPredicate {
        switch predicate {
        case .constant: return predicate
        case .not(let part): return .not(replaced(part))
        case .and(let parts): return .and(parts.map { replaced($0) })
        case .or(let parts): return .or(parts.map { replaced($0) })
        case .comparison(var comparison):
            guard case .keyPath(let path) = comparison.left else { return predicate }
            comparison.right = replaced(comparison.right, path)
            return .comparison(comparison)
        }
    }

    private mutating func replaced(_ expression: FetchExpression, _ path: String) -> FetchExpression {
        switch expression {
        case .constant(let value): return .constant(other(value, path))
        case .aggregate(let parts):
            var parts = parts
            // Lists of every length have one shape.
            if Int.random(in: 0..<4, using: &random) == 0, parts.count > 2 { parts.removeLast() }
            return .aggregate(parts.map { replaced($0, path) })
        default: return expression
        }
    }

    private mutating func other(_ value: AttributeValue, _ path: String) -> AttributeValue {
        if path.hasSuffix("@count") {
            let count = Int64.random(in: -1...4, using: &random)
            return count < 0 ? .null : .integer(count)
        }
        switch Int.random(in: 0..<24, using: &random) {
        case 0:
            isUsual = false
            let names = ["title", "year", "rating", "score", "price", "flag", "when", "code"]
            return ValuePool.value(names.randomElement(using: &random) ?? "year", &random)
        case 1, 2: return .null
        default: break
        }
        switch value {
        case .objectID: return ids.randomElement(using: &random).map { .objectID($0) } ?? .null
        case .null: return .null
        default: break
        }
        let name = String(path.split(separator: ".").last ?? "")
        let fresh = ValuePool.value(name, &random)
        if !fresh.isNull, fresh.kind != value.kind { isUsual = false }
        return fresh
    }
}

extension AttributeValue {
    fileprivate var kind: String { String(describing: self).prefix { $0 != "(" }.lowercased() }
}
