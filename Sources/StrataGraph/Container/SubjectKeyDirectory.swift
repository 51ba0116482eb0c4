// The files of a directory of keys. Each is "00.keys" to "ff.keys", named by the first byte of its subjects' ids, and has
// records of 64 bytes in the order in which they were made:
//
//   offset  width  field
//   0       16     subject id
//   16      8      state, little-endian: 1 in use, 2 destroyed
//   24      32     the key, random bytes; zeros when it was destroyed
//   56      8      XXH64 over bytes 0..<56, little-endian
//
// A last record that is cut short has no key that was ever used, and neither has one of zeros, which a power cut leaves.
// Writers hold an exclusive `flock` on the file.

public import Foundation
import Locking
public import StrataModel
import StrataStore

/// The keys of subjects in the files of a directory, for apps without a key management service.
///
/// ```swift
/// let key = try Data(contentsOf: URL(filePath: "/run/secrets/clinic.key"))
/// let keys = try SubjectKeyDirectory(at: URL(filePath: "/var/lib/clinic-keys"))
/// options.encryption = StoreEncryption(key: key, subjectKeys: keys)
/// ```
///
/// Only the user that made it may read the directory and its files. Several processes of a machine can use it at once.
/// **Do not back it up together with the store**, and keep no more copies of it than you can overwrite: an erasure reaches
/// the values in old backups only if no old copy of the keys is left. A destroyed key is overwritten where it lies. File
/// systems that write elsewhere (copy on write, snapshots) and SSDs may keep the old bytes; where that matters, use a key
/// management service.
public struct SubjectKeyDirectory: SubjectKeyStore {
    /// The directory of the files.
    public let url: URL

    /// Opens a directory, and makes it if it is missing.
    ///
    /// - Throws: `persistentStoreOpen` if it cannot be made.
    public init(at url: URL) throws {
        self.url = url
        do {
            try BlobFile.makeDirectories(url, mode: 0o700)
        } catch {
            throw StrataError(
                .persistentStoreOpen, "The directory of keys cannot be made.", context: .init(path: url.path),
                cause: error)
        }
    }

    /// The key of a subject; nil if there never was one.
    ///
    /// - Throws: `corrupt` for a damaged record.
    /// - Complexity: O(n / 256) in the keys.
    public func key(of subject: SubjectID) throws -> SubjectKey? {
        guard let file = try KeyFile(url, subject, isWritten: false) else { return nil }
        return try file.record(of: subject)?.key
    }

    /// Gives the keys of subjects in their order, and makes those that are missing, on the disk when it returns.
    ///
    /// - Throws: `subjectErased`, `corrupt`.
    /// - Complexity: O(m + n / 256) for m subjects; it syncs up to 256 files.
    public func makeKeys(of subjects: [SubjectID]) throws -> [Data] {
        var made: [SubjectID: Data] = [:]
        for group in Dictionary(grouping: Set(subjects), by: { $0.bytes[0] }).values {
            guard let file = try KeyFile(url, group[0], isWritten: true) else { continue }
            for subject in group {
                switch try file.record(of: subject)?.key {
                case .key(let key)?: made[subject] = key
                case .destroyed?: throw StrataError.subjectErased(subject)
                case nil:
                    let key = KeyFile.randomKey()
                    try file.append(subject, .key(key))
                    made[subject] = key
                }
            }
            try file.synchronize()
        }
        return subjects.compactMap { made[$0] }
    }

    /// Overwrites the keys of subjects, on the disk when it returns.
    ///
    /// - Throws: `corrupt`.
    public func destroyKeys(of subjects: [SubjectID]) throws {
        for group in Dictionary(grouping: Set(subjects), by: { $0.bytes[0] }).values {
            guard let file = try KeyFile(url, group[0], isWritten: true) else { continue }
            for subject in group {
                if let record = try file.record(of: subject) {
                    try file.write(subject, .destroyed, at: record.offset)
                } else {
                    try file.append(subject, .destroyed)
                }
            }
            try file.synchronize()
        }
    }

    /// The number of keys, and of destroyed keys.
    ///
    /// - Complexity: O(n) in the keys.
    public func counts() throws -> (keys: Int, destroyed: Int) {
        var counts = (keys: 0, destroyed: 0)
        for byte in UInt8.min...UInt8.max {
            guard let file = try KeyFile(url, byte, isWritten: false) else { continue }
            for record in try file.records() {
                if record.key == .destroyed { counts.destroyed += 1 } else { counts.keys += 1 }
            }
        }
        return counts
    }
}

/// One open file of keys, locked while it lives if it is written. Used by one thread.
private final class KeyFile {
    struct Record {
        let subject: SubjectID
        let key: SubjectKey
        let offset: Int
    }

    private static let recordSize = 64
    private static let keySize = 32
    private let path: String
    private let descriptor: Int32
    /// The bytes of whole records.
    private var bytes: [UInt8] = []
    /// The offset of each subject's record; nil for the first searches, which look at the records.
    private var offsets: [SubjectID: Int]?
    private var searchCount = 0
    private static let searchesWithoutOffsets = 4

    convenience init?(_ folder: URL, _ subject: SubjectID, isWritten: Bool) throws {
        try self.init(folder, subject.bytes[0], isWritten: isWritten)
    }

