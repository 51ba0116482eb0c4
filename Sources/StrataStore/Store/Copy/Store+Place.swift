package import Foundation
import StrataModel

extension Store {
    /// Refuses a place for a copy that is the store's directory, or in it, by whatever name.
    ///
    /// - Throws: `invalidRequest`.
    package func refuseInside(_ place: URL) throws {
        guard let own = PlaceIdentity(path) else { return }
        var next = place.absoluteURL.standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false)
        while true {
            guard PlaceIdentity(next) != own else {
                throw StrataError(
                    .invalidRequest,
                    "A copy cannot be kept in the directory of the store itself. Choose a place outside of it.",
                    context: .init(path: place.path(percentEncoded: false)))
            }
            if next == "/" || next.isEmpty { return }
            next = (next as NSString).deletingLastPathComponent
        }
    }
}

/// Identifies the directory or file at a path, whatever its names are.
package struct PlaceIdentity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Nil if there is no file or directory, or it cannot be examined.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Nil if the descriptor is not that of an open file.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
