import Crypto
import Foundation
import LMDB
import StrataModel

/// Begins a store with the snapshot in its shared log, if there is one.
struct SnapshotPlacing {
    let log: any SharedLog
    let connection: SharedLogConnection
    let directory: StoreDirectory
    let options: StoreOptions
    /// Whether large values are files beside the store.
    let hasFiles: Bool

    /// The number of attempts, since another snapshot may be published meanwhile.
    private static let mostAttempts = 5

    /// - Returns: whether the directory has a store now that others have had.
    /// - Throws: `corrupt` for a damaged snapshot; `logUnavailable`; `noSpace`.
    func run() throws -> Bool {
        let contact = LogContact(connection)
        for _ in 0..<Self.mostAttempts {
            let beginning = try contact.ask { () throws(SharedLogFailure) in try log.upkeep.beginning() }
            guard let snapshot = beginning.snapshot else { return false }
            let folder = try BackupFolder(for: URL(filePath: "\(directory.path).snapshot", directoryHint: .isDirectory))
            defer { folder.remove() }
            guard try fill(folder.url, snapshot, contact) else { continue }
            // Large values of an older one may be gone.
            let now = try contact.ask { () throws(SharedLogFailure) in try log.upkeep.beginning() }
            guard now.snapshot == snapshot else { continue }
            try place(folder.url)
            return true
        }
        throw StrataError(
            .logUnavailable, "The snapshot in the shared log \(connection.name) changed in each attempt. Try again.",
            context: .init(path: directory.path))
    }

    /// - Returns: false if parts are gone.
    private func fill(_ folder: URL, _ snapshot: SharedSnapshot, _ contact: LogContact) throws -> Bool {
        try Store.makeDirectory(folder, mode: 0o700)
        var sum = SHA256()
        var done = 0
        var isWhole = true
        try BlobFile.create(folder.appending(component: "data.mdb").path(percentEncoded: false)) { write in
            for index in 0..<snapshot.pieces {
                let piece = try contact.ask { () throws(SharedLogFailure) in
                    try log.upkeep.piece(index, of: snapshot.id)
                }
                guard let piece else {
                    isWhole = false
                    return
                }
                sum.update(data: piece)
                try write(piece)
                done += piece.count
                options.migration.progress?(
                    StoreProgress(
                        phase: "receiving the snapshot", done: done, total: snapshot.sizeInBytes, unit: .bytes))
            }
        }
        guard isWhole else { return false }
        guard Data(sum.finalize()) == snapshot.sum else {
            throw StrataError(
                .corrupt, "The snapshot in the shared log is damaged. Put a new one there: strata shared trim.",
                context: .init(path: connection.name))
        }
        try check(folder, snapshot, contact)
        return true
    }

    private func check(_ folder: URL, _ snapshot: SharedSnapshot, _ contact: LogContact) throws {
        var options = StoreOptions()
        options.isReadOnly = true
        options.encryptionKeys = { [] }
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        guard copy.identifier == self.options.identity?.identifier,
            try SharedLogEnd(copy.logPosition()) == snapshot.end
        else {
            throw StrataError(
                .divergedLog, "The snapshot in the shared log is not one of this log.",
                context: .init(path: connection.name))
        }
        if hasFiles { _ = try copy.takeBlobs(from: log, contact, self.options.migration.progress) }
    }

    /// Moves the files to where the store is to be. The data file comes last, unless another process has made it.
    private func place(_ folder: URL) throws {
        let source = folder.path(percentEncoded: false)
        try Store.makeDirectory(URL(filePath: directory.path, directoryHint: .isDirectory), mode: 0o700)
        for name in BlobFile.names(in: source + "/blobs") {
            let (from, to) = (source + "/blobs/" + name, directory.path + "/blobs/" + name)
            try Store.makeDirectory(URL(filePath: to, directoryHint: .isDirectory), mode: 0o700)
            for value in BlobFile.names(in: from) { try move(from + "/" + value, to + "/" + value) }
            try BlobFile.syncDirectory(to)
        }
        let (from, to) = (source + "/data.mdb", directory.path + "/data.mdb")
        guard link(from, to) == 0 || errno == EEXIST else {
            throw BlobFile.Failure(operation: "put in place", path: to, number: errno)
        }
        try BlobFile.syncDirectory(directory.path)
    }

    private func move(_ from: String, _ to: String) throws {
        guard rename(from, to) == 0 else {
            throw BlobFile.Failure(operation: "put in place", path: to, number: errno)
        }
    }
}

extension Store {
    /// Copies every large value that the store names from a shared log.
    func takeBlobs(
        from log: any SharedLog, _ contact: LogContact, _ progress: ProgressHandler?
    ) throws -> (count: Int, sizeInBytes: UInt64) {
        try takeBlobs(
            { digest in
                let data = try contact.ask { () throws(SharedLogFailure) in try log.blob(digest: digest) }
                guard let data, BlobReference(of: data).digest == digest else { return nil }
                return data
            }, progress)
    }
}
