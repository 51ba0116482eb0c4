import Foundation
import StrataModel

/// The rows, large values and models that one pass over the log finds.
struct LogFindings: ~Copyable {
    /// The newest event of an object, and whether the object exists after it.
    struct Newest: BitwiseCopyable {
        /// The event number doubled, plus one if the object exists.
        private let bits: UInt64

        init(eventNumber: EventNumber, isAlive: Bool) { bits = eventNumber.rawValue << 1 | (isAlive ? 1 : 0) }

        var eventNumber: EventNumber { EventNumber(rawValue: bits >> 1) }
        var isAlive: Bool { bits & 1 != 0 }
    }

    /// The number of events that name a large value, and its size.
    struct BlobUse {
        var count: Int
        var sizeInBytes: UInt64
    }

    var head: LogHead?
    /// The beginning of the kept history; nil if it is whole.
    var baseline: LogBaseline?
    var cut: EventNumber { baseline?.event ?? .zero }
    var transactionCount = 0
    var eventCount = 0
    var objects = ObjectTable(filler: Newest(eventNumber: .zero, isAlive: false))
    var pairs: [PairKey: EventNumber] = [:]
    var blobs: [Data: BlobUse] = [:]
    /// Version and record of each model, as installed.
    var models: [(version: ModelVersion, record: [UInt8])] = []
    /// The number of events that lost values in erasures.
    var erasedEventCount = 0
    /// The digests of records that lost texts, as they are.
    var erasedTransactions: [TransactionNumber: [UInt8]] = [:]
    /// The same, as the newest erasure says.
    var erasedDigests: [TransactionNumber: [UInt8]] = [:]
    /// Whether the store says that an erasure is not finished.
    var hasErasureMark = false
    var erasures: [(record: ErasureRecord, transaction: TransactionRecord?)] = []
    /// The number of events that lost values that later ones replace, in thinnings.
    var thinnedEventCount = 0
    /// The last of them of each entity.
    var lastThinned: [EntityID: EventNumber] = [:]
    var thinnings: [(record: ThinnedRecord, transaction: TransactionRecord?)] = []
    /// Whether the store says that a thinning is not finished.
    var hasUnfinishedThinning = false
    /// Whether every event and transaction could be read, so that a replay can be tried and the list of objects is
    /// complete.
    var isReplayable = true

    /// The number of objects that exist, or are deleted, at the end of the log.
    func count(alive isAlive: Bool) -> Int {
        var count = 0
        objects.forEach { if $1.isAlive == isAlive { count += 1 } }
        return count
    }

    /// The objects that exist, or are deleted, at the end of the log, by id.
    func sorted(alive isAlive: Bool) -> [(id: ObjectID, newest: Newest)] {
        var found: [(id: ObjectID, newest: Newest)] = []
        objects.forEach { if $1.isAlive == isAlive { found.append(($0, $1)) } }
        return found.sorted { $0.id < $1.id }
    }

    /// The greatest row number of any object.
    var largestRow: UInt64 {
        var largest: UInt64 = 0
        objects.forEach { id, _ in largest = max(largest, id.row) }
        return largest
    }
}
