import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Planned, scanned and brute-force answers are the same: now, in the past, and with unsaved changes.
@Suite struct PlannedQueryTests {
    @Test(arguments: RandomTesting.seeds) func plansAnswerAsTheOracleDoes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var world = try QueryWorld(&random)
        for size in [60, 25, 25, 15] {
            let before = world.state
            let step = try world.mutate(size, &random)
            try world.save(step, from: before)
        }
        let saved = world.state
        let step = try world.mutate(20, &random)
        let pending = try world.layer(step, from: saved)
        let past = try #require(world.moments.dropLast().randomElement(using: &random))
        let head = try world.fixture.store.head()
        let moments: [(String, EventNumber, [Layer], PlainState)] = [
            ("now", head, [], saved), ("past", past.eventNumber, [], past.state),
            ("pending", head, [pending], world.state),
        ]
        var operations: [QueryExplanation.Step.Operation: Int] = [:]
        var hits = 0
        for (name, eventNumber, layers, state) in moments {
            let oracle = QueryOracle(state: state, schema: world.fixture.schema)
            try world.fixture.store.read(at: eventNumber, layers: layers) { snapshot in
                for number in 0..<40 {
                    var generator = QueryGenerator(random: random, state: state)
                    let request = try generator.request(world)
                    random = generator.random
                    let (plans, found) = try check(
                        request, snapshot, oracle, random.next(), "seed \(seed), \(name), query \(number)")
                    hits += found > 0 ? 1 : 0
                    try checkRows(request, snapshot, oracle, &random)
                    for step in plans.flatMap(\.steps) { operations[step.operation, default: 0] += 1 }
                }
            }
        }
        // The requests are worth asking: many find something, and every kind of step is among them.
        #expect(hits > 40)
        for operation in [QueryExplanation.Step.Operation.index, .links, .scan, .filter, .sort] {
            #expect(operations[operation, default: 0] > 25, "\(operations)")
        }
        // A seed may ask for none of one of these; all together ask for each.
        #expect(Self.rare.count { operations[$0, default: 0] > 0 } >= 2, "\(operations)")
    }

    private static let rare = [QueryExplanation.Step.Operation.intersection, .union, .objects]

    @Test func allSeedsTogetherAskForEveryKindOfStep() throws {
        var operations: [QueryExplanation.Step.Operation: Int] = [:]
        for seed in RandomTesting.seeds.prefix(8) {
            var random = SeededGenerator(seed: seed)
            var world = try QueryWorld(&random)
            let before = world.state
            try world.save(try world.mutate(60, &random), from: before)
            var generator = QueryGenerator(random: random, state: world.state)
            try world.fixture.store.read(at: try world.fixture.store.head()) { snapshot in
                for _ in 0..<40 {
                    let query = try CompiledQuery(
                        try generator.request(world), snapshot.schema, access: .disturbed(seed))
                    for step in try snapshot.explain(query).steps { operations[step.operation, default: 0] += 1 }
                }
            }
        }
        for operation in Self.rare { #expect(operations[operation, default: 0] > 0, "\(operations)") }
    }

    /// Groups and aggregates of the same objects, of every kind of plan.
    private func checkRows(
        _ objects: StoreRequest, _ snapshot: Snapshot, _ oracle: QueryOracle, _ random: inout SeededGenerator
    ) throws {
        let request = RowsGenerator.request(objects, snapshot.schema, &random)
        let wanted = try oracle.rows(request)
        for access in [CompiledQuery.Access.scanOnly, .planned, .avoidingScans, .disturbed(random.next())] {
            let found = try snapshot.rows(try CompiledRows(request, snapshot.schema, access: access))
            // As text, in which NaN is NaN.
            #expect("\(found.map(Array.init))" == "\(wanted)", "\(access) \(request)")
        }
    }

    /// Asks in every way; returns how the planned ones were run, and how many objects there are.
    private func check(
        _ request: StoreRequest, _ snapshot: Snapshot, _ oracle: QueryOracle, _ seed: UInt64, _ place: String
    ) throws -> (plans: [QueryExplanation], found: Int) {
        let wanted = try oracle.fetch(request)
        var plans: [QueryExplanation] = []
        let ways: [CompiledQuery.Access] = [
            .scanOnly, .planned, .avoidingScans, .disturbed(seed), .disturbed(seed ^ 0xABCD), .disturbed(~seed),
        ]
        for access in ways {
            let query = try CompiledQuery(request, snapshot.schema, access: access)
            let plan = try snapshot.explain(query)
            let what: Comment =
                "\(place), \(access): \(request.predicate?.description ?? "all")\n\(request.sort)\n\(plan)"
            #expect(try snapshot.fetch(query) == wanted, what)
            #expect(try snapshot.count(query) == wanted.count, what)
            #expect(plan.result.rows == wanted.count, what)
            if access != .scanOnly { plans.append(plan) }
        }
        return (plans, wanted.count)
    }
}

