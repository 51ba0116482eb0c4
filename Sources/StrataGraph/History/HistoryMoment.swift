public import Foundation
public import StrataModel
import StrataStore

/// A moment in a store's history.
public enum HistoryMoment: Sendable, Hashable {
    /// The end of the transaction that the event belongs to.
    case eventNumber(EventNumber)
    /// The newest transaction that is not after the date.
    case date(Date)
    case transaction(TransactionNumber)
    /// What a tag names.
    case tag(String)
    /// The end of the log.
    case now
}

extension PersistentContainer {
    /// Where in the log a moment is: the last event of a transaction; zero before the first.
    ///
    /// - Throws: `futureSequence`, `historyDropped` for what is no longer kept, `unknownKey` for a tag that is not
    ///   there.
    public func eventNumber(at moment: HistoryMoment) throws -> EventNumber {
        let store = binding.store
        let eventNumber: EventNumber
        switch moment {
        case .eventNumber(let wanted): eventNumber = try store.transaction(containing: wanted)?.lastEvent ?? wanted
        case .date(let date): eventNumber = try store.eventNumber(at: date)
        case .transaction(let transaction): eventNumber = try store.eventNumber(of: transaction)
        case .tag(let name):
            guard let tagged = try store.tag(name) else {
                throw StrataError(.unknownKey, "The store has no tag \(name).", context: .init(value: .string(name)))
            }
            eventNumber = tagged
        case .now: eventNumber = try store.head()
        }
        // Says now whether the moment can be shown.
        try store.read(at: eventNumber) { _ in }
        return eventNumber
    }

    // MARK: Tags

    /// Gives a moment a name, for ever or until the tag is set elsewhere or removed. The log says who did and when.
    ///
    /// ```swift
    /// try container.setTag("before import")
    /// let past = try container.context(asOf: .tag("before import"))
    /// ```
    ///
    /// - Throws: `keyTooLong` over 400 bytes, `futureSequence`, `readOnly`.
    public func setTag(_ name: String, at moment: HistoryMoment = .now, author: String? = nil) throws {
        try binding.store.setTag(name, at: try eventNumber(at: moment), MaintenanceNote(author: author))
    }

    /// Takes a tag away; the moment stays.
    ///
    /// - Returns: whether there was such a tag.
    @discardableResult
    public func removeTag(_ name: String, author: String? = nil) throws -> Bool {
        try binding.store.removeTag(name, MaintenanceNote(author: author))
    }

    /// Every tag with the place that it names.
    public func tags() throws -> [String: EventNumber] { try binding.store.tags() }
}
