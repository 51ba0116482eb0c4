// Requests for erasures, their results, and their records in the log.

package import Foundation
package import StrataModel

/// The objects or values to erase, with the author and the reason.
package struct ErasureRequest: Sendable {
    package var objects: [ObjectID]
    /// The names of the attributes whose values are erased; nil erases whole objects.
    package var attributes: [String]?
    /// The numbers of the attributes, for an erasure that was made elsewhere.
    package var properties: [PropertyID] = []
    package var note: MaintenanceNote
    /// Whether the erasure was made in another copy of the store. Then it need not destroy the keys of objects that are
    /// subjects, and values go also where the rules of the model want one.
    var isFromList = false

    package init(objects: [ObjectID], attributes: [String]? = nil, note: MaintenanceNote) {
        self.objects = objects
        self.attributes = attributes
        self.note = note
    }
}

/// The result of an erasure, or of a plan for it.
package struct ErasureReport: Sendable, Hashable {
    /// The objects whose values are gone.
    package var objects: [ObjectID] = []
    /// The objects that the log does not have: it was truncated behind them, and copies elsewhere may have them.
    package var droppedObjects: [ObjectID] = []
    /// The number of deleted objects: those that existed, and those that the delete rules took with them.
    package var deletedCount = 0
    /// The objects that the delete rules took with them. Their values stay in the past.
    package var deletedOthers: [ObjectID] = []
    /// The number of events that lost values.
    package var eventCount = 0
    /// The number of records of transactions that lost texts.
    package var transactionCount = 0
    /// The number of files of large values that were removed.
    package var fileCount = 0
    /// The number of destroyed keys of subjects.
    package var destroyedKeyCount = 0
    /// The number of given subjects that had no key.
    package var missingKeyCount = 0
    /// Files that were kept beside the store's own file and had the values: the paths of those that were removed.
    package var removedCopies: [String] = []
    /// Whether the views were rebuilt.
    package var isRebuilt = false
    /// The number of pages in use that had bytes that were overwritten.
    package var changedPageCount = 0
    /// The number of free pages that were overwritten.
    package var freePageCount = 0
    /// The work that remains until readers end; empty if none remains.
    package var waiting: [String] = []
    package var duration = Duration.zero

    package init() {}

    /// Whether no copy is left in the store's files.
    package var isComplete: Bool { waiting.isEmpty }
}

/// One erasure, as the log records it.
package struct RecordedErasure: Sendable, Hashable {
    package let eventNumber: EventNumber
    package let transactionID: UUID
    package let date: Date
    package let author: String?
    package let metadata: [String: String]
    package let record: ErasureRecord
    /// The store whose log records it; nil if that is not known.
    package var storeIdentifier: UUID?

    package init(
        eventNumber: EventNumber, transactionID: UUID, date: Date, author: String?, metadata: [String: String],
        record: ErasureRecord, storeIdentifier: UUID? = nil
    ) {
        self.eventNumber = eventNumber
        self.transactionID = transactionID
        self.date = date
        self.author = author
        self.metadata = metadata
        self.record = record
        self.storeIdentifier = storeIdentifier
    }

    /// Whether both are the same erasure of one log, also where one copy of the log no longer has its transaction.
    func isSame(as other: RecordedErasure) -> Bool {
        eventNumber == other.eventNumber && record.objects == other.record.objects
            && record.properties == other.record.properties
    }
}
