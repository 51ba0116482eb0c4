public import Foundation

/// The beginning of a store's kept history, after earlier history was truncated.
///
/// The state at this moment can be read, and so can every later one. A consumer of the history that is behind it starts
/// again from the state at `eventNumber`, and goes on with the transactions after `transaction`.
public struct HistoryBaseline: Sendable, Hashable, Codable {
    /// The last event before the cut, which is the `eventNumber` of a context that shows the oldest state.
    public let eventNumber: EventNumber
    /// The last transaction before the cut.
    public let transaction: TransactionNumber
    /// When that transaction was saved.
    public let date: Date

    package init(eventNumber: EventNumber, transaction: TransactionNumber, date: Date) {
        self.eventNumber = eventNumber
        self.transaction = transaction
        self.date = date
    }
}
