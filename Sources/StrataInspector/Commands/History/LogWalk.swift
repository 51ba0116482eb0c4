// Walks the log for listings (`LogWalk`), with the filter and the arguments that choose a part of it.

import ArgumentParser
import Foundation
import StrataModel
import StrataStore

/// Chooses the events that a listing shows.
struct LogFilter {
    var first = EventNumber(rawValue: 1)
    var last = EventNumber(rawValue: .max)
    var entities: Set<EntityID>?
    var object: ObjectID?
    var kind: EventKind?
    /// By the entity of the object that an event is about.
    var properties: [EntityID: Set<PropertyID>]?
    var author: String?

    /// The kind's name on the command line: `inserted`, `modelInstalled`.
    static func kind(named name: String) -> EventKind? {
        EventKind.allCases.first { "\($0)".lowercased() == name.lowercased() }
    }

    /// Whether an event of the transaction may pass, judged by the entities and kinds that its record lists.
    func mayPass(_ transaction: TransactionRecord) -> Bool {
        if let author, transaction.author != author { return false }
        if transaction.lastEvent < first || transaction.firstEvent > last { return false }
        let isAnyEntity = entities == nil && object == nil
        return isAnyEntity
            || transaction.touched.contains { touched in
                (entities?.contains(touched.entity) ?? true) && (object.map { $0.entityID == touched.entity } ?? true)
            }
    }

    /// The event with only the changes that pass; nil if none does.
    func passing(_ event: RecordedEvent) -> RecordedEvent? {
        if let kind, event.kind != kind { return nil }
        if let entities, !event.objects.contains(where: { entities.contains($0.entityID) }) { return nil }
        if let object, !event.objects.contains(object) { return nil }
        guard let properties else { return event }
        let entity = event.object?.entityID ?? event.objects.first?.entityID
        return Self.narrowed(event, to: entity.flatMap { properties[$0] } ?? [])
    }

    private static func narrowed(_ event: RecordedEvent, to properties: Set<PropertyID>) -> RecordedEvent? {
        var event = event
        switch event.payload {
        case .updated(let changes):
            let passing = changes.filter { properties.contains($0.property) }
            event.payload = .updated(passing)
            return passing.isEmpty ? nil : event
        case .inserted(let values):
            let passing = values.filter { properties.contains($0.property) }
            event.payload = .inserted(passing)
            return passing.isEmpty ? nil : event
        case .deleted(let values):
            let passing = values.filter { properties.contains($0.property) }
            event.payload = .deleted(passing)
            return passing.isEmpty ? nil : event
        case .linked(let pair), .unlinked(let pair), .moved(let pair):
            return properties.contains(pair.key.property) ? event : nil
        case .modelInstalled, .maintenance, .redacted: return nil
        }
    }
}

/// Walks the log transaction by transaction, and reads only those that the filter may let pass.
struct LogWalk {
    let store: Store
    let filter: LogFilter
    let order: LogOrder
    var limit: Int?

    private static let page = 256

    /// Calls `body` with each event that passes. Large before-images are complete; values are decrypted whose key is known.
    func run(_ body: (RecordedEvent, TransactionRecord) throws -> Void) throws {
        var left = limit ?? .max
        var position = try start()
        while left > 0 {
            let page =
                order == .oldestFirst
                ? try store.transactions(after: position, limit: Self.page)
                : try store.transactions(before: position, limit: Self.page)
            guard let end = page.last else { return }
            for transaction in page {
                if order == .oldestFirst ? transaction.firstEvent > filter.last : transaction.lastEvent < filter.first {
                    return
                }
                guard filter.mayPass(transaction) else { continue }
                try walk(transaction, &left, body)
                if left == 0 { return }
            }
            position = end.number
        }
    }

    /// The transaction before the first of the walk; after the last one if the walk is newest first.
    private func start() throws -> TransactionNumber {
        if order == .oldestFirst {
            // Transactions before the baseline no longer exist.
            if let baseline = try store.baseline(), filter.first <= baseline.event { return baseline.transaction }
            let first = try store.transaction(containing: filter.first)
            guard let first else { return filter.first <= EventNumber(rawValue: 1) ? .zero : .init(rawValue: .max) }
            return TransactionNumber(rawValue: first.number.rawValue - 1)
        }
        let last = try store.transaction(containing: filter.last)
        if last == nil, let baseline = try store.baseline(), filter.last <= baseline.event { return .zero }
        return last.map { TransactionNumber(rawValue: $0.number.rawValue + 1) } ?? .init(rawValue: .max)
    }

    private func walk(
        _ transaction: TransactionRecord, _ left: inout Int,
        _ body: (RecordedEvent, TransactionRecord) throws -> Void
    ) throws {
        // Reads in slices, so that a transaction of a million events streams, and no read transaction stays open while a
        // pager waits.
        var next =
            order == .oldestFirst ? max(transaction.firstEvent, filter.first) : min(transaction.lastEvent, filter.last)
        while left > 0 {
            var slice: [RecordedEvent] = []
            var seen = next
            let (low, high) =
                order == .oldestFirst
                ? (next, min(transaction.lastEvent, filter.last)) : (max(transaction.firstEvent, filter.first), next)
            guard low <= high else { return }
            var count = 0
            try store.events(from: low, through: high, order: order) { event in
                seen = event.eventNumber
                count += 1
                if let passing = filter.passing(event) { slice.append(passing) }
                return slice.count < min(left, 1000) && count < 20_000
            }
            for event in slice { try body(try store.shown(event), transaction) }
            left -= slice.count
            if order == .oldestFirst {
                next = EventNumber(rawValue: seen.rawValue + 1)
            } else {
                guard seen.rawValue > 1 else { return }
                next = EventNumber(rawValue: seen.rawValue - 1)
            }
        }
    }
}

/// The arguments that choose a part of the log.
struct SpanArguments: ParsableArguments {
    @Option(help: "Nothing before this moment.") var since: String?
    @Option(help: "Nothing after this moment.") var until: String?

    init() {}

    func events(in store: Store) throws -> (first: EventNumber, last: EventNumber) {
        let first = try since.map { try Moment.firstEvent($0, in: store) }
        let last = try until.map { try Moment.lastEvent($0, in: store) }
        let kept = EventNumber(rawValue: (try store.baseline()?.event.rawValue ?? 0) + 1)
        return (max(first ?? kept, kept), try last ?? store.head())
    }
}

extension Store {
    /// An event with every large before-image, and decrypted where the key is known.
    func shown(_ event: RecordedEvent) throws -> RecordedEvent { try resolved(event).decrypted(keyRing) }

    /// Calls `body` with every transaction that has an event from `start` through `end`, oldest first.
    func transactions(
        from start: EventNumber, through end: EventNumber, _ body: (TransactionRecord) throws -> Void
    ) throws {
        let dropped = try baseline()?.transaction ?? .zero
        let first = try transaction(containing: start)
        var number = first.map { TransactionNumber(rawValue: $0.number.rawValue - 1) } ?? dropped
        while true {
            let page = try transactions(after: number, limit: 1000)
            guard let newest = page.last else { return }
            for record in page where record.lastEvent >= start {
                if record.firstEvent > end { return }
                try body(record)
            }
            number = newest.number
        }
    }
}
