public import Foundation
public import StrataModel

/// A moment in a store's history.
public enum HistoryMoment: Sendable, Hashable {
    /// The end of the transaction that an event belongs to.
    case event(EventNumber)
    /// The end of the newest transaction that was saved at the date or before.
    case date(Date)
    /// The end of a transaction.
    case transaction(TransactionNumber)
    /// The moment that a tag names.
    case tag(String)
    /// The end of the log.
    case now
}
