// Cuts the beginning of a shared log.

public import StrataModel
import StrataStore

/// A store or a subscription that needs transactions of a shared log.
public struct SharedLogHolder: Sendable, Hashable {
    /// The kinds of holders.
    public enum Kind: String, Sendable, Hashable {
        /// A store that has not received them yet, or has not been heard of since.
        case store
        /// A subscription that has not acknowledged them.
        case subscription
    }

    /// The kind of the holder.
    public let kind: Kind
    /// The id and the machine of the store, or the name of the subscription.
    public let name: String
    /// The last transaction that it has; the log is not cut behind it.
    public let transaction: TransactionNumber
}

/// The result of cutting a shared log, or of a plan for it.
public struct SharedLogTrim: Sendable, Hashable {
    /// The last transaction that is gone; 0 while the log is whole.
    public let transaction: TransactionNumber
    /// The number of transactions that were dropped.
    public let transactionCount: Int
    /// The number of large values that were dropped.
    public let largeValueCount: Int
    /// The size of the snapshot from which new stores begin; 0 if none was made.
    public let snapshotSizeInBytes: Int
    /// The holders of transactions that were to be dropped, the one that is furthest behind first.
    public let holders: [SharedLogHolder]
    /// The time that it took.
    public let duration: Duration

    init(_ report: SharedCutReport) {
        transaction = report.cut
        transactionCount = Int(clamping: report.droppedTransactions)
        largeValueCount = report.removedBlobs
        snapshotSizeInBytes = report.snapshotSizeInBytes
        holders = report.holds.map { hold in
            SharedLogHolder(
                kind: hold.kind == .store ? .store : .subscription, name: hold.name, transaction: hold.transaction)
        }
        duration = report.duration
    }
}

extension PersistentContainer {
    /// Cuts the beginning of the shared log off, up to a moment: transactions that every store has are dropped, and new
    /// stores begin with a snapshot that this call puts into the log's database.
    ///
    /// ```swift
    /// try container.trimSharedLog(before: .date(Date(timeIntervalSinceNow: -90 * 24 * 3600)))
    /// ```
    ///
    /// Existing stores keep their history; stores that are made later have it from the cut on. The cut stops before
    /// what a store needs that was heard of in the last two weeks, and before what a subscription has not acknowledged. A
    /// store that was away for longer is made again when it is opened.
    ///
    /// Saves go on meanwhile. A call that is interrupted has done less, and the next one goes on.
    ///
    /// - Parameter stores: the ids of stores that will not come back, the first words of their names among the holders.
    /// - Throws: `invalidRequest` for a store with its own log; `logUnavailable`, also if the client may only append;
    ///   `futureEvent`, `unknownKey` for a tag that does not exist; `persistentStoreTimeout` while an erasure is not
    ///   finished; `noSpace`.
    /// - Complexity: O(size of the store) for the snapshot, O(transactions that go).
    @discardableResult
    public func trimSharedLog(
        before moment: HistoryMoment, forgetting stores: [String] = []
    ) throws -> SharedLogTrim {
        try SharedLogTrim(store.cutSharedLog(through: end(of: moment), forgetting: stores))
    }

    /// The result that `trimSharedLog(before:)` would have. Changes nothing.
    ///
    /// - Throws: as `trimSharedLog(before:)`; needs no right to change the log.
    public func plannedSharedLogTrim(before moment: HistoryMoment) throws -> SharedLogTrim {
        try SharedLogTrim(store.cutSharedLog(through: end(of: moment), isPlan: true))
    }
}
