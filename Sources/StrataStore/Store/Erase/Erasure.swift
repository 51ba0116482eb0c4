package import Foundation
package import StrataModel

/// What to erase, and who says why.
package struct ErasureRequest: Sendable {
    package var objects: [ObjectID]
    /// The names of the attributes whose values are erased; nil erases whole objects.
    package var attributes: [String]?
    /// The numbers of the attributes, for an erasure that was made elsewhere.
    package var properties: [PropertyID] = []
    package var note: MaintenanceNote
    /// Whether it was made in another copy of the store. Then it need not destroy the keys of objects that are
    /// subjects, and values go also where the rules of the model want one.
    var isFromList = false

    package init(objects: [ObjectID], attributes: [String]? = nil, note: MaintenanceNote) {
        self.objects = objects
        self.attributes = attributes
        self.note = note
    }
}

/// What an erasure has done, or would do.
package struct ErasureReport: Sendable, Hashable {
    /// The objects whose values are gone.
    package var objects: [ObjectID] = []
    /// Those of them that the log does not have: it was truncated behind them, and copies elsewhere may have them.
    package var droppedObjects: [ObjectID] = []
    /// How many objects were deleted: those that existed, and those that the delete rules took with them.
    package var deletedCount = 0
    /// Those that the delete rules took with them. Their values stay in the past.
    package var deletedOthers: [ObjectID] = []
    /// How many events lost values.
    package var eventCount = 0
    /// How many records of transactions lost texts.
    package var transactionCount = 0
    /// How many files of large values were removed.
    package var fileCount = 0
    /// How many keys of subjects were destroyed.
    package var destroyedKeyCount = 0
    /// How many subjects had no key among those that were given.
    package var missingKeyCount = 0
    /// Files that were kept beside the store's own file and had the values: the paths of those that were removed.
    package var removedCopies: [String] = []
    /// Whether the views were made anew.
    package var isRebuilt = false
    /// How many pages in use had bytes that were overwritten.
    package var changedPageCount = 0
    /// How many free pages were overwritten.
    package var freePageCount = 0
    /// What is still to be done when others let go of it; empty if nothing is.
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

    /// Whether it is the same erasure of one log, also where one copy of the log no longer has its transaction.
    func isSame(as other: RecordedErasure) -> Bool {
        eventNumber == other.eventNumber && record.objects == other.record.objects
            && record.properties == other.record.properties
    }
}
