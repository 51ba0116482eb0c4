public import Foundation
public import StrataModel
import StrataStore

/// The sizes of a store's parts, and its users.
public struct StoreUsage: Sendable, Hashable {
    /// The number of the last transaction.
    public let transaction: TransactionNumber
    /// The number of the last event.
    public let event: EventNumber
    /// When the last transaction was saved; nil in an empty store.
    public let lastSave: Date?
    /// The length of the file `data.mdb`.
    public let fileSizeInBytes: Int
    /// The bytes of the log.
    public let logSizeInBytes: Int
    /// The bytes of the views, including entries that wait in buffers.
    public let viewSizeInBytes: Int
    /// The part of `viewSizeInBytes` that is in buffers.
    public let bufferSizeInBytes: Int
    /// The bytes that are free in the file for later saves.
    public let freeSizeInBytes: Int
    /// The number of commits by which each reader of any process is behind. Pages that an old reader sees are not used
    /// again, so the file grows.
    public let readerLags: [Int]
    /// The number of transactions that each subscription has not acknowledged.
    public let subscriptionLags: [String: Int]
}

extension PersistentContainer {
    /// Measures the store as of now.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    /// - Complexity: O(tables + readers + subscriptions); it counts no objects, so it may run every few seconds.
    public func usage() throws -> StoreUsage {
        let usage = try store.usage()
        return StoreUsage(
            transaction: usage.transaction, event: usage.event, lastSave: usage.lastSave,
            fileSizeInBytes: usage.fileSizeInBytes, logSizeInBytes: usage.logSizeInBytes,
            viewSizeInBytes: usage.viewSizeInBytes, bufferSizeInBytes: usage.bufferSizeInBytes,
            freeSizeInBytes: usage.freeSizeInBytes, readerLags: usage.readerLags,
            subscriptionLags: usage.subscriptionLags)
    }
}
