import Crypto
import Foundation
import LMDB
import StrataModel

/// Makes a snapshot of a store with a shared log, from which new stores begin, and puts it into the log's database.
///
/// It is a compacted copy whose history begins where the log does. Reads and saves go on meanwhile.
struct SnapshotMaking {
    let node: LogNode
    var progress: ProgressHandler?

    private static let pieceSize = 4 << 20

    private var file: StoreFile { node.file }

    /// - Parameter first: the last transaction whose events are left out, except for those that make the state after
    ///   it.
    /// - Returns: the snapshot, and the large values that it names.
    /// - Throws: `persistentStoreTimeout` while an erasure is not finished, or if another snapshot came first;
    ///   `logUnavailable`; `noSpace`.
    func publish(beginningAfter first: TransactionNumber) throws -> (snapshot: SharedSnapshot, blobs: Set<Data>) {
        let folder = try BackupFolder(for: URL(filePath: "\(file.path).snapshot", directoryHint: .isDirectory))
        defer { folder.remove() }
        try file.environment.copy(to: folder.url.path(percentEncoded: false), .compacting)
        guard try Store.makePlain(in: folder.url) else {
            throw StrataError(
                .persistentStoreTimeout, "An erasure is not finished yet. Try again.", context: .init(path: file.path))
        }
        var options = StoreOptions()
        options.createsIfMissing = false
        options.durability = .relaxed
        options.viewKeeping = .byHand
        options.encryptionKeys = file.options.encryptionKeys
        let copy = try Store.open(.directory(folder.url), model: nil, options: options)
        defer { copy.close() }
        if try copy.baseline()?.transaction ?? .zero < first {
            let cut = try copy.eventNumber(of: first)
            _ = try copy.truncateHistory(through: cut, MaintenanceNote(author: "strata"), progress: progress)
        }
        // Pages of the copy may have bytes that belong to no record any more.
        if try !copy.erasures().isEmpty { _ = try copy.file.environment.wipe() }
        let blobs = Set(try copy.blobDigests())
        try put(blobs)
        let end = SharedLogEnd(try copy.logPosition())
        return try copy.withCopy { compacted in
            let snapshot = try upload(compacted.appending(component: "data.mdb"), end)
            let isPublished = try node.contact.ask { () throws(SharedLogFailure) in
                try node.log.upkeep.publish(snapshot)
            }
            guard isPublished else {
                throw StrataError(
                    .persistentStoreTimeout, "Another store has put a snapshot into the shared log. Try again.",
                    context: .init(path: file.path))
            }
            return (snapshot, blobs)
        }
    }

    /// Puts large values that the log does not have, as after it was filled from a store.
    private func put(_ digests: Set<Data>) throws {
        var missing = digests
        var last: Data?
        while !missing.isEmpty {
            let after = last
            let known = try node.contact.ask { () throws(SharedLogFailure) in
                try node.log.upkeep.blobDigests(after: after, limit: LogNode.digestsAtOnce)
            }
            missing.subtract(known)
            guard let end = known.last else { break }
            last = end
        }
        for digest in missing.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if let data = node.blobs.checkedContents(digest: digest) { try node.publish(blob: data, digest: digest) }
        }
    }

    private func upload(_ url: URL, _ end: SharedLogEnd) throws -> SharedSnapshot {
        let data = try FileHandle(forReadingFrom: url)
        let total = Int(try data.seekToEnd())
        try data.seek(toOffset: 0)
        var snapshot = SharedSnapshot(id: UUID(), end: end, pieces: 0, sizeInBytes: 0, sum: Data())
        var sum = SHA256()
        while let piece = try data.read(upToCount: Self.pieceSize), !piece.isEmpty {
            sum.update(data: piece)
            let (id, index) = (snapshot.id, snapshot.pieces)
            try node.contact.ask { () throws(SharedLogFailure) in
                try node.log.upkeep.put(piece: piece, at: index, of: id)
            }
            snapshot.pieces += 1
            snapshot.sizeInBytes += piece.count
            progress?(
                StoreProgress(phase: "sending a snapshot", done: snapshot.sizeInBytes, total: total, unit: .bytes))
        }
        snapshot.sum = Data(sum.finalize())
        return snapshot
    }
}

extension Store {
    /// Makes a copy, which is not open, a store of its own for a while: without its log, and without row numbers.
    ///
    /// - Returns: false if an erasure in it is not finished.
    fileprivate static func makePlain(in folder: URL) throws -> Bool {
        var isFinished = true
        try changeHeader(in: folder) { _, transaction, state in
            for key: StaticString in ["rows", "log", NodeIdentity.key] {
                _ = try StoreFile.withKey(key) { try transaction.delete(state, $0) }
            }
            isFinished = try ErasureMark.removeFinished(transaction, state)
        }
        return isFinished
    }
}

extension SharedLogEnd {
    init(_ position: LogPosition) {
        self.init(transaction: position.transaction, event: position.eventNumber, digest: position.digest)
    }
}
