import Foundation
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Pairs whose one end loses the relationship while the entity of the other is removed, and their return in any order.
struct LeavingPairsTests {
    enum Kind: CaseIterable, Sendable { case withInverse, symmetric }

    /// Where leaves stand, and whether the model has the entity Gone. Leaves have tags under A alone. Without a parent for
    /// them (`-`), the model has no tags at all.
    private struct Model: Hashable {
        let parent: String
        let hasGone: Bool

        static let all = ["A", "B", "-"].flatMap { parent in [true, false].map { Model(parent: parent, hasGone: $0) } }

        func shows(_ entity: String) -> Bool {
            parent != "-" && (entity == "Leaf" ? parent == "A" : entity != "Gone" || hasGone)
        }

        func description(_ kind: Kind) throws -> ManagedObjectModel {
            let base = kind == .symmetric ? "A" : "Base"
            let tags = Describe.toMany("tags", base, inverse: kind == .symmetric ? "tags" : "things")
            var entities = [
                EntityDescription(name: "A", properties: parent == "-" ? [] : [tags]), EntityDescription(name: "B"),
                EntityDescription(name: "Leaf", superentityName: parent == "-" ? "A" : parent),
                EntityDescription(name: "Kept", superentityName: base),
            ]
            if kind == .withInverse {
                let things = Describe.toMany("things", "A", inverse: "tags")
                entities.append(EntityDescription(name: "Base", properties: parent == "-" ? [] : [things]))
            }
            if hasGone { entities.append(EntityDescription(name: "Gone", superentityName: base)) }
            return try ManagedObjectModel(entities: entities)
        }
    }

    /// A store whose pairs a set follows.
    private struct Run {
        let kind: Kind
        let store = MigratedStore()
        var near: [(id: ObjectID, entity: String)] = []
        var far: [(id: ObjectID, entity: String)] = []
        var pairs: Set<[ObjectID]> = []
        var moments: [(event: EventNumber, pairs: Set<[ObjectID]>, dump: StateDump)] = []

        var objects: [(id: ObjectID, entity: String)] { near + far }

        func pair(_ one: ObjectID, _ other: ObjectID) -> [ObjectID] {
            kind == .symmetric ? [one, other].sorted() : [one, other]
        }

        /// Makes the objects, after the store has had every model, so that what a model lacks is hidden and returns.
        mutating func begin() throws {
            for model in Model.all.reversed() { try store.open(model.description(kind)) { _ in } }
            try store.open(Model.all[0].description(kind)) { fixture in
                func make(_ entities: [String]) throws -> [(id: ObjectID, entity: String)] {
                    try entities.map { (try fixture.insert($0, [:]), $0) }
                }
                near = try make(["A", "Leaf", "Leaf"])
                far = try make(["Kept", "Gone", "Gone"])
                for one in near { for other in far { try toggle(one.id, other.id, fixture) } }
                if kind == .symmetric {
                    try toggle(near[1].id, near[2].id, fixture)
                    try toggle(far[1].id, far[2].id, fixture)
                    try toggle(near[1].id, near[1].id, fixture)
                }
                try note(fixture)
            }
        }

        mutating func toggle(_ one: ObjectID, _ other: ObjectID, _ fixture: StoreFixture) throws {
            let pair = pair(one, other)
            if pairs.remove(pair) != nil { return try fixture.unlink(one, "tags", other) }
            try fixture.link(one, "tags", other)
            pairs.insert(pair)
        }

        mutating func note(_ fixture: StoreFixture) throws {
            let head = try fixture.store.head()
            moments.append((head, pairs, try StateDump(fixture.store, at: head)))
        }

