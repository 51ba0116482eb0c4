package import Foundation
import LMDB
package import StrataModel

// Operations with which other modules make copies of a store from pieces that they receive.

extension Store {
    /// Makes a store in a directory that does not exist yet. The directory appears when `fill` has returned.
    ///
    /// - Parameters:
    ///   - work: the name of the work in messages, such as "restoring".
    ///   - fill: puts a store into the directory that it gets, which does not exist yet either, and closes it.
    /// - Throws: `persistentStoreOpen` if something is at that place; `noSpace`; what `fill` throws.
    package static func make<R>(at target: URL, during work: String, _ fill: (URL) throws -> R) throws -> R {
        try refuseUsed(target)
        do {
            try BlobFile.makeDirectories(target.absoluteURL.standardizedFileURL.deletingLastPathComponent())
            return try BackupFolder.filled(for: target, fill)
        } catch {
            throw StoreFile.publicError(error, during: work, making: target)
        }
    }

    /// Runs `body` with a compacted copy of the store as of now, in a directory beside it that is removed afterwards.
    ///
    /// Reads and saves go on. Large values are not copied.
    package func withCopy<R>(_ body: (URL) throws -> R) throws -> R {
        try withFolder("snapshot") { folder in
            try file.environment.copy(to: folder.path(percentEncoded: false), .compacting)
            return try body(folder)
        }
    }

    /// Calls `body` with the place for a hidden folder beside the store, which is removed afterwards.
    package func withFolder<R>(_ name: String, _ body: (URL) throws -> R) throws -> R {
        try checkOpen()
        do {
            let folder = try BackupFolder(for: URL(filePath: "\(path).\(name)", directoryHint: .isDirectory))
            defer { folder.remove() }
            return try body(folder.url)
        } catch {
            throw file.publicError(error, during: "copying")
        }
    }
}

extension LogFrame {
    /// Brings tags by name to the state after the transaction.
    package func applyTags(to tags: inout [String: EventNumber]) throws {
        try withRecords { _, events in
            for event in events {
                let view = try EventView(event)
                guard view.header.kind == .maintenance, !view.header.flags.isReduced else { continue }
                switch try MaintenanceRecord(view.payload) {
                case .tagged(let name, let eventNumber): tags[name] = eventNumber
                case .untagged(let name): tags[name] = nil
                case .note, .metadata, .erased, .thinned, .unknown: break
                }
            }
        }
    }
}
