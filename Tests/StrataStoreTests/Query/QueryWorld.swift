import Foundation
import StrataModel
import StrataStore
import StrataTestSupport

/// A model with every kind of attribute, and indexes at random from every kind that a plan can meet.
enum QueryModel {
    static func make(_ random: inout SeededGenerator) throws -> ManagedObjectModel {
        func attribute(_ name: String, _ type: AttributeType) -> PropertyDescription {
            .attribute(AttributeDescription(name: name, type: type, isOptional: true))
        }
        let foldings: StringFolding = [.caseInsensitive, .diacriticInsensitive]
        let usual = [
            FetchIndexDescription(name: "title", elements: [.init("title")]),
            FetchIndexDescription(name: "folded", elements: [.init("title", folding: foldings)]),
            FetchIndexDescription(
                name: "yearRating", elements: [.init("year"), .init("rating", isAscending: false)]),
            FetchIndexDescription(name: "ownerYear", elements: [.init("owner"), .init("year")]),
            FetchIndexDescription(
                name: "flagged", elements: [.init("rating")],
                partialIndexPredicate: .equal("flag", .boolean(true))),
            FetchIndexDescription(
                name: "dated", elements: [.init("when", isAscending: false)],
                partialIndexPredicate: .isNotNil("when")),
            FetchIndexDescription(name: "price", elements: [.init("price")]),
            FetchIndexDescription(name: "code", elements: [.init("code"), .init("flag")]),
        ]
        return try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Owner",
                properties: [
                    .attribute(AttributeDescription(name: "name", type: .string)), attribute("age", .integer16),
                    .relationship(
                        RelationshipDescription(
                            name: "items", destinationEntityName: "Item", inverseName: "owner", isToMany: true)),
                    .relationship(
                        RelationshipDescription(name: "badge", destinationEntityName: "Tag", inverseName: "bearer")),
                ],
                uniquenessConstraints: [["name"]]),
            EntityDescription(
                name: "Item",
                properties: [
                    attribute("title", .string), attribute("year", .integer32), attribute("rating", .double),
                    attribute("score", .float), attribute("price", .decimal), attribute("flag", .boolean),
                    attribute("when", .date), attribute("code", .uuid),
                    .relationship(
                        RelationshipDescription(
                            name: "owner", destinationEntityName: "Owner", inverseName: "items")),
                    .relationship(
                        RelationshipDescription(
                            name: "tags", destinationEntityName: "Tag", inverseName: "items", isToMany: true)),
                ],
                indexes: usual.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
                    + (0..<3).map { extraIndex($0, &random) }),
            EntityDescription(
                name: "Special", superentityName: "Item", properties: [attribute("extra", .integer64)],
                indexes: [FetchIndexDescription(name: "extra", elements: [.init("extra"), .init("title")])]),
            EntityDescription(
                name: "Tag",
                properties: [
                    attribute("label", .string),
                    .relationship(
                        RelationshipDescription(
                            name: "items", destinationEntityName: "Item", inverseName: "tags", isToMany: true)),
                    .relationship(
                        RelationshipDescription(name: "bearer", destinationEntityName: "Owner", inverseName: "badge")),
                ],
                indexes: Bool.random(using: &random)
                    ? [FetchIndexDescription(name: "label", elements: [.init("label")])] : []),
        ])
    }

    /// One to three elements, any direction and folding, perhaps partial.
    private static func extraIndex(_ number: Int, _ random: inout SeededGenerator) -> FetchIndexDescription {
        let names = ["title", "year", "rating", "score", "price", "flag", "when", "code", "owner"]
            .shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        let foldings: [StringFolding] = [[], .caseInsensitive, .diacriticInsensitive]
        return FetchIndexDescription(
            name: "extra\(number)",
            elements: names.map { name in
                FetchIndexElement(
                    name, isAscending: Bool.random(using: &random),
                    folding: name == "title" ? foldings[Int.random(in: 0..<3, using: &random)] : [])
            },
            partialIndexPredicate: Int.random(in: 0..<4, using: &random) == 0 ? .isNotNil("year") : nil)
    }
}

/// A state of the store as plain values: what the oracle evaluates over.
struct PlainState {
    var rows: [ObjectID: [String: AttributeValue]] = [:]
    /// Item and tag.
    var tagged: Set<[ObjectID]> = []

    func ids(_ entity: EntityID) -> [ObjectID] { rows.keys.filter { $0.entityID == entity }.sorted() }
}

/// Few different values, so that conditions meet.
enum ValuePool {
    static let long = String(repeating: "long ", count: 110)

