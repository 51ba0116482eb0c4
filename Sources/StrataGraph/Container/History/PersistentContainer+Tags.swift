public import StrataModel
import StrataStore

// Moments of the history as event numbers, and tags for them.

extension PersistentContainer {
    /// The number of the last event that a moment includes; zero before the first transaction.
    ///
    /// - Throws: `futureEvent` beyond the end of the log, `historyDropped` before the kept history, `unknownKey` for
    ///   a tag that does not exist.
    public func eventNumber(at moment: HistoryMoment) throws -> EventNumber {
        let store = binding.store
        let eventNumber: EventNumber
        switch moment {
        case .event(let wanted): eventNumber = try store.transaction(containing: wanted)?.lastEvent ?? wanted
        case .date(let date): eventNumber = try store.eventNumber(at: date)
        case .transaction(let transaction): eventNumber = try store.eventNumber(of: transaction)
        case .tag(let name):
            guard let tagged = try store.tag(name) else {
                throw StrataError(
                    .unknownKey,
                    "The store has no tag \(name)"
                        + NearestName.ending(for: name, among: try store.tags().keys.sorted()),
                    context: .init(value: .string(name)))
            }
            eventNumber = tagged
        case .beginning:
            // The first transaction installs the model.
            eventNumber =
                try store.baseline()?.event ?? store.transactions(after: .zero, limit: 1).first?.lastEvent ?? .zero
        case .now: eventNumber = try store.head()
        }
        // Throws here, not at the first use, if the moment can no longer be shown.
        try store.checkKept(at: eventNumber)
        try store.read(at: eventNumber) { _ in }
        return eventNumber
    }

    // MARK: Tags

    /// Gives a moment a name, until the tag is set to another moment or removed. The log records who did this and when.
    ///
    /// ```swift
    /// try container.setTag("before import")
    /// let past = try container.context(asOf: .tag("before import"))
    /// ```
    ///
    /// - Throws: `keyTooLong` for a name of more than 400 bytes, `invalidRequest` for one that is empty, begins or ends with
    ///   a blank or has control characters, `futureEvent`, `readOnly`.
    public func setTag(_ name: String, at moment: HistoryMoment = .now, author: String? = nil) throws {
        try binding.store.setTag(name, at: try eventNumber(at: moment), MaintenanceNote(author: author))
    }

    /// Removes a tag; the history stays.
    ///
    /// - Returns: whether there was such a tag.
    /// - Throws: `readOnly`.
    @discardableResult
    public func removeTag(_ name: String, author: String? = nil) throws -> Bool {
        try binding.store.removeTag(name, MaintenanceNote(author: author))
    }

    /// The tags by name, with the last event that each includes.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    public func tags() throws -> [String: EventNumber] { try binding.store.tags() }
}
