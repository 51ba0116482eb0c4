package import Foundation
package import StrataModel

/// What a store is made of, for people: where its files are, how large its parts, who reads it.
package struct StoreStatistics: Sendable {
    /// A file or directory of the store.
    package struct File: Sendable, Hashable {
        package let path: String
        /// What it is for.
        package let purpose: String
        /// nil when it is not there.
        package let sizeInBytes: UInt64?
    }

    package struct TableUse: Sendable, Hashable {
        package let name: String
        /// A view is a function of the log; the others are not.
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
        /// The entity that declares it; nil for one that has left the model.
        package let entityName: String?
        package let isUnique: Bool
        package let entryCount: Int
        /// Bytes of its keys.
        package let sizeInBytes: Int
    }

    package struct ReaderUse: Sendable, Hashable {
        package let processID: Int32
        /// Whether it keeps pages from being used again just now.
        package let isActive: Bool
        /// Its process has ended; its slot is freed by the next writer.
        package let isStale: Bool
    }

    package struct BlobUse: Sendable, Hashable {
        /// Files beside the map.
        package let fileCount: Int
        package let sizeInBytes: UInt64
        /// Values that events name.
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
    package let pageSizeInBytes: Int
    /// Pages of the file that hold nothing now and are used by the next commits.
    package let freePageCount: Int
    package let mapSizeInBytes: Int
}

extension StoreHeader {
    package var created: Date { Date(timeIntervalSince1970: Double(createdMicroseconds) / 1_000_000) }
}