    static func value(_ name: String, _ random: inout SeededGenerator) -> AttributeValue {
        if Int.random(in: 0..<6, using: &random) == 0 { return .null }
        func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
        switch name {
        case "title", "label", "name":
            return .string(
                pick([
                    "", "a", "A", "Abc", "abc", "aBd", "e", "é", "e\u{301}", "Éb", "ab\u{0}c", "zz", "Straße",
                    "STRASSE",
                    long, long + "a", long + "b", "a%b", "a*b", "a9", "a10", "a010b", "a10c", "7", "07",
                ]))
        case "year", "age", "extra": return .integer(pick([-2, -1, 0, 1, 2, 3]))
        case "rating": return .double(pick([-1.5, -0.0, 0, 0.5, 1, 2, 2.25, .nan, .infinity, 0x1p53]))
        case "score": return .float(pick([-1, 0, 0.1, 0.5, 2]))
        case "price": return .decimal(pick([0, Decimal(string: "1.1")!, Decimal(string: "-2.5")!, 100, 2]))
        case "flag": return .boolean(pick([true, false]))
        case "when": return .date(Date(timeIntervalSinceReferenceDate: pick([-5, 0, 0.25, 1e9])))
        default: return .uuid(UUID(uuid: (pick([0, 1, 255]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pick([0, 1]))))
        }
    }
}

/// A store that random saves are made to, with the state after each.
struct QueryWorld {
    let fixture: StoreFixture
    var state = PlainState()
    private(set) var moments: [(eventNumber: EventNumber, state: PlainState)] = []
    private var names = 0

    static let itemAttributes = ["title", "year", "rating", "score", "price", "flag", "when", "code"]

    init(_ random: inout SeededGenerator) throws {
        // The ends of its one-to-ones do not agree (`some`).
        fixture = try StoreFixture(model: try QueryModel.make(&random), options: .gathering(random.next())) { problem in
            problem.kind == .link && (problem.location.hasSuffix(".badge") || problem.location.hasSuffix(".bearer"))
                && problem.message.hasSuffix("a save that sets one of the two ends mends it")
        }
    }

    func entityID(_ name: String) throws -> EntityID { try fixture.entity(name).id }

    /// Objects of Item and Special.
    func items(_ state: PlainState) throws -> [ObjectID] {
        (state.ids(try entityID("Item")) + state.ids(try entityID("Special"))).sorted()
    }

    /// What one step changes: objects whose row is new, changed or gone, and pairs.
    struct Step {
        var touched: Set<ObjectID> = []
        var inserted: Set<ObjectID> = []
    }

    /// Changes `state` at random.
    mutating func mutate(_ count: Int, _ random: inout SeededGenerator) throws -> Step {
        var step = Step()
        for _ in 0..<count {
            switch Int.random(in: 0..<21, using: &random) {
            case 0...6: try insert(try ["Item", "Item", "Special"].pick(&random), &step, &random)
            case 7: try insert("Owner", &step, &random)
            case 8: try insert("Tag", &step, &random)
            case 9...13: try change(&step, &random)
            case 14, 15:
                guard let owner = state.ids(try entityID("Owner")).randomElement(using: &random) else { continue }
                state.rows[owner]?["age"] = ValuePool.value("age", &random)
                if Bool.random(using: &random) {
                    let name = name(&random)
                    state.rows[owner]?["name"] = name
                }
                if Bool.random(using: &random) {
                    let badge = try some("Tag", &random)
                    state.rows[owner]?["badge"] = badge
                }
                step.touched.insert(owner)
            case 16, 17:
                guard let item = try items(state).randomElement(using: &random),
                    let tag = state.ids(try entityID("Tag")).randomElement(using: &random)
                else { continue }
                if state.tagged.remove([item, tag]) == nil { state.tagged.insert([item, tag]) }
            case 18:
                guard let tag = state.ids(try entityID("Tag")).randomElement(using: &random) else { continue }
                state.rows[tag]?["label"] = ValuePool.value("label", &random)
                let bearer = try some("Owner", &random)
                state.rows[tag]?["bearer"] = bearer
                step.touched.insert(tag)
            default: try delete(&step, &random)
            }
        }
        return step
    }

    private mutating func name(_ random: inout SeededGenerator) -> AttributeValue {
        names += 1
        guard case .string(let text) = ValuePool.value("name", &random) else { return .string("\(names)") }
        return .string(text + "#\(names)")
    }

