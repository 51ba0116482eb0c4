import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// `strata stats`: counts events by kind and entity, and transactions by author and size.
struct StatsCommand: ParsableCommand {
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
    @Option(help: "Nothing before this moment.") var since: String?
    @Option(help: "Nothing after this moment.") var until: String?
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        try store.reading { store in
            var counts = EventCounts()
            try counts.read(
                store, from: try since.map { try Moment.firstEvent($0, in: store) } ?? EventNumber(rawValue: 1),
                through: try until.map { try Moment.lastEvent($0, in: store) } ?? store.head())
            if json { return Output.shared.line(try JSONText.of(counts.text)) }
            counts.print()
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
    private var entityNames: [EntityID: String] = [:]
    private var authors: [String: Author] = [:]
    private var sizes: [Int] = []
    private var largest: TransactionRecord?
    private var first: TransactionRecord?
    private var last: TransactionRecord?

    mutating func read(_ store: Store, from start: EventNumber, through end: EventNumber) throws {
        try readTransactions(store, start, end)
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
        for id in entities.keys { entityNames[id] = names.name(of: id) }
    }

    private mutating func readTransactions(_ store: Store, _ start: EventNumber, _ end: EventNumber) throws {
        var number = TransactionNumber(
            rawValue: (try store.transaction(containing: start)?.number.rawValue ?? 1) - 1)
        while true {
            let page = try store.transactions(after: number, limit: 1000)
            guard let newest = page.last else { return }
            for record in page {
                guard record.firstEvent <= end, record.lastEvent >= start else { continue }
                first = first ?? record
                last = record
                sizes.append(record.eventCount)
                if record.eventCount > largest?.eventCount ?? 0 { largest = record }
                authors[record.author ?? "-", default: Author()].transactions += 1
                authors[record.author ?? "-", default: Author()].events += record.eventCount
            }
            if newest.lastEvent >= end { return }
            number = newest.number
        }
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

    var text: StatsText {
        let sorted = sizes.sorted()
        return StatsText(
            transactions: sizes.count, events: events,
            seconds: first.flatMap { first in last.map { $0.date.timeIntervalSince(first.date) } } ?? 0,
            eventsInTransaction: .init(
                mean: sizes.isEmpty ? 0 : Double(sizes.reduce(0, +)) / Double(sizes.count),
                median: sorted.isEmpty ? 0 : sorted[sorted.count / 2], largest: sorted.last ?? 0,
                largestTransaction: largest?.number.rawValue),
            kinds: kinds,
            entities: Dictionary(
                entities.map { (entityNames[$0.key] ?? "\($0.key)", $0.value) }, uniquingKeysWith: { first, _ in first }
            ),
            authors: authors)
    }

    func print() {
        let text = text
        var head = Columns([.left, .right])
        head.add("transactions", ValueText.count(text.transactions))
        head.add("events", ValueText.count(text.events))
        head.add("events in a transaction, median", ValueText.count(text.eventsInTransaction.median))
        head.add(
            "in the largest" + (text.eventsInTransaction.largestTransaction.map { " (t\($0))" } ?? ""),
            ValueText.count(text.eventsInTransaction.largest))
        head.flush()
        heading("Events")
        var kinds = Columns([.left, .right], indent: "  ")
        for (kind, count) in text.kinds.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            kinds.add(kind, ValueText.count(count))
        }
        kinds.flush()
        heading("Entities")
        var entities = Columns([.left, .right, .right, .right], indent: "  ")
        entities.add([.init("", nil), .init("inserted", .dim), .init("updated", .dim), .init("deleted", .dim)])
        for (name, counts) in text.entities.sorted(by: { $0.key < $1.key }) {
            entities.add(
                name, ValueText.count(counts.inserted), ValueText.count(counts.updated), ValueText.count(counts.deleted)
            )
        }
        entities.flush()
        heading("Authors")
        var authors = Columns([.left, .right, .right], indent: "  ")
        authors.add([.init("", nil), .init("transactions", .dim), .init("events", .dim)])
        for (name, counts) in text.authors.sorted(by: {
            ($1.value.transactions, $0.key) < ($0.value.transactions, $1.key)
        }) {
            authors.add(name, ValueText.count(counts.transactions), ValueText.count(counts.events))
        }
        authors.flush()
    }

    private func heading(_ text: String) {
        Output.shared.line()
        Output.shared.line(Style.standard(text, .bold))
    }
}

struct StatsText: Encodable {
    struct Sizes: Encodable {
        let mean: Double
        let median: Int
        let largest: Int
        let largestTransaction: UInt64?
    }

    let transactions: Int
    let events: Int
    let seconds: Double
    let eventsInTransaction: Sizes
    let kinds: [String: Int]
    let entities: [String: EventCounts.Entity]
    let authors: [String: EventCounts.Author]
}
