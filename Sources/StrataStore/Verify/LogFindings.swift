import Foundation
import StrataModel

/// What a pass over the log tells about everything else.
struct LogFindings {
    /// The newest event of an object, and whether that left the object alive.
    struct Newest {
        var sequence: EventSequence
        var isAlive: Bool
    }

    /// How often events name a blob, by digest.
    struct BlobUse {
        var count: Int
        var sizeInBytes: UInt64
    }

    var head: LogHead?
    var transactionCount = 0
    var eventCount = 0
    var objects: [ObjectID: Newest] = [:]
    var pairs: [PairKey: EventSequence] = [:]
    var blobs: [Data: BlobUse] = [:]
    /// Version and record of each model, as installed.
    var models: [(version: ModelVersion, record: [UInt8])] = []
    /// Whether every event and transaction could be read, so that a replay can be tried and what the log says of
    /// objects is complete.
    var isReplayable = true
}
