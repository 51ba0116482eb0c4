import Foundation
import StrataModel
import StrataTestSupport

@testable import StrataStore

/// A store with a full text beside plain values of its objects.
struct TextOracle {
    static func model(_ names: [String] = ["title", "plot"], indexed: Bool = true) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Film",
                properties: [
                    .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "plot", type: .string, isOptional: true)),
                    .attribute(AttributeDescription(name: "year", type: .integer32, isOptional: true)),
                ],
                indexes: indexed
                    ? [FetchIndexDescription(name: "byYear", elements: [FetchIndexElement("year")])] : [],
                fullText: names),
            EntityDescription(name: "Series", superentityName: "Film"),
            EntityDescription(
                name: "Note", properties: [.attribute(AttributeDescription(name: "plot", type: .string))]),
        ])
    }

    static let queries = [
        "zone", "a*", "zone room", "zone OR water", "zone NOT room", "\"the zone\"", "\"the zo\"*",
        "NEAR(zone room, 2)",
        "zone NEAR/1 the", "title: zone", "plot: (zone OR water)", "^the", "(zone OR water) AND (the NOT room)",
        "the", "\"the the\"", "r* w*", "NEAR(the zone room)", "title: ^zone OR plot: \"the water\"", "nothing",
        "zone NOT (room OR water)", "NEAR(\"the zone\" water, 4)", "漢字",
    ]
    private static let words = [
        "zone", "Zone", "room", "water", "the", "The", "wáter", "a", "ab", "abc", "rooms", "wind", "漢字", "x-y",
    ]

    var fixture: StoreFixture
    private var generator: SeededGenerator
    private(set) var objects: [ObjectID: [String: AttributeValue]] = [:]
    private(set) var history: [(EventNumber, [ObjectID: [String: AttributeValue]])] = []

    init(seed: UInt64, _ location: StoreLocation = .inMemory, model: ManagedObjectModel? = nil) throws {
        fixture = try StoreFixture(location, model: try model ?? Self.model(), options: .gathering(seed))
        generator = SeededGenerator(seed: seed)
    }

    private mutating func someText() -> AttributeValue {
        if Int.random(in: 0..<8, using: &generator) == 0 { return .null }
        var words: [String] = []
        for _ in 0..<Int.random(in: 0...9, using: &generator) {
            words.append(Self.words.randomElement(using: &generator) ?? "")
        }
        return .string(words.joined(separator: " "))
    }

    private mutating func someValues() -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        if Bool.random(using: &generator) { values["title"] = someText() }
        if Bool.random(using: &generator) { values["plot"] = someText() }
        if Bool.random(using: &generator) {
            values["year"] = .integer(Int64.random(in: 1970...1973, using: &generator))
        }
        return values
    }

    /// Some changes, which are saved or returned as a layer of unsaved changes.
    mutating func step() throws {
        var changes = try fixture.changes()
        var touched: Set<ObjectID> = []
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let known = objects.keys.filter { !touched.contains($0) }.sorted()
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...4:
                let values = someValues()
                let entity = Int.random(in: 0..<4, using: &generator) == 0 ? "Series" : "Film"
                let id = try fixture.insert(entity, values, into: &changes)
                touched.insert(id)
                objects[id] = values
            case 5...7:
                guard let id = known.randomElement(using: &generator) else { continue }
                let values = someValues()
                if values.isEmpty { continue }
                try fixture.update(id, values, in: &changes)
                touched.insert(id)
                for (name, value) in values { objects[id]?[name] = value }
            default:
                guard let id = known.randomElement(using: &generator) else { continue }
                changes.deletions.append(.init(id: id, baseRevision: try fixture.revision(of: id)))
                touched.insert(id)
                objects[id] = nil
            }
        }
        guard !changes.isEmpty else { return }
        changes.insertions.sort { $0.id < $1.id }
        history.append((try fixture.save(changes).eventNumber, objects))
    }

    /// Unsaved changes of the present state, and the objects with them.
    mutating func pending() throws -> (layer: Layer, objects: [ObjectID: [String: AttributeValue]]) {
        var builder = Layer.Builder(schema: fixture.schema)
        var changed = objects
        for id in objects.keys.sorted() where Int.random(in: 0..<4, using: &generator) == 0 {
            if Int.random(in: 0..<3, using: &generator) == 0 {
                builder.setAbsent(id)
                changed[id] = nil
                continue
            }
            var values = objects[id] ?? [:]
            values.merge(someValues()) { $1 }
            builder.setRow(id, try fixture.image(try fixture.name(of: id), values), revision: .zero)
            changed[id] = values
        }
        let id = try fixture.store.newObjectID(in: try fixture.entity("Film").id)
        changed[id] = ["plot": .string("the zone unsaved"), "title": .string("Room")]
        builder.setRow(id, try fixture.image("Film", changed[id] ?? [:]), revision: .zero)
        return (builder.finish(), changed)
    }

    // MARK: Comparing

    /// What a query finds, in the order of its ranks, computed from plain values.
    static func expected(
        _ query: FullTextQuery, _ objects: [ObjectID: [String: AttributeValue]], names: [String]
    ) -> [(ObjectID, Double)] {
        let columns = query.phrases.map { phrase in
            phrase.columns.map { $0.compactMap { names.firstIndex(of: $0) } }
        }
        var found = query.phrases.map { _ in 0 }
        var wordCount = 0
        var hits: [(ObjectID, FullTextQuery.Verdict, Int)] = []
        for (id, values) in objects {
            let scan = TextScan(query)
            for (column, name) in names.enumerated() {
                guard var text = values[name]?.text else { continue }
                text.withUTF8 { scan.add($0, column: column) }
            }
            wordCount += scan.length
            let verdict = query.verdict(scan.occurrences, columns: columns)
            for (index, isThere) in verdict.isThere.enumerated() where isThere { found[index] += 1 }
            if verdict.holds { hits.append((id, verdict, scan.length)) }
        }
        let count = Double(objects.count)
        let average = Double(wordCount) / max(1, count)
        return hits.map { id, verdict, length in
            var rank = 0.0
            for (phrase, times) in verdict.counts.enumerated() where times > 0 {
                let weight = log((count - Double(found[phrase]) + 0.5) / (Double(found[phrase]) + 0.5))
                let frequency = Double(times)
                rank +=
                    max(weight, 1e-6) * frequency * 2.2
                    / (frequency + 1.2 * (0.25 + 0.75 * Double(length) / average))
            }
            return (id, rank)
        }.sorted { $0.0 < $1.0 }
    }

    /// What the store says that plain values do not.
    func problem(
        at eventNumber: EventNumber? = nil, pending: Layer? = nil, _ objects: [ObjectID: [String: AttributeValue]],
        names: [String] = ["title", "plot"]
    ) throws -> String? {
        let schema = fixture.schema
        let film = try fixture.entity("Film")
        let series = try fixture.entity("Series").id
        return try fixture.store.read(at: try eventNumber ?? fixture.store.head()) { below in
            let snapshot =
                pending.map { layer in
                    Snapshot(
                        eventNumber: below.eventNumber, schema: schema, transaction: below.transaction,
                        tables: below.tables, histories: below.histories, layers: below.layers + [layer])
                } ?? below
            for text in Self.queries {
                if names.count < 2, text.contains(":") { continue }
                let query = try FullTextQuery(text)
                let expected = Self.expected(query, objects, names: names)
                let request = StoreRequest(entityID: film.id, predicate: .matchesText(text))
                let ids = expected.map(\.0)
                let found = try snapshot.fetch(request)
                if found != ids { return "\(text) finds \(found), not \(ids)" }
                if try snapshot.count(request) != ids.count { return "\(text) counts wrongly" }
                let scan = try snapshot.fetch(CompiledQuery(request, schema, access: .scanOnly))
                if scan != ids { return "\(text) by rows finds \(scan), not \(ids)" }
                var ranked = request
                ranked.sort = [.relevance]
                let ranks = Dictionary(uniqueKeysWithValues: expected)
                let order = try snapshot.fetch(ranked).map { ranks[$0] ?? -1 }
                for (first, second) in zip(order, order.dropFirst()) where second > first + 1e-9 {
                    return "\(text) is ranked \(order)"
                }
                if order.count != ids.count || order.contains(-1) { return "\(text) ranks others" }
                ranked.limit = 3
                ranked.offset = 1
                let best = try snapshot.fetch(ranked).map { ranks[$0] ?? -1 }
                let wanted = ranks.values.sorted(by: >).dropFirst().prefix(3)
                if zip(best, wanted).contains(where: { abs($0 - $1) > 1e-9 }) || best.count != wanted.count {
                    return "\(text) has the best \(best), not \(Array(wanted))"
                }
                var narrow = request
                narrow.entityID = series
                narrow.predicate = .matchesText(text) && (try FetchPredicate(format: "year >= 1971"))
                let some = ids.filter { id in
                    guard id.entityID == series, case .integer(let year)? = objects[id]?["year"] else { return false }
                    return year >= 1971
                }
                if try snapshot.fetch(narrow) != some { return "\(text) with a year finds others" }
                var negated = request
                negated.predicate = .not(.matchesText(text))
                let others = objects.keys.filter { ranks[$0] == nil }.sorted()
                if try snapshot.fetch(negated) != others { return "NOT \(text) finds others" }
            }
            return nil
        }
    }
}
