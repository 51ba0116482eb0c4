import Foundation
import LMDB

/// Puts a restored store in the place of another one, which gets another name. The caller keeps all processes from opening
/// the two.
///
/// The restored store gets the other name first, with a mark by which `LeftCopies` finds it after a kill. Then the two names
/// are exchanged: at every moment, and after a power cut, the place has one of the stores. A file system that cannot
/// exchange directories has none there between two renames.
package struct StoreReplacement {
    let place: String
    let made: String
    let kept: String
    private let exchange: (String, String) -> Int32

    /// - Parameter exchange: exchanges two directories and returns 0, or the system's error number.
    package init(
        at place: String, by made: String, keeping kept: String,
        exchange: @escaping (String, String) -> Int32 = PathExchange.exchange
    ) {
        (self.place, self.made, self.kept, self.exchange) = (place, made, kept, exchange)
    }

    /// The new names are durable when this returns.
    ///
    /// - Throws: `BlobFile.Failure`. The place has one of the two stores then.
    package func run() throws {
        // If a kill has left it, the mark would go with the store to the other name.
        try RestoreMark.remove(from: place)
        try RestoreMark.put(in: made)
        let identity = PlaceIdentity(made)
        try move(made, to: kept)
        let number = exchange(place, kept)
        // A file system may report a failure after it has exchanged them.
        if number != 0, PlaceIdentity(place) != identity {
            try move(kept, to: made)
            guard PathExchange.isUnknown(number) else {
                throw BlobFile.Failure(operation: "exchange", path: place, number: number)
            }
            try RestoreMark.remove(from: made)
            return try moveBoth()
        }
        try syncParent()
        try RestoreMark.remove(from: place)
    }

    private func moveBoth() throws {
        try move(place, to: kept)
        do {
            try move(made, to: place)
        } catch {
            if !BlobFile.exists(place) { try move(kept, to: place) }
            throw error
        }
    }

    private func move(_ path: String, to other: String) throws {
        guard rename(path, other) == 0 else {
            throw BlobFile.Failure(operation: "rename", path: path, number: errno)
        }
        try syncParent()
    }

    private func syncParent() throws {
        let folder = URL(filePath: place).absoluteURL.standardizedFileURL.deletingLastPathComponent()
        try BlobFile.syncDirectory(folder.path(percentEncoded: false))
    }
}
