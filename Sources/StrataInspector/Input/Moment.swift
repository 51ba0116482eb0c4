import Foundation
import StrataModel
import StrataStore

/// A moment as a person gives it: an event's sequence, `t12` for a transaction, an ISO 8601 date, or `2 hours ago`.
enum Moment {
    /// The state to show for a moment: a sequence in the middle of a save stands for the end of the save before it.
    static func sequence(_ text: String, in store: Store, now: Date = Date()) throws -> EventSequence {
        if let number = UInt64(text) {
            let sequence = EventSequence(rawValue: number)
            guard let transaction = try store.transaction(containing: sequence) else {
                let head = try store.head()
                if sequence <= head { return .zero }
                throw UsageError("The log ends at \(head); there is no event \(number) yet.")
            }
            return sequence == transaction.lastEvent
                ? sequence : EventSequence(rawValue: transaction.firstEvent.rawValue - 1)
        }
        if text.hasPrefix("t"), let number = UInt64(text.dropFirst()) {
            do {
                return try store.sequence(of: TransactionSequence(rawValue: number))
            } catch let error as StrataError where error.code == .futureSequence {
                throw UsageError("The log has no transaction \(number).")
            }
        }
        return try store.sequence(at: try date(text, now: now))
    }

    /// The first event at or after the moment, for `--since`.
    static func firstEvent(_ text: String, in store: Store) throws -> EventSequence {
        if let number = UInt64(text) { return EventSequence(rawValue: number) }
        if text.hasPrefix("t"), let number = UInt64(text.dropFirst()), number > 0 {
            return try store.transaction(TransactionSequence(rawValue: number))?.firstEvent
                ?? store.head().advanced(by: 1)
        }
        // The moment itself belongs to it.
        let date = try date(text, now: Date()).addingTimeInterval(-0.000_001)
        return try store.sequence(at: date).advanced(by: 1)
    }

    /// The last event at or before the moment, for `--until`.
    static func lastEvent(_ text: String, in store: Store) throws -> EventSequence {
        if let number = UInt64(text) { return EventSequence(rawValue: number) }
        return try sequence(text, in: store)
    }

    /// `2026-11-21`, `2026-11-21T10:00:00Z`, with fraction or offset; `90 seconds ago`, `2 hours ago`, `now`.
    static func date(_ text: String, now: Date) throws -> Date {
        if text == "now" { return now }
        if let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) {
            return date
        }
        if let date = try? Date(text, strategy: .iso8601) { return date }
        if let date = try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day()) { return date }
        let words = text.split(separator: " ")
        if words.count == 3, words[2] == "ago", let number = Double(words[0]), let unit = seconds(words[1]) {
            return now.addingTimeInterval(-number * unit)
        }
        throw UsageError(
            "'\(text)' is no moment. Write a sequence (1200), a transaction (t12), a date (2026-11-21 or "
                + "2026-11-21T10:00:00Z), or '2 hours ago'.")
    }

    private static func seconds(_ unit: Substring) -> Double? {
        switch unit.hasSuffix("s") ? unit.dropLast() : unit {
        case "second": 1
        case "minute": 60
        case "hour": 3600
        case "day": 86400
        case "week": 604_800
        default: nil
        }
    }
}
