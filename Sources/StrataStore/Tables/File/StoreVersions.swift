import LMDB

/// What a program says of the library that it was built with, for a report of a defect.
package enum StoreVersions {
    /// The format that stores are written in, and LMDB's version.
    package static var text: String { "store format \(StoreHeader.formatVersion), LMDB \(Environment.libraryVersion)" }
}
