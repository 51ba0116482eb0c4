import Crypto
package import Foundation
import LMDB
import Locking
package import StrataModel

/// Large binary values, kept in files beside the map and named by the SHA-256 of their bytes.
///
/// `blobs/ab/cdef…` holds the bytes as they are. A file is written under another name, synced, renamed, and its
/// directories synced, before the commit that names it; it is never changed afterwards. A process that writes large
/// values holds `blobs.lock` shared until the save is over. The sweeper needs it exclusively, so it never removes a
/// file that a save is about to name. Stores in memory keep the bytes in `memory`. Both variables are guarded by their
/// mutexes.
final class BlobStore: Sendable {
    /// Nil for a store in memory.
    private let files: BlobFiles?
    private let file: StoreFile
    private let memory = Locked<[Data: Data]>([:])
    private let leases = Locked((count: 0, descriptor: Int32(-1)))

    init(_ location: StoreLocation, directory: String, file: StoreFile) throws {
        self.file = file
        if case .inMemory = location {
            files = nil
        } else {
            files = BlobFiles(
                directory: directory, ownership: file.options.acceptsSharedOwnership ? .unchecked : .privateOnly)
        }
    }

    func close() { memory.withLock { $0.removeAll() } }

    // MARK: Leases

    /// Keeps the sweeper out until the lease is released.
    func lease() throws -> BlobLease {
        if let files {
            do {
                try leases.withLock { leases in
                    if leases.count == 0 { leases.descriptor = try files.lockShared() }
                    leases.count += 1
                }
            } catch {
                throw file.publicError(error, during: "beginning with a large value")
            }
        }
        return BlobLease(self)
    }

    /// Keeps the sweeper out while values are copied. Makes no lock file in a store without large values.
    func readingLease() throws -> BlobReadingLease {
        guard let files else { return BlobReadingLease(nil) }
        do {
            return BlobReadingLease(try files.lockForReading(makingIt: files.exist))
        } catch {
            throw file.publicError(error, during: "beginning to copy large values")
        }
    }

    fileprivate func endLease() {
        guard files != nil else { return }
        leases.withLock { leases in
            leases.count -= 1
            if leases.count == 0 {
                BlobFiles.unlock(leases.descriptor)
                leases.descriptor = -1
            }
        }
    }

    // MARK: Reading and writing

    /// Writes the bytes, synced, unless their file exists already. The caller holds a lease.
    func stage(_ data: Data) throws -> BlobReference {
        try stage(BytesInPieces(data), as: BlobReference(of: data))
    }

    /// Writes bytes that are read twice, the first time for their digest; otherwise as `stage(_:)`.
    ///
    /// - Throws: `persistentStoreOperation` if they change between.
    func stage(_ bytes: BytesInPieces) throws -> BlobReference {
        let reference: BlobReference
        do {
            reference = try BlobReference(of: bytes)
        } catch {
            throw file.publicError(error, during: "reading a large value")
        }
        let checked = BytesInPieces(count: bytes.count) { body in
            var hash = SHA256()
            try bytes.forEach { piece in
                hash.update(bufferPointer: piece)
                try body(piece)
            }
            guard Data(hash.finalize()) == reference.digest else {
                throw StrataError(.persistentStoreOperation, "A large value changed while it was copied.")
            }
        }
        return try stage(checked, as: reference)
    }

    private func stage(_ bytes: BytesInPieces, as reference: BlobReference) throws -> BlobReference {
        guard let files else {
            let data = try bytes.data()
            memory.withLock { $0[reference.digest] = data }
            return reference
        }
        let (folder, name) = Self.location(of: reference)
        do {
            try files.write(bytes, folder: folder, name: name) { try isNamed(reference.digest) }
        } catch {
            throw file.publicError(error, during: "writing a large value")
        }
        return reference
    }

    /// Whether an event names the value: its writer has made the file's name durable before. Looked up in the newest
    /// state; during a rebuild some are not found.
    private func isNamed(_ digest: Data) throws -> Bool {
        try file.environment.read { transaction in
            try digest.withUnsafeBytes { try transaction.get(file.tables.blobs, $0) } != nil
        }
    }

    /// - Throws: `missingBlob` if the bytes are gone or do not match the digest.
    func read(_ reference: BlobReference) throws -> Data {
        let data =
            files.map { files in
                let (folder, name) = Self.location(of: reference)
                return files.read(folder: folder, name: name, sizeInBytes: reference.sizeInBytes)
            } ?? memory.withLock { $0[reference.digest] }
        guard let data, BlobReference(of: data).digest == reference.digest else {
            throw missing(reference)
        }
        return data
    }

    /// Compares the bytes of a value with the digest, in pieces.
    ///
    /// - Throws: `missingBlob` as `read(_:)`.
    func check(_ reference: BlobReference) throws {
        guard let files else {
            _ = try read(reference)
            return
        }
        let (folder, name) = Self.location(of: reference)
        let bytes = files.pieces(folder: folder, name: name, sizeInBytes: reference.sizeInBytes)
        guard let bytes, try BlobReference(of: bytes).digest == reference.digest else { throw missing(reference) }
    }

    private func missing(_ reference: BlobReference) -> StrataError {
        StrataError(
            .missingBlob, "The file of a large value is missing or damaged.", context: .init(path: path(of: reference)))
    }

