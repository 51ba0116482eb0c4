// The timeline of Studio: the store's transactions in parts of equal length.

import Foundation
import Locking
import StrataModel
import StrataStore

/// The times and authors of transactions, kept between requests: four bytes and a time for each.
struct StudioPulse {
    /// The number of the transaction before the first, which is the first that is kept.
    private(set) var start: UInt64 = 0
    private(set) var microseconds: [Int64] = []
    private(set) var authors: [UInt32] = []
    private(set) var names: [String?] = []
    private var known: [String?: UInt32] = [:]

    /// Adds what is new in the log.
    mutating func update(_ store: Store, _ checkCancellation: () throws -> Void) throws {
        if let dropped = try store.baseline()?.transaction.rawValue, dropped > start {
            let count = min(Int(clamping: dropped - start), microseconds.count)
            microseconds.removeFirst(count)
            authors.removeFirst(count)
            start = dropped
        }
        while true {
            try checkCancellation()
            let page = try store.transactions(after: .init(rawValue: start + UInt64(microseconds.count)), limit: 1000)
            if page.isEmpty { return }
            for record in page { add(record) }
        }
    }

    private mutating func add(_ record: TransactionRecord) {
        let author: UInt32
        if let number = known[record.author] {
            author = number
        } else {
            author = UInt32(names.count)
            names.append(record.author)
            known[record.author] = author
        }
        microseconds.append(record.microseconds)
        authors.append(author)
    }
}

/// The store's whole life in parts of equal length, for a slider.
///
/// Parameters: `parts`.
struct TimelinePage: Encodable {
    struct Part: Encodable, Equatable {
        /// The first and the last transaction of the part; of an empty part, the one before it twice.
        var first: UInt64
        var last: UInt64
        var count = 0
        /// Transactions by author: indexes into `authors`, in pairs with counts.
        var authors: [[Int]] = []
    }

    struct Author: Encodable, Equatable {
        let name: String?
        let count: Int
    }

    struct Tag: Encodable, Equatable {
        let name: String
        let transaction: UInt64
    }

    let moment: StudioMoment
    /// The first transaction that is kept, after which the store can be shown; 0 without any.
    let first: UInt64
    let start: String?
    let end: String?
    /// The authors with the most transactions first; nil for transactions without an author, and for the rest.
    let authors: [Author]
    let parts: [Part]
    let tags: [Tag]

    /// Authors with a colour of their own; the others share one.
    private static let mostAuthors = 7

    init(_ reading: StudioReading) throws {
        moment = try StudioMoment(reading)
        let most = try reading.number("parts", 1...1000, default: 160)
        let pulse = try reading.source.pulse.withLock { pulse in
            try pulse.update(reading.store) { try reading.checkCancellation() }
            return pulse
        }
        first = min(pulse.start + 1, moment.newest)
        let (authors, ranks) = Self.ranked(pulse)
        self.authors = authors
        parts = Self.parts(pulse, ranks, most)
        start = pulse.microseconds.first.map(Self.text)
        end = pulse.microseconds.last.map(Self.text)
        tags = try reading.store.tags().map { name, event in
            Tag(name: name, transaction: try reading.store.lastTransaction(upTo: event).rawValue)
        }.sorted { ($0.transaction, $0.name) < ($1.transaction, $1.name) }
        reading.source.preparePast(Studio.threads)
    }

    private static func text(_ microseconds: Int64) -> String {
        ValueText.moment(Date(timeIntervalSince1970: Double(microseconds) / 1_000_000))
    }

    /// The authors by number of transactions, and the place of each in that list.
    private static func ranked(_ pulse: StudioPulse) -> ([Author], [Int]) {
        var counts = [Int](repeating: 0, count: pulse.names.count)
        for author in pulse.authors { counts[Int(author)] += 1 }
        let order = counts.indices.sorted { (counts[$1], $0) < (counts[$0], $1) }
        var ranks = [Int](repeating: mostAuthors, count: counts.count)
        for (rank, author) in order.prefix(mostAuthors).enumerated() { ranks[author] = rank }
        // One author more has the place of the others alone.
        let named = order.count == mostAuthors + 1 ? order.count : mostAuthors
        var authors = order.prefix(named).map { Author(name: pulse.names[$0], count: counts[$0]) }
        let rest = order.dropFirst(named).reduce(0) { $0 + counts[$1] }
        if rest > 0 { authors.append(Author(name: "\(order.count - named) others", count: rest)) }
        return (authors, ranks)
    }

    private static func parts(_ pulse: StudioPulse, _ ranks: [Int], _ most: Int) -> [Part] {
        guard let first = pulse.microseconds.first, let last = pulse.microseconds.last else { return [] }
        let length = Double(max(last - first, 1))
        var parts: [Part] = []
        var counts: [Int: Int] = [:]
        func close() {
            guard !parts.isEmpty else { return }
            parts[parts.count - 1].authors = counts.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }
            counts = [:]
        }
        for (offset, microseconds) in pulse.microseconds.enumerated() {
            let number = pulse.start + UInt64(offset + 1)
            let index = min(Int(Double(microseconds - first) / length * Double(most)), most - 1)
            while parts.count <= index {
                close()
                parts.append(Part(first: number - 1, last: number - 1))
            }
            if parts[parts.count - 1].count == 0 { parts[parts.count - 1].first = number }
            parts[parts.count - 1].last = number
            parts[parts.count - 1].count += 1
            counts[ranks[Int(pulse.authors[offset])], default: 0] += 1
        }
        close()
        return parts
    }
}
