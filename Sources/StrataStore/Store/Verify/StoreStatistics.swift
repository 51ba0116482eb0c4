package import Foundation
package import StrataModel

/// The files of a store, the sizes of its parts, and its readers, for display.
package struct StoreStatistics: Sendable {
    /// A file or directory of the store.
    package struct File: Sendable, Hashable {
        package let path: String
        /// The kind of entries that the table has.
        package let purpose: String
        /// Nil if it does not exist.
        package let sizeInBytes: UInt64?
    }

    package struct TableUse: Sendable, Hashable {
        package let name: String
        /// Whether the table is a view, which is a function of the log.
        package let isView: Bool
        package let entryCount: Int
        package let pageCount: Int
        package let sizeInBytes: Int
        package let depth: Int
    }

    package struct EntityUse: Sendable, Hashable {
        package let name: String
        package let id: EntityID
        package let isAbstract: Bool
        package let objectCount: Int
    }

    package struct IndexUse: Sendable, Hashable {
        package let name: String
        /// The entity that declares it; nil if the entity has left the model.
        package let entityName: String?
        package let isUnique: Bool
        package let entryCount: Int
        /// Bytes of its keys.
        package let sizeInBytes: Int
    }

    package struct ReaderUse: Sendable, Hashable {
        package let processID: Int32
        /// Whether the reader has a read transaction open, which keeps pages from being reused.
        package let isActive: Bool
        /// Whether the reader's process has ended; the next writer frees its slot.
        package let isStale: Bool
    }

    package struct BlobUse: Sendable, Hashable {
        /// Files beside the map.
        package let fileCount: Int
        package let sizeInBytes: UInt64
        /// Large values that events name.
        package let namedCount: Int
    }

    package let header: StoreHeader
    package let head: LogHead
    package let files: [File]
    package let tables: [TableUse]
    package let entities: [EntityUse]
    package let indexes: [IndexUse]
    package let readers: [ReaderUse]
    package let blobs: BlobUse
    package let modelVersions: [ModelVersion]
    package let firstTransaction: TransactionRecord?
    package let lastTransaction: TransactionRecord?
    /// The beginning of the kept history; nil if it was never truncated.
    package let baseline: LogBaseline?
    package let isStandby: Bool
    /// The shared log that the store belongs to; nil if it has its own.
    package let sharedLog: String?
    package let pageSizeInBytes: Int
    /// Pages of the file that the next commits can use.
    package let freePageCount: Int
    package let mapSizeInBytes: Int
}

extension StoreHeader {
    package var created: Date { Date(timeIntervalSince1970: Double(createdMicroseconds) / 1_000_000) }
}
