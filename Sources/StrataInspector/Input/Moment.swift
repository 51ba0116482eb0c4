import Foundation
import StrataModel
import StrataStore

/// A moment as the command line writes it: an event number, `t12` for a transaction, a tag's name, an ISO 8601 date,
/// or `2 hours ago`.
///
/// An event number stands for the transaction that the event belongs to, as in the library: a save is never shown in
/// part. The state at a transaction is the one after it.
///
/// A tag whose name reads as something else, as the library can make it, is written `tag:t12`.
enum Moment {
    /// The sentence for the help of commands that take a moment.
    static let help =
        "A moment is an event number (1200, for its whole transaction), a transaction (t12), a tag, a date (2026-11-21 or "
        + "2026-11-21T10:00:00Z), or '2 hours ago'."

    /// The meanings of a number, in the error for a text that is no moment.
    static let numbers = "an event number (1200), a transaction (t12)"

    /// The last event of the state to show.
    static func eventNumber(_ text: String, in store: Store, now: Date = Date()) throws -> EventNumber {
        if let number = UInt64(text) {
            let eventNumber = EventNumber(rawValue: number)
            guard let transaction = try store.transaction(containing: eventNumber) else {
                let head = try store.head()
                if let baseline = try store.baseline(), eventNumber <= baseline.event {
                    guard eventNumber == baseline.event else { throw baseline.refusal(eventNumber) }
                    return eventNumber
                }
                if eventNumber <= head { return .zero }
                throw UsageError("The log ends at \(head); there is no event \(number) yet.")
            }
            return transaction.lastEvent
        }
        if text.hasPrefix("t"), let number = UInt64(text.dropFirst()) {
            do {
                return try store.eventNumber(of: TransactionNumber(rawValue: number))
            } catch let error as StrataError where error.code == .futureEvent {
                throw UsageError("The log has no transaction \(number).")
            }
        }
        if let date = knownDate(text, now: now) { return try store.eventNumber(at: date) }
        if let tagged = try tag(text, in: store) { return tagged }
        throw noMoment(text, near: try store.tags().keys.sorted())
    }

    /// Checks that a moment has come: all of the history is before one that has not.
    ///
    /// - Throws: `UsageError`.
    static func checkHasCome(_ text: String) throws {
        let now = Date()
        guard UInt64(text) == nil, let date = knownDate(text, now: now), date > now else { return }
        throw UsageError(
            "\(text) is in the future, and all of the history is before it; "
                + "give --before now to keep the newest state only."
        )
    }

    /// Checks that a text names no moment by itself: such a tag could be meant by `tag:now` alone.
    ///
    /// - Throws: `UsageError`.
    static func checkName(ofTag text: String) throws {
        let isTransaction = text.hasPrefix("t") && UInt64(text.dropFirst()) != nil
        guard UInt64(text) != nil || isTransaction || knownDate(text, now: Date()) != nil else { return }
        throw UsageError(
            "'\(text)' is a moment by itself and can be no tag; choose a name that is none, such as v-\(text).")
    }

    private static func tag(_ text: String, in store: Store) throws -> EventNumber? {
        if let tagged = try store.tag(text) { return tagged }
        guard text.hasPrefix("tag:") else { return nil }
        let name = String(text.dropFirst(4))
        if let tagged = try store.tag(name) { return tagged }
        let known = NameSuggestions(try store.tags().keys.sorted())
        throw UsageError("The store has no tag '\(name)'.\(known.hint(for: name))")
    }