    private mutating func insert(
        _ entity: String, _ step: inout Step, _ random: inout SeededGenerator
    ) throws {
        let id = try fixture.store.newObjectID(in: try entityID(entity))
        var row: [String: AttributeValue] = [:]
        switch entity {
        case "Owner":
            row = ["name": name(&random), "age": ValuePool.value("age", &random), "badge": try some("Tag", &random)]
        case "Tag": row = ["label": ValuePool.value("label", &random), "bearer": try some("Owner", &random)]
        default:
            for key in Self.itemAttributes { row[key] = ValuePool.value(key, &random) }
            if entity == "Special" { row["extra"] = ValuePool.value("extra", &random) }
            row["owner"] = try some("Owner", &random)
        }
        state.rows[id] = row
        step.touched.insert(id)
        step.inserted.insert(id)
    }

    /// What a to-one is set to. The two ends of a one-to-one are set without regard to each other, for the store does
    /// not hold them to agree.
    private func some(_ entity: String, _ random: inout SeededGenerator) throws -> AttributeValue {
        guard Int.random(in: 0..<5, using: &random) > 0,
            let target = state.ids(try entityID(entity)).randomElement(using: &random)
        else { return .null }
        return .objectID(target)
    }

    private mutating func change(_ step: inout Step, _ random: inout SeededGenerator) throws {
        guard let item = try items(state).randomElement(using: &random) else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let key = try (Self.itemAttributes + ["owner"]).pick(&random)
            let value = key == "owner" ? try some("Owner", &random) : ValuePool.value(key, &random)
            state.rows[item]?[key] = value
        }
        step.touched.insert(item)
    }

    private mutating func delete(_ step: inout Step, _ random: inout SeededGenerator) throws {
        guard let id = state.rows.keys.sorted().randomElement(using: &random) else { return }
        state.rows[id] = nil
        step.touched.insert(id)
        state.tagged = state.tagged.filter { !$0.contains(id) }
        for (member, row) in state.rows {
            for toOne in ["owner", "badge", "bearer"] where row[toOne] == .objectID(id) {
                state.rows[member]?[toOne] = .null
                step.touched.insert(member)
            }
        }
    }

    /// Saves what `step` made of the state before it.
    mutating func save(_ step: Step, from before: PlainState) throws {
        var changes = try fixture.changes()
        for id in step.touched.sorted() {
            let name = try fixture.name(of: id)
            switch (before.rows[id], state.rows[id]) {
            case (nil, let row?): changes.insertions.append(.init(id: id, image: try fixture.image(name, row)))
            case (let old?, let row?) where old != row:
                let entity = try fixture.entity(name)
                let slots = row.keys.filter { old[$0] != row[$0] }.compactMap { entity.property(named: $0)?.slot }
                changes.updates.append(
                    .init(
                        id: id, baseRevision: try fixture.revision(of: id), image: try fixture.image(name, row),
                        changedSlots: slots.sorted()))
            case (_?, nil): changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
            default: continue
            }
        }
        for (key, isLinked) in try pairs(from: before) {
            changes.pairs.append(.init(key: key, kind: isLinked ? .link(PairPositions()) : .unlink))
        }
        try fixture.save(changes)
        moments.append((try fixture.store.head(), state))
    }

    /// The step as a context's unsaved changes.
    func layer(_ step: Step, from before: PlainState) throws -> Layer {
        var builder = Layer.Builder(schema: fixture.schema)
        let head = try fixture.store.head()
        for id in step.touched {
            guard let row = state.rows[id] else {
                builder.setAbsent(id)
                continue
            }
            builder.setRow(id, try fixture.image(try fixture.name(of: id), row), revision: head)
        }
        for (key, isLinked) in try pairs(from: before) { builder.setPair(key, isLinked ? PairPositions() : nil) }
        return builder.finish()
    }

    /// Pairs that came and went, but for those that went with one of their objects.
    private func pairs(from before: PlainState) throws -> [(PairKey, isLinked: Bool)] {
        let tags = try fixture.property("Item", "tags")
        guard case .pair(let canonical)? = tags.relationship?.truth else { return [] }
        let isForward = canonical == tags.id
        func key(_ pair: [ObjectID]) -> PairKey {
            PairKey(
                property: canonical, source: isForward ? pair[0] : pair[1], target: isForward ? pair[1] : pair[0])
        }
        let gone = before.tagged.subtracting(state.tagged).filter { $0.allSatisfy { state.rows[$0] != nil } }
        let new = state.tagged.subtracting(before.tagged)
        return gone.map { (key($0), false) } + new.map { (key($0), true) }
    }
}

extension Array {
    func pick(_ random: inout SeededGenerator) throws -> Element { self[Int.random(in: indices, using: &random)] }
}
