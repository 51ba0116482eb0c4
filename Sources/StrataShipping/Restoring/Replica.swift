import Foundation
import StrataModel
import StrataStore

/// A store that is filled from the log at a target.
///
/// Not safe for several threads.
final class Replica {
    private let folder: URL
    private let log: TargetLog
    private let options: StoreOptions
    private var opened: Store?

    init(_ folder: URL, _ log: TargetLog, options: StoreOptions = Replica.unfinished) {
        self.folder = folder
        self.log = log
        self.options = options
    }

    /// The options for a store that is read only when it is complete.
    private static var unfinished: StoreOptions {
        var options = StoreOptions()
        options.durability = .relaxed
        options.receivesOnly = true
        return options
    }

    var isThere: Bool {
        FileManager.default.fileExists(atPath: folder.appending(component: "data.mdb").path(percentEncoded: false))
    }

    /// The open store.
    func store() throws -> Store {
        if let opened { return opened }
        let store = try Store.open(.directory(folder), model: nil, options: options)
        opened = store
        return store
    }

    func close() {
        opened?.close()
        opened = nil
    }

    /// Appends transactions, and makes the store of the first ones if there is none yet.
    ///
    /// - Returns: the last transaction of the store.
    func receive(_ frames: [LogFrame], of segment: Segment) throws -> TransactionNumber {
        let last = try receiveAll(frames, of: segment)
        if frames.contains(where: \.record.isErased) {
            try store().noteElsewhere(ErasedMark.records(at: log.target, of: log.catalog.lineage))
        }
        return last
    }

    private func receiveAll(_ frames: [LogFrame], of segment: Segment) throws -> TransactionNumber {
        guard isThere else {
            try begin(frames, of: segment)
            return frames.last?.record.number ?? .zero
        }
        return try store().receive(frames) { [log] in try log.blob($0) }
    }

    private func begin(_ frames: [LogFrame], of segment: Segment) throws {
        let position = LogPosition(
            identifier: segment.identifier, lineage: segment.lineage, createdMicroseconds: segment.createdMicroseconds)
        try Store.makeReplica(of: position, at: folder, beginningWith: frames)
        let digests = frames.flatMap(\.blobDigests)
        guard !digests.isEmpty else { return }
        let store = try store()
        let lease = try store.beginBlobLease()
        defer { withExtendedLifetime(lease) {} }
        for digest in digests where store.blob(digest: digest) == nil {
            // The verification reports a value that is missing here.
            if let data = try log.blob(digest) { _ = try store.stageBlob(data) }
        }
    }
}