    /// The first event at or after the moment, for `--since`: that of the whole transaction, if the moment is an event
    /// number or a transaction.
    static func firstEvent(_ text: String, in store: Store) throws -> EventNumber {
        if let number = UInt64(text) {
            let eventNumber = EventNumber(rawValue: number)
            let head = try store.head()
            // A listing may begin with what comes next.
            guard eventNumber <= head.advanced(by: 1) else {
                throw UsageError("The log ends at \(head); there is no event \(number) yet.")
            }
            return try store.transaction(containing: eventNumber)?.firstEvent ?? eventNumber
        }
        if text.hasPrefix("t"), let number = UInt64(text.dropFirst()), number > 0 {
            let transaction = TransactionNumber(rawValue: number)
            if let baseline = try store.baseline(), transaction <= baseline.transaction { return .zero.advanced(by: 1) }
            if let known = try store.transaction(transaction) { return known.firstEvent }
            let last = try store.transactions(before: nil, limit: 1).first?.number.rawValue ?? 0
            guard number == last + 1 else { throw UsageError("The log has no transaction \(number).") }
            return try store.head().advanced(by: 1)
        }
        if knownDate(text, now: Date()) == nil, let tagged = try tag(text, in: store) { return tagged.advanced(by: 1) }
        guard let known = knownDate(text, now: Date()) else {
            throw noMoment(text, near: try store.tags().keys.sorted())
        }
        // The event at the moment itself is included.
        let date = known.addingTimeInterval(-0.000_001)
        do {
            return try store.eventNumber(at: date).advanced(by: 1)
        } catch let error as StrataError where error.code == .historyDropped {
            return .zero.advanced(by: 1)
        }
    }

    /// The last event at or before the moment, for `--until`.
    static func lastEvent(_ text: String, in store: Store) throws -> EventNumber {
        // Unlike a state, a listing may end after the end of the log.
        if let number = UInt64(text), try EventNumber(rawValue: number) > store.head() { return try store.head() }
        return try eventNumber(text, in: store)
    }

    /// `2026-11-21`, `2026-11-21T10:00:00Z`, with fraction or offset; `90 seconds ago`, `2 hours ago`, `now`.
    static func date(_ text: String, now: Date) throws -> Date {
        if let date = knownDate(text, now: now) { return date }
        throw noMoment(text, near: [])
    }

    private static func noMoment(_ text: String, near tags: [String]) -> UsageError {
        let hint = NearestName.of(text, among: tags).map { " Did you mean the tag '\(ValueText.harmless($0))'?" } ?? ""
        return UsageError(
            "'\(text)' is not a moment.\(hint) Write \(numbers), a tag, a date (2026-11-21 or 2026-11-21T10:00:00Z), or "
                + "'2 hours ago'.")
    }

    /// nil for what is no date.
    private static func knownDate(_ text: String, now: Date) -> Date? {
        if text == "now" { return now }
        if let date = Date(iso8601Text: text) { return date }
        let words = text.split(separator: " ")
        if words.count == 3, words[2] == "ago", let number = Double(words[0]), number >= 0,
            number.isFinite, let unit = seconds(words[1])
        {
            return now.addingTimeInterval(-number * unit)
        }
        return nil
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

/// A moment with the model to read it through: the one that the store had then.
struct StoreMoment {
    let eventNumber: EventNumber
    let schema: Schema
    private let store: Store

    /// - Parameter text: nil for the newest state.
    init(_ text: String?, in store: Store) throws {
        self.store = store
        eventNumber = try text.map { try Moment.eventNumber($0, in: store) } ?? store.head()
        let newest = store.schema
        let then = try text == nil ? newest : store.schema(at: eventNumber)
        // A model that differs in its views alone shows the same, and knows the views of now.
        let isSame =
            then.model.entities == newest.model.entities && then.assignment.properties == newest.assignment.properties
        schema = isSame ? newest : then
    }

    /// The meanings of names of properties at the moment.
    var propertyNames: MomentNames { get throws { try MomentNames(schema, of: store) } }

    /// Names objects as they were at the moment, for people.
    func linkNames(_ names: RecordedNames, in store: Store, usesTitles: Bool = false) -> LinkNames {
        LinkNames(store, in: [(eventNumber, schema)], names, usesTitles: usesTitles)
    }

    /// The entity of the moment that has this name in the model of the moment, or in another one.
    ///
    /// - Throws: `UsageError` with the names that exist.
    func entity(named name: String) throws -> EntitySchema { try EntityName.find(name, in: schema, of: store) }

    func read<R>(
        _ store: Store, monitor: QueryMonitor? = nil, budget: RequestBudget? = nil, _ body: (Snapshot) throws -> R
    ) throws -> R {
        try store.read(at: eventNumber, through: schema, monitor: monitor, budget: budget, body)
    }
}
