package import Foundation
package import StrataModel

/// The operations that keep a shared log small. Clients need more rights for changing the log than for appending.
///
/// Every call may be made twice.
package protocol SharedLogUpkeep: Sendable {
    /// The digests of the large values that the log keeps, in ascending order after one of them.
    func blobDigests(after digest: Data?, limit: Int) throws(SharedLogFailure) -> [Data]

    /// Removes large values that no transaction up to the end names. A later append that needs one gets the answer that
    /// it is missing.
    ///
    /// - Parameter end: the last transaction that the caller knows of.
    /// - Returns: false if the log has moved on; then nothing is removed.
    func remove(blobs: [Data], at end: TransactionNumber) throws(SharedLogFailure) -> Bool

    /// Returns the snapshot that new stores begin with, and the beginning of the log.
    func beginning() throws(SharedLogFailure) -> SharedLogBeginning

    /// A part of a snapshot; nil if it is not there, because another one was published since.
    func piece(_ index: Int, of snapshot: UUID) throws(SharedLogFailure) -> Data?

    /// Keeps a part of a snapshot that is not published yet.
    func put(piece: Data, at index: Int, of snapshot: UUID) throws(SharedLogFailure)

    /// Has new stores begin with a snapshot whose parts are all there, unless the log has a newer one. Others go.
    ///
    /// - Returns: false if parts are missing, because another one was published meanwhile.
    /// - Throws: `refused` if the log has another transaction there.
    func publish(_ snapshot: SharedSnapshot) throws(SharedLogFailure) -> Bool

    /// Has the log begin after a transaction, which the snapshot includes. Asking for earlier transactions then throws
    /// `refused` with `historyDropped`.
    ///
    /// - Throws: `refused` if no snapshot includes it, or the log has another transaction there.
    func cut(through end: SharedLogEnd) throws(SharedLogFailure)

    /// Removes transactions that were cut off, the oldest first.
    ///
    /// - Returns: how many; 0 if none is left.
    func dropCut(limit: Int) throws(SharedLogFailure) -> Int
}

/// The beginning of a shared log.
package struct SharedLogBeginning: Sendable, Hashable {
    /// The last transaction that is gone; the digests of the others are chained to its digest. The start of a whole log.
    package var cut: SharedLogEnd
    /// The snapshot that new stores begin with; nil if they receive the log from its start.
    package var snapshot: SharedSnapshot?

    package init(cut: SharedLogEnd, snapshot: SharedSnapshot?) {
        self.cut = cut
        self.snapshot = snapshot
    }
}

/// A compacted copy of a store in the database of its log, in parts.
package struct SharedSnapshot: Sendable, Hashable {
    package var id: UUID
    /// The last transaction in it.
    package var end: SharedLogEnd
    package var pieces: Int
    package var sizeInBytes: Int
    /// The SHA-256 of all bytes.
    package var sum: Data

    package init(id: UUID, end: SharedLogEnd, pieces: Int, sizeInBytes: Int, sum: Data) {
        self.id = id
        self.end = end
        self.pieces = pieces
        self.sizeInBytes = sizeInBytes
        self.sum = sum
    }
}
