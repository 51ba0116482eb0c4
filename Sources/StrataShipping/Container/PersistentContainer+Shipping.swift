public import Foundation
public import StrataGraph
public import StrataModel
import StrataStore

// Shipping the log of a container's store, once or continuously, and restoring a store from a target.

extension PersistentContainer {
    /// Ships the log of the store to a target: everything that the target does not have yet.
    ///
    /// ```swift
    /// import StrataShipping
    ///
    /// let report = try container.ship(to: DirectoryTarget(URL(filePath: "/mnt/backup/Movies")))
    /// print(report.transaction)
    /// ```
    ///
    /// It can be interrupted at any point and called again. The store stays in use.
    ///
    /// - Parameter makesSnapshot: whether a snapshot is made even if none is due.
    /// - Throws: `divergedLog` if the target has transactions that are not this store's; `targetUnavailable`; `noSpace`
    ///   if the target is full; `storeClosed`.
    /// - Complexity: O(bytes) of what is shipped, and a listing of the target.
    @discardableResult
    public func ship(
        to target: any ShippingTarget, options: ShippingOptions = ShippingOptions(), makesSnapshot: Bool = false
    ) throws -> ShippingReport {
        try LogShipper(store, target, options).ship(makesSnapshot: makesSnapshot)
    }

    /// Ships transactions that the target does not have yet, and later saves of all processes, on a thread of its own.
    ///
    /// A save is at the target within about a second, if the target is fast enough. While the target is away or full,
    /// shipping is tried again and again.
    ///
    /// - Parameter onReport: gets the result of each shipment, and each failure. After a failure that cannot pass, such
    ///   as `divergedLog`, shipping has ended.
    /// - Returns: the running work. It ends when it is stopped, when it is released, or when the container closes.
    public func startShipping(
        to target: any ShippingTarget, options: ShippingOptions = ShippingOptions(),
        onReport: @escaping @Sendable (Result<ShippingReport, StrataError>) -> Void = { _ in }
    ) throws -> ContinuousShipping {
        try ContinuousShipping(store, target, options, onReport)
    }

    /// Makes a store from the files at a target, in a directory that does not exist yet.
    ///
    /// The log is proved by its chain of digests, and the new store is verified before it appears. It has the store's
    /// id and a lineage of its own.
    ///
    /// - Parameters:
    ///   - moment: the state to restore to; always the one after a whole transaction.
    ///   - lineage: which log, if the target has several, as after an earlier restore.
    /// - Throws: `persistentStoreOpen` if `url` exists already; `targetIncomplete`, `divergedLog` and `corrupt`
    ///   for damage at the target; `historyDropped` for a moment before the oldest snapshot; `futureEvent` for one that
    ///   was not shipped; `unknownKey` for a tag that is not there.
    /// - Complexity: O(bytes) of a snapshot and the log after it, and a full verification.
    @discardableResult
    public static func restoreStore(
        from target: any ShippingTarget, to url: URL, at moment: HistoryMoment = .now, lineage: UUID? = nil
    ) throws -> RestoredStore {
        let report = try TargetRestore(target, lineage: lineage).run(to: url, moment)
        return RestoredStore(
            transaction: report.position.transaction, eventNumber: report.position.eventNumber,
            objectCount: report.verification.objectCount, passedOver: report.damaged,
            lostValueCount: report.lostBlobCount)
    }
}
