import LMDB
import Locking

/// The gate that commits of a store pass if its log is shared with other machines.
protocol LogGate: Sendable {
    /// Runs a body in a write transaction. The transactions that it appends to the log become part of the shared log
    /// before they are committed here; if others have appended before, theirs are received and the body runs again.
    ///
    /// - Throws: `logUnavailable`, `inDoubt`, `divergedLog`; what the body throws.
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R

    /// Sends a transaction, and writes it here while the shared log answers. `write` publishes what comes after.
    ///
    /// - Parameters:
    ///   - before, end: the ends of the log without and with the transaction.
    ///   - writing: writes the transaction and its views in the write transaction that is open.
    /// - Throws: as `write`; what `writing` throws, in an error that says that the shared log has the transaction.
    func publishEarly(
        _ frame: EncodedFrame, after before: LogHead, through end: LogHead, writing: () throws -> Void
    ) throws

    /// Takes row numbers that no store with this log has.
    func leaseRows(_ count: UInt64) throws -> Range<UInt64>
}

extension StoreFile {
    /// Runs a body in one write transaction, behind the gate of a shared log if there is one. It runs again in another
    /// one if it lacks tables of views that another process has made since.
    func writeThroughGate<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try openingViewTables {
            if let gate = gate.withLock({ $0 }) { return try gate.write(body) }
            return try environment.write(timeout: options.writerLockTimeout, body)
        }
    }
}
