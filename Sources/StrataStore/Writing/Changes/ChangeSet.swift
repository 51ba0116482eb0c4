package import Foundation
package import StrataModel

/// Everything that one save changes, prepared and validated by a context.
///
/// Row images are canonical and in the layout of `modelVersion`. The events of the save say exactly what is here, but
/// for derived attributes and the links of deleted objects.
package struct ChangeSet: Sendable {
    /// A new object.
    package struct Insertion: Sendable {
        package var id: ObjectID
        package var image: RowImage
        /// The slots that the app set, as opposed to defaults; for `UniquenessPolicy.merge`.
        package var givenSlots = SlotSet()
        /// The errors that make it invalid as a new object. It may still become an update of another object.
        package var failures: [SlotFailure] = []

        /// The error that makes one slot invalid.
        package struct SlotFailure: Sendable {
            package let slot: Int
            package let error: StrataError

            package init(slot: Int, error: StrataError) {
                self.slot = slot
                self.error = error
            }
        }

        package init(id: ObjectID, image: RowImage) {
            self.id = id
            self.image = image
        }
    }

    /// An object whose row changed.
    package struct Update: Sendable {
        package var id: ObjectID
        /// The revision of the row that the context read.
        package var baseRevision: EventNumber
        /// The whole new row.
        package var image: RowImage
        /// The slots in which it differs from the base.
        package var changedSlots: SlotSet

        package init(id: ObjectID, baseRevision: EventNumber, image: RowImage, changedSlots: SlotSet) {
            self.id = id
            self.baseRevision = baseRevision
            self.image = image
            self.changedSlots = changedSlots
        }

        package init(id: ObjectID, baseRevision: EventNumber, image: RowImage, changedSlots: [Int]) {
            self.init(id: id, baseRevision: baseRevision, image: image, changedSlots: SlotSet(changedSlots))
        }
    }

    /// An object to delete. The store unlinks its many-to-many pairs.
    package struct Deletion: Sendable {
        package var id: ObjectID
        package var baseRevision: EventNumber

        package init(id: ObjectID, baseRevision: EventNumber) {
            self.id = id
            self.baseRevision = baseRevision
        }
    }

    /// A change of one link whose truth is the pair; see `PairKey`.
    package struct PairChange: Sendable {
        package enum Kind: Sendable, Hashable {
            case link(PairPositions)
            case unlink
            case move(PairPositions)
        }
        package var key: PairKey
        package var kind: Kind

        package init(key: PairKey, kind: Kind) {
            self.key = key
            self.kind = kind
        }
    }

    /// Unique. A save submitted again with the same id returns the first result.
    package var transactionID: UUID
    /// The event number at which the context prepared the save.
    package var base: EventNumber
    package var modelVersion: ModelVersion
    package var author: String?
    package var contextName: String?
    package var metadata: [String: String]
    package var insertions: [Insertion] = []
    package var updates: [Update] = []
    package var deletions: [Deletion] = []
    package var pairs: [PairChange] = []
    /// Revisions that rows must have at the head, whether or not the save writes them.
    package var expectedRevisions: [ObjectID: EventNumber?] = [:]
    /// The policy for insertions whose unique values another object has.
    package var uniquenessPolicy = UniquenessPolicy.reject
    /// When the save was submitted, if it is to be timed.
    package var submitted: ContinuousClock.Instant?

    package init(
        transactionID: UUID = .ofTransaction(), base: EventNumber, modelVersion: ModelVersion, author: String? = nil,
        contextName: String? = nil, metadata: [String: String] = [:]
    ) {
        self.transactionID = transactionID
        self.base = base
        self.modelVersion = modelVersion
        self.author = author
        self.contextName = contextName
        self.metadata = metadata
    }

    /// Roughly the number of events; deleted objects may add some.
    var eventCount: Int { insertions.count + updates.count + deletions.count + pairs.count }

    /// Roughly the size of the payloads of insertions and updates.
    var payloadSizeInBytes: Int {
        // For each changed property its number and two values, each a tag and eight bytes.
        let difference = 4 + 2 * 9
        var size = 0
        for index in insertions.indices { size += insertions[index].image.count }
        for index in updates.indices { size += 2 + difference * updates[index].changedSlots.count }
        return size
    }

    package var isEmpty: Bool {
        insertions.isEmpty && updates.isEmpty && deletions.isEmpty && pairs.isEmpty
    }

    /// Whether the other would write the same changes.
    package func hasSameChanges(as other: ChangeSet) -> Bool {
        guard base == other.base, insertions.count == other.insertions.count, updates.count == other.updates.count,
            deletions.map(\.id) == other.deletions.map(\.id)
        else { return false }
        return zip(insertions, other.insertions).allSatisfy { $0.id == $1.id && $0.image.bytes == $1.image.bytes }
            && zip(updates, other.updates).allSatisfy { $0.id == $1.id && $0.image.bytes == $1.image.bytes }
            && Dictionary(pairs.map { ($0.key, $0.kind) }, uniquingKeysWith: { $1 })
                == Dictionary(other.pairs.map { ($0.key, $0.kind) }, uniquingKeysWith: { $1 })
    }
}

/// The result of a save.
package enum SaveOutcome: Sendable {
    case saved(SaveReceipt)
    /// A later save of another context affects this one. Nothing was written.
    case stale(Staleness)
}

/// The place of a save in the log.
package struct SaveReceipt: Sendable {
    package let transaction: TransactionNumber
    /// The last event of the transaction, which becomes the context's event number.
    package let eventNumber: EventNumber
    /// The head that the save was checked against, which includes the saves of others.
    package let previousHead: EventNumber
    package let date: Date
    /// The effects of the save's `UniquenessPolicy` on its insertions.
    package var upsert = UpsertOutcome()
    /// The new rows of objects whose derived values differ from those in the change set; nil if that is unknown because
    /// the save was made by an earlier submission.
    package var derived: [ObjectID: RowImage]? = [:]
    /// From `ChangeSet.submitted` until the writer began with the save; zero without that.
    package var waiting = Duration.zero
    /// The time of the commit that the save shared, with the syncs of the disk; zero if the save is not timed.
    package var committing = Duration.zero
    /// The part of it that LMDB took to write the pages and to sync the disk.
    package var syncing = Duration.zero
}

/// The reasons why a save must be merged and submitted again, with the head at which they were found.
package struct Staleness: Sendable {
    /// An object of the change set whose row is newer than its base revision.
    package struct StaleObject: Sendable {
        package let id: ObjectID
        /// In the newest layout; nil if the object was deleted.
        package let theirs: RowImage?
        package let revision: EventNumber
    }

    /// An object outside the change set that still points at an object which the change set deletes.
    package struct UnforeseenMember: Sendable {
        package let deleted: ObjectID
        /// The to-one of the member that points there.
        package let toOne: PropertyID
        package let member: ObjectID
    }

    /// A link in the change set to an object that does not exist at the head.
    package struct MissingTarget: Sendable {
        package let source: ObjectID
        package let property: PropertyID
        package let target: ObjectID
    }

    /// The head at which this was found.
    package let head: EventNumber
    package var objects: [StaleObject] = []
    package var members: [UnforeseenMember] = []
    package var missingTargets: [MissingTarget] = []

    package init(head: EventNumber) { self.head = head }

    package var isEmpty: Bool { objects.isEmpty && members.isEmpty && missingTargets.isEmpty }
}