/// Makes requests that often find something.
struct QueryGenerator {
    var random: SeededGenerator
    let state: PlainState

    init(random: SeededGenerator, state: PlainState) {
        self.random = random
        self.state = state
    }

    private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }
    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func request(_ world: QueryWorld) throws -> StoreRequest {
        let entity = pick(["Item", "Item", "Item", "Special", "Owner", "Tag"])
        let predicate = chance(12) ? nil : try predicate(2, world, entity)
        var sort: [SortDescription] = []
        for _ in 0..<pick([0, 0, 1, 1, 2, 3]) {
            let paths = ["title", "year", "rating", "price", "when", "code", "owner", "owner.name", "score", "flag"]
            let path = pick(entity == "Owner" ? ["name", "age"] : entity == "Tag" ? ["label"] : paths)
            let isText = ["title", "owner.name", "name", "label"].contains(path)
            sort.append(
                SortDescription(
                    path, isAscending: !chance(2), folding: isText && chance(2) ? folding() : [],
                    isNatural: isText && chance(3), nullPlacement: pick([.smallest, .smallest, .first, .last])))
        }
        if chance(8), entity != "Owner", entity != "Tag" {
            // The order of an index, and its reverse.
            let isAscending = !chance(2)
            sort = [
                SortDescription("year", isAscending: isAscending),
                SortDescription("rating", isAscending: !isAscending),
            ]
        }
        return StoreRequest(
            entityID: try world.entityID(entity), includesSubentities: !chance(4), predicate: predicate, sort: sort,
            limit: pick([0, 0, 1, 3, 10]), offset: pick([0, 0, 0, 1, 5]))
    }

    private mutating func predicate(
        _ depth: Int, _ world: QueryWorld, _ entity: String
    ) throws -> FetchPredicate {
        switch depth > 0 ? Int.random(in: 0..<8, using: &random) : 7 {
        case 0, 1, 2:
            return .and([try predicate(depth - 1, world, entity), try predicate(depth - 1, world, entity)])
        case 3: return .or([try predicate(depth - 1, world, entity), try predicate(depth - 1, world, entity)])
        case 4: return .not(try predicate(depth - 1, world, entity))
        default: return .comparison(try comparison(world, entity))
        }
    }

    private mutating func folding() -> StringFolding {
        pick([[], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]])
    }

    private mutating func comparison(_ world: QueryWorld, _ entity: String) throws -> ComparisonPredicate {
        if chance(5) {
            var expressions = ExpressionGenerator(random: random)
            defer { random = expressions.random }
            return expressions.comparison(on: entity)
        }
        if entity == "Owner" || entity == "Tag" { return try farComparison(entity, world) }
        let own = QueryWorld.itemAttributes + (entity == "Special" ? ["extra"] : [])
        switch Int.random(in: 0..<16, using: &random) {
        case 15:
            return farNumber([
                ("owner.items.year", "year"), ("owner.items.rating", "rating"), ("tags.items.when", "when"),
                ("owner.items.score", "score"), ("owner.items.year", "rating"),
            ])
        case 14: return try comparison(of: "owner.badge.label", "label", .direct)
        case 0...6: return try comparison(of: pick(own), pick(own), .direct)
        case 7: return try comparison(of: "owner.name", "name", .direct)
        case 8: return try comparison(of: "owner.age", "age", .direct)
        case 9: return try comparison(of: "owner.items.year", "year", pick([.any, .all]))
        case 10: return try comparison(of: "tags.label", "label", pick([.any, .all]))
        case 11: return try objectComparison(world)
        case 12:
            return ComparisonPredicate(
                .keyPath(pick(["owner.items.@count", "tags.@count"])), pick([.equalTo, .greaterThan, .notEqualTo]),
                .constant(.integer(Int64.random(in: 0...3, using: &random))))
        default:
            let (left, right) = pick([
                ("year", "owner.age"), ("rating", "score"), ("title", "owner.name"), ("year", "rating"),
                ("owner.age", "year"),
            ])
            return ComparisonPredicate(
                .keyPath(left), pick([.equalTo, .notEqualTo, .lessThan, .greaterThanOrEqualTo]), .keyPath(right))
        }
    }

    /// What many objects lead to, against the object's own.
    private mutating func farNumber(_ paths: [(far: String, own: String)]) -> ComparisonPredicate {
        let (far, own) = pick(paths)
        return ComparisonPredicate(
            .keyPath(far),
            pick([.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo]),
            .keyPath(own), modifier: pick([.any, .all]))
    }

    /// From the ends that relationships of items lead to.
    private mutating func farComparison(_ entity: String, _ world: QueryWorld) throws -> ComparisonPredicate {
        switch Int.random(in: 0..<10, using: &random) {
        case 9 where entity == "Owner": return farNumber([("items.year", "age"), ("badge.items.year", "age")])
        case 7:
            return try entity == "Owner"
                ? comparison(of: "badge.label", "label", .direct) : comparison(of: "bearer.name", "name", .direct)
        case 8:
            let partners = state.ids(try world.entityID(entity == "Owner" ? "Tag" : "Owner"))
            return ComparisonPredicate(
                .keyPath(entity == "Owner" ? "badge" : "bearer"), pick([.equalTo, .equalTo, .notEqualTo]),
                .constant(partners.randomElement(using: &random).map { .objectID($0) } ?? .null))
        case 0:
            return try entity == "Owner"
                ? comparison(of: "age", "age", .direct) : comparison(of: "label", "label", .direct)
        case 1: return try comparison(of: "items.title", "title", pick([.any, .any, .all]))
        case 2: return try comparison(of: "items.year", "year", pick([.any, .any, .all]))
        case 3:
            return try entity == "Owner"
                ? comparison(of: "items.tags.label", "label", .any) : comparison(of: "items.owner.name", "name", .any)
        case 4:
            return ComparisonPredicate(
                .keyPath("items.@count"), pick([.lessThan, .greaterThan, .equalTo]),
                .constant(.integer(Int64.random(in: 0...4, using: &random))))
        case 5:
            return try entity == "Owner"
                ? comparison(of: "name", "name", .direct) : comparison(of: "items.owner.age", "age", .any)
        default:
            guard let item = try world.items(state).randomElement(using: &random) else {
                return ComparisonPredicate(.keyPath("items.@count"), .equalTo, .constant(.integer(0)))
            }
            return ComparisonPredicate(.keyPath("items"), .contains, .constant(.objectID(item)))
        }
    }

    private mutating func objectComparison(_ world: QueryWorld) throws -> ComparisonPredicate {
        let items = try world.items(state), owners = state.ids(try world.entityID("Owner"))
        let tags = state.ids(try world.entityID("Tag"))
        func constant(_ ids: [ObjectID]) -> FetchExpression {
            .constant(ids.randomElement(using: &random).map { .objectID($0) } ?? .null)
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return ComparisonPredicate(.evaluatedObject, .equalTo, constant(items))
        case 1: return ComparisonPredicate(.evaluatedObject, .in, .aggregate([constant(items), constant(items)]))
        case 2: return ComparisonPredicate(.keyPath("owner"), pick([.equalTo, .notEqualTo]), constant(owners))
        case 3: return ComparisonPredicate(.keyPath("owner"), .in, .aggregate([constant(owners), constant(owners)]))
        case 4: return ComparisonPredicate(.keyPath("tags"), .equalTo, constant(tags), modifier: .any)
        default:
            guard let tag = tags.randomElement(using: &random) else {
                return ComparisonPredicate(.keyPath("owner"), .equalTo, .constant(.null))
            }
            return ComparisonPredicate(.keyPath("tags"), .contains, .constant(.objectID(tag)))
        }
    }

    private mutating func comparison(
        of path: String, _ name: String, _ modifier: ComparisonPredicate.Modifier
    ) throws -> ComparisonPredicate {
        let name = path.contains(".") ? name : path
        let isText = ["title", "name", "label"].contains(name)
        var operations: [ComparisonPredicate.Operator] = [
            .equalTo, .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
            .between,
            .in,
        ]
        if isText { operations += [.beginsWith, .beginsWith, .endsWith, .contains, .like] }
        let operation = pick(operations)
        let folding = isText && chance(2) ? folding() : []
        var right = FetchExpression.constant(constant(name, operation))
        switch operation {
        case .between:
            right = .aggregate([.constant(constant(name, operation)), .constant(constant(name, operation))])
        case .in:
            let count = Int.random(in: 0...4, using: &random)
            right = .aggregate((0..<count).map { _ in .constant(constant(name, operation)) })
        default: break
        }
        return ComparisonPredicate(.keyPath(path), operation, right, modifier: modifier, folding: folding)
    }

    private mutating func constant(_ name: String, _ operation: ComparisonPredicate.Operator) -> AttributeValue {
        switch operation {
        case .beginsWith, .endsWith, .contains: return .string(pick(["", "a", "b", "é", "E", "ss", ValuePool.long]))
        case .like: return .string(pick(["a*", "*b*", "?", "?b?", "e*", "*", "A?c", "\u{e9}*"]))
        default: break
        }
        switch (name, ValuePool.value(name, &random)) {
        case ("year", .integer(let value)) where chance(3): return .double(Double(value) + pick([0, 0.5, -0.5]))
        case ("score", .float(let value)) where chance(2): return .double(Double(String(value)) ?? 0)
        case ("price", .decimal) where chance(3): return .integer(2)
        case ("name", .string(let text)):
            let names = state.rows.values.compactMap { $0["name"] }.sorted { "\($0)" < "\($1)" }
            return names.randomElement(using: &random) ?? .string(text)
        case (_, let value): return value
        }
    }
}
