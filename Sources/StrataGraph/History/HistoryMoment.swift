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
    /// The oldest state that the history has: without objects, or the state where a truncated history begins.
    case beginning
    /// The end of the log.
    case now
}

/// The model through which a context of the past shows its objects.
public enum HistoryModel: Sendable, Hashable {
    /// The container's model: the app's own classes, with renamed properties under their new names, and values and links
    /// converted as the migrations since converted theirs.
    case newest
    /// The model of the moment. Entities that have changed since are plain `ManagedObject`s with their former names
    /// and properties.
    case ofThen
}