    /// Nil if the file is missing and is not to be written.
    init?(_ folder: URL, _ byte: UInt8, isWritten: Bool) throws {
        path = folder.appending(path: (byte < 16 ? "0" : "") + String(byte, radix: 16) + ".keys").path
        var opened = open(path, (isWritten ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW)
        if opened < 0, errno == ENOENT {
            if !isWritten { return nil }
            opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        descriptor = opened
        guard opened >= 0 else { throw Self.failure("open", path) }
        if isWritten {
            let number = FileLock.take(.exclusive, of: opened, until: .now + FileLock.patience)
            guard number == 0 else { throw Self.failure("lock", path, number) }
        }
        try read()
        // The name of a file is durable before its first key, also if the process that made the file has failed.
        if isWritten, bytes.isEmpty { try BlobFile.syncDirectory(folder.path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private func read() throws {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw Self.failure("read", path) }
        let size = Int(info.st_size) / Self.recordSize * Self.recordSize
        bytes = [UInt8](repeating: 0, count: size)
        var done = 0
        while done < size {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, size - done, off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("read", path) }
            done += count
        }
    }

    /// The newest record of a subject counts.
    private func offset(of subject: SubjectID) -> Int? {
        searchCount += 1
        if offsets == nil, searchCount > Self.searchesWithoutOffsets { offsets = allOffsets }
        if let offsets { return offsets[subject] }
        return stride(from: bytes.count - Self.recordSize, through: 0, by: -Self.recordSize)
            .first { self.subject(at: $0) == subject }
    }

    private var allOffsets: [SubjectID: Int] {
        var offsets: [SubjectID: Int] = [:]
        for offset in stride(from: 0, to: bytes.count, by: Self.recordSize) where !isEmpty(at: offset) {
            offsets[subject(at: offset)] = offset
        }
        return offsets
    }

    private func isEmpty(at offset: Int) -> Bool { bytes[offset..<offset + Self.recordSize].allSatisfy { $0 == 0 } }

    private func subject(at offset: Int) -> SubjectID {
        bytes.withUnsafeBytes { SubjectID(UnsafeRawBufferPointer(rebasing: $0[offset..<offset + 16])) }
    }

    /// - Throws: `corrupt` for a damaged record.
    func record(of subject: SubjectID) throws -> Record? {
        guard let offset = offset(of: subject) else { return nil }
        let key = try bytes.withUnsafeBytes { bytes in
            let record = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Self.recordSize])
            guard record.loadUnaligned(fromByteOffset: 56, as: UInt64.self).littleEndian == Self.sum(record) else {
                throw damaged(subject)
            }
            switch record.loadUnaligned(fromByteOffset: 16, as: UInt64.self).littleEndian {
            case 1: return SubjectKey.key(Data(record[24..<24 + Self.keySize]))
            case 2: return SubjectKey.destroyed
            default: throw damaged(subject)
            }
        }
        return Record(subject: subject, key: key, offset: offset)
    }

    func records() throws -> [Record] { try allOffsets.keys.compactMap { try record(of: $0) } }

    func append(_ subject: SubjectID, _ key: SubjectKey) throws {
        let offset = bytes.count
        try write(subject, key, at: offset)
    }

    func write(_ subject: SubjectID, _ key: SubjectKey, at offset: Int) throws {
        var record = [UInt8](repeating: 0, count: Self.recordSize)
        record.withUnsafeMutableBytes { record in
            record.copyBytes(from: subject.bytes)
            var state: UInt64 = 2
            if case .key(let key) = key {
                state = 1
                UnsafeMutableRawBufferPointer(rebasing: record[24..<24 + Self.keySize]).copyBytes(from: key)
            }
            record.storeBytes(of: state.littleEndian, toByteOffset: 16, as: UInt64.self)
            record.storeBytes(
                of: Self.sum(UnsafeRawBufferPointer(record)).littleEndian, toByteOffset: 56, as: UInt64.self)
        }
        guard pwrite(descriptor, record, record.count, off_t(offset)) == record.count else {
            throw Self.failure("write", path)
        }
        if offset == bytes.count {
            bytes += record
        } else {
            bytes.replaceSubrange(offset..<offset + record.count, with: record)
        }
        offsets?[subject] = offset
    }

    func synchronize() throws {
        guard fsync(descriptor) == 0 else { throw Self.failure("sync", path) }
    }

    static func randomKey() -> Data {
        var generator = SystemRandomNumberGenerator()
        var key = Data(capacity: keySize)
        for _ in 0..<keySize / 8 { withUnsafeBytes(of: generator.next()) { key.append(contentsOf: $0) } }
        return key
    }

    private static func sum(_ record: UnsafeRawBufferPointer) -> UInt64 {
        XXH64.hash(UnsafeRawBufferPointer(rebasing: record[..<56]))
    }

    private func damaged(_ subject: SubjectID) -> StrataError {
        StrataError(
            .corrupt, "The key of the subject \(subject) is damaged; restore the file of keys from a copy.",
            context: .init(path: path))
    }

    private static func failure(_ operation: String, _ path: String, _ number: Int32 = errno) -> StrataError {
        StrataError(
            number == EWOULDBLOCK ? .persistentStoreTimeout : .persistentStoreOperation,
            number == EWOULDBLOCK
                ? "Another process has kept the file of keys locked." : "The file of keys could not be used.",
            context: .init(path: path),
            cause: BlobFile.Failure(operation: operation, path: path, number: number))
    }
}
