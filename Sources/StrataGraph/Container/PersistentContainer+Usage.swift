public import Foundation
public import StrataModel
import StrataStore

/// How large a store is and who uses it.
public struct StoreUsage: Sendable, Hashable {
    /// The number of the last transaction.
    public let transaction: TransactionNumber
    /// The number of the last event.
    public let event: EventNumber
    /// When the last transaction was saved; nil in an empty store.
    public let lastSave: Date?
    /// The length of the file `data.mdb`.
    public let fileSizeInBytes: Int
    /// What the log takes of it.
    public let logSizeInBytes: Int
    /// What the views take of it, with entries that wait in buffers.
    public let viewSizeInBytes: Int
    /// What the buffers take of the views.
    public let bufferSizeInBytes: Int
    /// What is free in it, for later saves.
    public let freeSizeInBytes: Int
    /// For each reader of any process that reads at this moment, how many commits its state is old. Pages that an old
    /// reader sees are not used again, so the file grows.
    public let readerLags: [Int]
    /// For each subscription the number of transactions that it has not acknowledged.
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
