// Studio's list of transactions, and the page of one transaction.

import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// A transaction in one line.
struct StudioTransaction: Encodable, Equatable {
    struct Part: Encodable, Equatable {
        let entity: String
        /// The kinds of changes of its objects: inserted, updated, deleted, linked.
        let kinds: [String]
    }

    let number: UInt64
    let time: String
    let author: String?
    let context: String?
    let process: String?
    /// Its beginning, if it is long; the page of the transaction has all of it.
    var reason: String?
    let events: Int
    let entities: [Part]
    /// What it did apart from objects: a model, a tag, an erasure. Nil where that is not told.
    var notes: [String]?

    init(_ record: TransactionRecord, _ names: RecordedNames) {
        number = record.number.rawValue
        time = ValueText.moment(record.date)
        author = record.author
        context = record.contextName
        process = record.processName
        reason = record.reason.map { ValueText.beginning($0) }
        events = record.eventCount
        entities = record.touched.map { touched in
            let kinds = EventKind.allCases.filter(touched.has)
            return Part(entity: names.name(of: touched.entity), kinds: kinds.map { "\($0)" })
        }.sorted { $0.entity < $1.entity }
    }
}

/// The transactions up to the moment, newest first.
///
/// Parameters: `since` and `until` (each a transaction, a tag or a date), `author`, `entity`, `text` (in the reason, the
/// names and the metadata); `before` (a transaction), `limit`.
struct TransactionsPage: Encodable {
    let moment: StudioMoment
    let transactions: [StudioTransaction]
    /// The `before` of the next page; nil at the end.
    let next: UInt64?

    /// The most records that one request looks at.
    private static let mostRecords = 100_000

    init(_ reading: StudioReading) throws {
        moment = try StudioMoment(reading)
        let limit = try reading.number("limit", 1...500, default: 50)
        let filter = try TransactionFilter(reading)
        let bounds = try TransactionBounds(reading, newest: moment.transaction)
        var before = bounds.end
        var found: [StudioTransaction] = []
        var looked = 0
        var isMore = true
        while isMore, found.count < limit, looked < Self.mostRecords {
            try reading.checkCancellation()
            let page = try reading.store.transactions(before: TransactionNumber(rawValue: before), limit: 1000)
            isMore = page.last.map { $0.number.rawValue >= bounds.first } ?? false
            for record in page where found.count < limit && record.number.rawValue >= bounds.first {
                before = record.number.rawValue
                looked += 1
                guard filter.passes(record) else { continue }
                var transaction = StudioTransaction(record, reading.names)
                transaction.notes = try Self.notes(of: record, reading)
                found.append(transaction)
            }
        }
        transactions = found
        let isPart = found.count == limit || looked >= Self.mostRecords
        next = isPart && before > bounds.first ? before : nil
    }

    private static let mostNotes = 3

    /// What a transaction that touches no object did.
    private static func notes(of record: TransactionRecord, _ reading: StudioReading) throws -> [String]? {
        guard record.touched.isEmpty else { return nil }
        let words = EventText(links: reading.links)
        var notes: [String] = []
        try reading.store.events(from: record.firstEvent, through: record.lastEvent) { event in
            notes += words.lines(event)
            return notes.count < mostNotes
        }
        return notes
    }
}

/// The part of the log that a list is about.
private struct TransactionBounds {
    let first: UInt64
    /// The number after the last one.
    let end: UInt64

    init(_ reading: StudioReading, newest: UInt64) throws {
        func transaction(_ moment: StoreMoment) throws -> UInt64 {
            try reading.store.lastTransaction(upTo: moment.eventNumber).rawValue
        }
        first =
            try reading.text("since").map { text in
                let moment = try StudioReading.moment(text, "since", in: reading.store)
                // A date is between two transactions, of which the later one is meant.
                let isItself = UInt64(text) != nil || text.hasPrefix("t") && UInt64(text.dropFirst()) != nil
                return try transaction(moment) + (isItself ? 0 : 1)
            } ?? 1
        let last =
            try reading.text("until").map { text in
                try transaction(StudioReading.moment(text, "until", in: reading.store))
            } ?? newest
        let before = try reading.number("before", 0...Int.max, default: Int.max)
        end = min(min(last, newest) + 1, UInt64(before))
    }
}

