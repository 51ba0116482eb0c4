package import Foundation
import LMDB
package import StrataModel

/// The sizes of a store's parts and its users, as far as they are known at little cost.
package struct UsageReport: Sendable {
    /// The end of the log.
    package let transaction: TransactionNumber
    package let event: EventNumber
    /// When the last transaction was saved; nil in an empty store.
    package let lastSave: Date?
    /// The length of `data.mdb`, and the parts of log, views and free pages in it.
    package let fileSizeInBytes: Int
    package let logSizeInBytes: Int
    package let viewSizeInBytes: Int
    package let freeSizeInBytes: Int
    /// The part of `viewSizeInBytes` that entries in buffers take.
    package let bufferSizeInBytes: Int
    /// The readers of all processes that read at this moment, each by how many commits its state is old.
    package let readerLags: [Int]
    /// The processes that have the store open for reading or writing.
    package let processIDs: [Int32]
    /// The number of transactions that each subscription has not acknowledged.
    package let subscriptionLags: [String: Int]
}

extension Store {
    /// Measures the store as of now.
    ///
    /// - Throws: `storeClosed`.
    /// - Complexity: O(tables + readers + subscriptions).
    package func usage() throws -> UsageReport {
        let (info, readers) = try measureFile()
        let head = try readLog { _, head in head }
        func size(_ names: [String]) -> Int {
            names.reduce(0) { sum, name in
                guard let shape = info.tables[name] else { return sum }
                return sum + shape.branchPageCount + shape.leafPageCount + shape.overflowPageCount
            } * info.pageSizeInBytes
        }
        let buffers = StoreTables.bufferNames + StoreTables.removalNames
        return UsageReport(
            transaction: head.transaction, event: head.event,
            lastSave: head.transaction == .zero
                ? nil : Date(timeIntervalSince1970: Double(head.microseconds) / 1_000_000),
            fileSizeInBytes: info.fileSizeInBytes, logSizeInBytes: size(["events", "transactions"]),
            viewSizeInBytes: size(
                StoreTables.viewNames + buffers + StoreTables.declaredViewNames + [StoreTables.textName]),
            freeSizeInBytes: info.freePageCount * info.pageSizeInBytes, bufferSizeInBytes: size(buffers),
            readerLags: readers.compactMap(\.transaction).map {
                Int(info.lastTransaction - min($0, info.lastTransaction))
            },
            processIDs: Set(readers.map(\.processID)).sorted(),
            subscriptionLags: try subscriptions().mapValues { seen in
                Int(head.transaction.rawValue - min(seen, head.transaction).rawValue)
            })
    }
}
