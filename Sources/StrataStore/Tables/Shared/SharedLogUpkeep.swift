package import Foundation
package import StrataModel

/// What keeps a shared log small. Clients need more rights for what changes the log than for appending.
///
/// Every call may be made twice.
package protocol SharedLogUpkeep: Sendable {
    /// The digests of the large values that the log keeps, in ascending order after one of them.
    func blobDigests(after digest: Data?, limit: Int) throws(SharedLogFailure) -> [Data]

    /// Removes large values that no transaction up to the end names. An append that comes later and needs one is told
    /// that it is lacking.
    ///
    /// - Parameter end: the last transaction that the caller knows of.
    /// - Returns: false if the log has moved on; then nothing is removed.
    func remove(blobs: [Data], at end: TransactionNumber) throws(SharedLogFailure) -> Bool
}