    /// Reads the bytes of a value and returns the damage; nil if they exist and are undamaged.
    func damage(of digest: Data, sizeInBytes: UInt64? = nil) -> String? {
        let path = path(of: BlobReference(digest: digest, sizeInBytes: 0))
        guard let data = contents(digest: digest) else {
            let (folder, name) = Self.location(of: BlobReference(digest: digest, sizeInBytes: 0))
            return files?.refusal(folder: folder, name: name).map { "the file cannot be read (\($0)): \(path)" }
                ?? "the file is missing: \(path)"
        }
        guard BlobReference(of: data).digest != digest else { return nil }
        if let sizeInBytes, UInt64(data.count) != sizeInBytes {
            return "the file has \(CountText.of(data.count, "byte")), \(sizeInBytes) were saved: \(path)"
        }
        return "the file's bytes are not those that were saved: \(path)"
    }

    /// The bytes under a digest, unchecked; nil if there are none.
    func contents(digest: Data) -> Data? {
        guard let files else { return memory.withLock { $0[digest] } }
        let (folder, name) = Self.location(of: BlobReference(digest: digest, sizeInBytes: 0))
        return files.read(folder: folder, name: name)
    }

    /// The first bytes of a value, unchecked; nil if there are none.
    func beginning(of reference: BlobReference, _ count: Int) -> Data? {
        guard let files else { return memory.withLock { $0[reference.digest]?.prefix(count) } }
        let (folder, name) = Self.location(of: reference)
        return files.read(folder: folder, name: name, sizeInBytes: reference.sizeInBytes, first: count)
    }

    /// The bytes under a digest; nil if there are none, or others.
    func checkedContents(digest: Data) -> Data? {
        guard let data = contents(digest: digest), BlobReference(of: data).digest == digest else { return nil }
        return data
    }

    /// Whether the file of the bytes exists, without reading it.
    func exists(_ reference: BlobReference) -> Bool {
        guard let files else { return memory.withLock { $0[reference.digest] != nil } }
        let (folder, name) = Self.location(of: reference)
        return files.size(folder: folder, name: name) == reference.sizeInBytes
    }

    /// The path of a value's file; for a store in memory only a name for messages.
    func path(of reference: BlobReference) -> String {
        let (folder, name) = Self.location(of: reference)
        return "\(files?.directory ?? "memory")/blobs/\(folder)/\(name)"
    }

    /// The same for a store that is not open.
    static func contents(digest: Data, in directory: String) -> Data? {
        let (folder, name) = location(of: BlobReference(digest: digest, sizeInBytes: 0))
        return BlobFiles(directory: directory, ownership: .unchecked).read(folder: folder, name: name)
    }

    private static func location(of reference: BlobReference) -> (folder: String, name: String) {
        let hexadecimal = reference.digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        return (String(hexadecimal.prefix(2)), String(hexadecimal.dropFirst(2)))
    }

    // MARK: Sweeping

    /// Removes files that no event names, as a crash between writing and committing leaves them.
    ///
    /// - Returns: how many were removed; 0 while a lease is held.
    func sweep() throws -> Int {
        guard let files, let descriptor = try files.tryLock() else { return 0 }
        defer { BlobFiles.unlock(descriptor) }
        let entries = try files.list()
        guard !entries.isEmpty else { return 0 }
        var removed = 0
        // In a write transaction, so that no other process can commit a name at the same time.
        try file.write { transaction in
            removed = 0
            // Throws during a rebuild, while the table of names is incomplete.
            _ = try file.readHead(transaction)
            for entry in entries {
                let isNamed = try entry.digest.map { digest in
                    try digest.withUnsafeBytes { try transaction.get(file.tables.blobs, $0) } != nil
                }
                if isNamed != true, files.remove(entry) { removed += 1 }
            }
        }
        return removed
    }

    /// Whether there are files that no event names.
    func hasUnnamed() throws -> Bool {
        guard let files, files.exist else { return false }
        let entries = try files.list()
        return try file.environment.read { transaction in
            try entries.contains { entry in
                try entry.digest.map { digest in
                    try digest.withUnsafeBytes { try transaction.get(file.tables.blobs, $0) } == nil
                } ?? true
            }
        }
    }

    /// Whether there is anything that could be swept.
    var hasFiles: Bool { files?.exist ?? false }

    /// The number and size of the files beside the map.
    var usage: (count: Int, sizeInBytes: UInt64) {
        guard let files else {
            return memory.withLock { ($0.count, $0.values.reduce(0) { $0 + UInt64($1.count) }) }
        }
        // Without the directory there are no files.
        let entries = (try? files.list()) ?? []
        return (entries.count, entries.reduce(0) { $0 + (files.size(folder: $1.folder, name: $1.name) ?? 0) })
    }
}

/// Keeps the sweeper out while large values are copied.
final class BlobReadingLease: Sendable {
    private let descriptor: Int32?

    fileprivate init(_ descriptor: Int32?) { self.descriptor = descriptor }

    deinit { if let descriptor { BlobFiles.unlock(descriptor) } }
}

/// Keeps the sweeper out, from writing the first large value until the save that names it is over.
package final class BlobLease: Sendable {
    private let blobs: BlobStore

    fileprivate init(_ blobs: BlobStore) { self.blobs = blobs }

    deinit { blobs.endLease() }
}

extension BlobReference {
    /// The reference to these bytes.
    package init(of data: Data) { self.init(digest: Data(SHA256.hash(data: data)), sizeInBytes: UInt64(data.count)) }

    /// The reference to bytes that are read in pieces.
    package init(of bytes: BytesInPieces) throws {
        var hash = SHA256()
        try bytes.forEach { hash.update(bufferPointer: $0) }
        self.init(digest: Data(hash.finalize()), sizeInBytes: UInt64(bytes.count))
    }
}
