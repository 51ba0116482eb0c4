import LMDB

/// Versions of the storage layers, for bug reports.
package enum StoreVersions {
    /// The store format that is written, and LMDB's version.
    package static var text: String { "store format \(StoreHeader.formatVersion), LMDB \(Environment.libraryVersion)" }
}