/// Chooses the transactions of a list.
private struct TransactionFilter {
    private let author: String?
    private let entities: Set<EntityID>?
    private let text: String?

    init(_ reading: StudioReading) throws {
        author = try reading.text("author")
        entities = try reading.text("entity").map { name in
            try StudioProblem.of("entity") { try EntityName.numbersEver(of: name, in: reading.store) }
        }
        text = try reading.text("text")?.lowercased()
    }

    func passes(_ record: TransactionRecord) -> Bool {
        if let author, record.author != author { return false }
        if let entities, !record.touched.contains(where: { entities.contains($0.entity) }) { return false }
        guard let text else { return true }
        let words = [record.author, record.contextName, record.processName].compactMap(\.self) + record.metadata.values
        return words.contains { $0.lowercased().contains(text) }
    }
}

/// The events of one transaction, a part at a time.
///
/// Parameters: `offset` and `limit` of the events.
struct TransactionPage: Encodable {
    struct EventCount: Encodable, Equatable {
        let entity: String
        let kind: String
        let count: Int
    }

    let moment: StudioMoment
    let transaction: StudioTransaction
    let metadata: [String: String]
    /// Conflicts that the save overruled, each in a sentence.
    let conflicts: [String]
    let tags: [String]
    /// The number of events of each kind and entity; nil for a transaction of too many events to count.
    let counts: [EventCount]?
    let events: [StudioEvent]
    let offset: Int
    let previous: UInt64?
    let next: UInt64?

    init(_ number: String, _ reading: StudioReading) throws {
        guard let wanted = UInt64(number), let record = try reading.store.transaction(.init(rawValue: wanted)) else {
            throw StudioProblem(404, "The log has no transaction \(number).")
        }
        moment = try StudioMoment(reading)
        var whole = StudioTransaction(record, reading.names)
        whole.reason = record.reason
        transaction = whole
        let recorded = try HistoryTransaction(record)
        metadata = recorded.metadata
        conflicts = recorded.conflicts.map(\.description)
        tags = try reading.store.tags().filter { $0.value == record.lastEvent }.keys.sorted()
        offset = try reading.number("offset", 0...Int.max, default: 0)
        let limit = try reading.number("limit", 1...500, default: 100)
        let dropped = try reading.store.baseline()?.transaction.rawValue ?? 0
        previous = wanted > dropped + 1 ? wanted - 1 : nil
        next = wanted < moment.newest ? wanted + 1 : nil
        events = try Self.events(of: record, offset, limit, reading)
        counts = try Self.counts(record, reading)
    }

    private static let mostCounted = 20_000

    private static func counts(_ record: TransactionRecord, _ reading: StudioReading) throws -> [EventCount]? {
        guard record.eventCount <= mostCounted else { return nil }
        var counts: [EntityID: [EventKind: Int]] = [:]
        try reading.store.events(from: record.firstEvent, through: record.lastEvent) { event in
            if let entity = event.object?.entityID { counts[entity, default: [:]][event.kind, default: 0] += 1 }
            return !reading.monitor.isCancelled
        }
        return counts.flatMap { entity, kinds in
            kinds.map { EventCount(entity: reading.names.name(of: entity), kind: "\($0.key)", count: $0.value) }
        }.sorted { ($0.entity, $0.kind) < ($1.entity, $1.kind) }
    }

    /// Objects have the names that they had after the transaction.
    private static func events(
        of record: TransactionRecord, _ offset: Int, _ limit: Int, _ reading: StudioReading
    ) throws -> [StudioEvent] {
        guard offset < record.eventCount else { return [] }
        let first = EventNumber(rawValue: record.firstEvent.rawValue + UInt64(offset))
        var events: [RecordedEvent] = []
        try reading.store.events(from: first, through: record.lastEvent) { event in
            events.append(event)
            return events.count < limit
        }
        let links = try StoreMoment("t\(record.number.rawValue)", in: reading.store)
            .linkNames(reading.names, in: reading.store, usesTitles: true)
        return try events.map { try StudioEvent($0, of: record, reading, links) }
    }
}
