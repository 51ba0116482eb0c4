import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata stats`: counts events by kind and entity, and transactions by author and size.
struct StatsCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Counts events by kind and entity, and transactions by author and size.",
        discussion: """
            \(Moment.help)

            --json prints {"transactions", "events", "seconds" between the first and the last transaction, \
            "eventsInTransaction": {"mean", "median", "largest", "largestTransaction"}, "kinds": {kind: events}, \
            "entities": {entity: {"inserted", "updated", "deleted"}}, "authors": {name: {"transactions", "events"}}}.

            Examples:
                strata stats BowTies.strata
                strata stats BowTies.strata --since '1 week ago' --json
            """)

    @OptionGroup var store: StoreArguments
    @OptionGroup var span: SpanArguments
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            var counts = EventCounts()
            let (start, end) = try span.events(in: store)
            try counts.read(store, from: start, through: end)
            try json ? JSONText.print(counts.json) : counts.print()
        }
    }
}

/// The counts that one walk along the log collects.
struct EventCounts {
    struct Entity: Encodable {
        var inserted = 0
        var updated = 0
        var deleted = 0
    }

    struct Author: Encodable {
        var transactions = 0
        var events = 0
    }

    private var kinds: [String: Int] = [:]
    private var entities: [EntityID: Entity] = [:]
    /// The values of `entities`, under the names of the entities.
    private var namedEntities: [String: Entity] = [:]
    private var authors: [String: Author] = [:]
    private var sizes: [Int] = []
    private var largest: TransactionRecord?
    private var first: TransactionRecord?
    private var last: TransactionRecord?

    mutating func read(_ store: Store, from start: EventNumber, through end: EventNumber) throws {
        try store.transactions(from: start, through: end) { note($0) }
        guard start <= end else { return }
        let progress = ProgressLine()
        let handler = progress.handler
        defer { progress.finish() }
        var done = 0
        try store.events(from: start, through: end) { event in
            done += 1
            if done % 10_000 == 0 {
                handler(StoreProgress(phase: "events", done: done, total: Int(end.rawValue - start.rawValue) + 1))
            }
            note(event)
            return true
        }
        let names = try store.recordedNames()
        namedEntities = Dictionary(
            entities.map { (names.name(of: $0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private mutating func note(_ record: TransactionRecord) {
        first = first ?? record
        last = record
        sizes.append(record.eventCount)
        if record.eventCount > largest?.eventCount ?? 0 { largest = record }
        authors[record.author ?? "-", default: Author()].transactions += 1
        authors[record.author ?? "-", default: Author()].events += record.eventCount
    }

    private mutating func note(_ event: RecordedEvent) {
        kinds["\(event.kind)", default: 0] += 1
        guard let entity = event.object?.entityID else { return }
        switch event.kind {
        case .inserted: entities[entity, default: Entity()].inserted += 1
        case .updated: entities[entity, default: Entity()].updated += 1
        case .deleted: entities[entity, default: Entity()].deleted += 1
        default: break
        }
    }

    private var events: Int { kinds.values.reduce(0, +) }

    private var median: Int { sizes.isEmpty ? 0 : sizes.sorted()[sizes.count / 2] }

    var json: JSONObject {
        [
            "transactions": sizes.count, "events": events,
            "seconds": first.flatMap { first in last.map { $0.date.timeIntervalSince(first.date) } } ?? 0,
            "eventsInTransaction": [
                "mean": sizes.isEmpty ? 0 : Double(sizes.reduce(0, +)) / Double(sizes.count), "median": median,
                "largest": sizes.max() ?? 0, "largestTransaction": largest?.number.rawValue,
            ] as JSONObject,
            "kinds": kinds, "entities": namedEntities, "authors": authors,
        ]
    }

    func print() {
        var head = Columns([.left, .right])
        head.add("transactions", ValueText.count(sizes.count))
        head.add("events", ValueText.count(events))
        head.add("events in a transaction, median", ValueText.count(median))
        head.add(
            "in the largest" + (largest.map { " (t\($0.number))" } ?? ""), ValueText.count(sizes.max() ?? 0))
        head.flush()
        Columns.section("Events", [.left, .right]) { columns in
            for (kind, count) in kinds.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                columns.add(kind, ValueText.count(count))
            }
        }
        Columns.section(
            "Entities", [.left, .right, .right, .right], ["", "inserted", "updated", "deleted"]
        ) { columns in
            for (name, counts) in namedEntities.sorted(by: { $0.key < $1.key }) {
                columns.add(
                    name, ValueText.count(counts.inserted), ValueText.count(counts.updated),
                    ValueText.count(counts.deleted))
            }
        }
        Columns.section("Authors", [.left, .right, .right], ["", "transactions", "events"]) { columns in
            for (name, counts) in authors.sorted(by: {
                ($1.value.transactions, $0.key) < ($0.value.transactions, $1.key)
            }) {
                columns.add(name, ValueText.count(counts.transactions), ValueText.count(counts.events))
            }
        }
    }
}