        func check(_ dump: StateDump, _ pairs: Set<[ObjectID]>, _ model: Model, _ comment: String) {
            let shown = Set(objects.filter { model.shows($0.entity) }.map(\.id))
            for (id, entity) in objects where shown.contains(id) {
                let isFar = kind == .withInverse && (entity == "Kept" || entity == "Gone")
                var members: Set<ObjectID> = []
                for pair in pairs where shown.isSuperset(of: pair) {
                    if pair[0] == id { members.insert(pair[1]) }
                    if pair[1] == id { members.insert(pair[0]) }
                }
                #expect(
                    dump[id, isFar ? "things" : "tags"] == .members(members.sorted()), "\(comment): \(entity) \(id)")
            }
        }
    }

    private func travel(
        _ kind: Kind, _ path: [(String, Bool)], oneCommit: Int = 200_000, _ comment: String,
        _ change: (inout Run, Model, StoreFixture) throws -> Void = { _, _, _ in }
    ) throws {
        var run = Run(kind: kind)
        defer { run.store.remove() }
        try run.begin()
        for (step, (parent, hasGone)) in path.enumerated() {
            let model = Model(parent: parent, hasGone: hasGone)
            let place = "\(comment), step \(step) of \(path)"
            try run.store.open(model.description(kind), MigratedStore.options(oneCommit: oneCommit, step: 1)) {
                fixture in
                run.check(try StateDump(fixture.store, at: fixture.store.head()), run.pairs, model, place)
                try change(&run, model, fixture)
                try run.note(fixture)
                for moment in run.moments {
                    let then = try fixture.store.schema(at: moment.event)
                    try #expect(StateDump(fixture.store, at: moment.event, through: then) == moment.dump, "\(place)")
                    run.check(
                        try StateDump(fixture.store, at: moment.event), moment.pairs, model,
                        "\(place), as of \(moment.event)")
                }
                try #expect(fixture.store.rebuild().isUnchanged, "\(place)")
            }
        }
    }

    private static let ways: [[(String, Bool)]] = [
        // The entity goes first.
        [("A", false), ("B", false), ("B", true), ("A", true)],
        [("A", false), ("B", false), ("A", false), ("A", true)],
        [("A", false), ("B", false), ("A", true)],
        // The relationship goes first.
        [("B", true), ("B", false), ("A", false), ("A", true)], [("B", true), ("B", false), ("B", true), ("A", true)],
        [("B", true), ("B", false), ("A", true)],
        // Both at once.
        [("B", false), ("A", false), ("A", true)], [("B", false), ("B", true), ("A", true)],
        [("B", false), ("A", true)],
        // One comes back and goes again before the other.
        [("A", false), ("B", false), ("B", true), ("B", false), ("A", false), ("A", true)],
        [("B", true), ("B", false), ("A", false), ("B", false), ("B", true), ("A", true)],
        // The relationship goes from all entities.
        [("A", false), ("-", false), ("-", true), ("A", true)], [("-", true), ("-", false), ("A", false), ("A", true)],
        [("B", true), ("-", true), ("B", true), ("A", true)], [("A", false), ("B", false), ("-", true), ("A", true)],
    ]

    @Test(arguments: Kind.allCases, [200_000, 0]) func pairsReturnInAnyOrder(kind: Kind, oneCommit: Int) throws {
        for way in Self.ways { try travel(kind, way, oneCommit: oneCommit, "\(kind)") }
    }

    /// Links are made and cut on the way.
    @Test(arguments: RandomTesting.seeds(unlessAsked: Array(1...12)), Kind.allCases)
    func pairsThatChangeOnTheWayReturnAsTheyWereLast(seed: UInt64, kind: Kind) throws {
        var generator = SeededGenerator(seed: seed)
        let path = (0..<7).map { _ in
            (["A", "A", "B", "B", "-"].randomElement(using: &generator) ?? "A", Bool.random(using: &generator))
        }
        try travel(kind, path, oneCommit: seed % 3 == 0 ? 0 : 200_000, "seed \(seed), \(kind)") { run, model, fixture in
            for _ in 0..<3 {
                guard let one = run.near.randomElement(using: &generator), model.shows(one.entity),
                    let other = (kind == .symmetric ? run.objects : run.far).randomElement(using: &generator),
                    model.shows(other.entity)
                else { continue }
                try run.toggle(one.id, other.id, fixture)
            }
        }
    }
}
