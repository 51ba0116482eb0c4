import Foundation
import StrataModel
import StrataStore

/// The data that the next save writes beside the changes.
struct PendingSave {
    /// Whether a save runs, or a validation as for one.
    var isRunning = false
    /// The revisions that the save relies on; see `save(expecting:)`.
    var expectedRevisions: [ObjectID: EventNumber?] = [:]
    /// Changes of which the store could not say whether they are on disk.
    var doubtful: ChangeSet?
    /// The conflicts that the policy decided since the last save; recorded with the next.
    var overruled: [ConflictRecord] = []
    /// Keeps the files of large values that are not saved yet from being swept.
    var blobLease: BlobLease?
    /// The id of the transaction that the next save makes, where the same save may be tried again.
    var transactionID: UUID?

    /// The changes are saved or dropped.
    mutating func forget() {
        doubtful = nil
        overruled = []
        blobLease = nil
    }
}

/// The app's descriptions of its saves; recorded with each of them.
struct TransactionAttributes {
    var contextName: String?
    var author: String?
    var reason: String?
    var correlationID: String?
    var metadata: [String: String] = [:]

    /// The metadata as the transaction has it, reason and correlation among it.
    var recordedMetadata: [String: String] {
        var recorded = metadata
        recorded[HistoryTransaction.reasonKey] = reason
        recorded[HistoryTransaction.correlationKey] = correlationID
        return recorded
    }
}
