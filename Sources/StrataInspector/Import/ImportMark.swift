import Foundation
import StrataModel
import StrataStore

/// Records in the log how much of a file has been imported. Each transaction names in its metadata the file (by its
/// contents), the entity, the number of records done, and the beginning of the file that has them.
///
/// So an import goes on with the same file, and with one that was corrected behind the records that are done.
struct ImportMark {
    static let fileKey = "strata.import"
    static let recordsKey = "strata.import.records"
    static let startKey = "strata.import.start"

    /// The digest of the file; nil for standard input, pipes and devices, which cannot be read twice.
    let file: String?
    private let entity: String
    private let start: FileStart?

    /// - Throws: `UsageError` for a file that cannot be read.
    init(file path: String, entity: String) throws {
        self.entity = entity
        // A named pipe can be read only once, too.
        var status = stat()
        guard path != "-", stat(path, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            (file, start) = (nil, nil)
            return
        }
        do {
            let data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
            let digest = data.withUnsafeBytes { XXH64.hash($0) }
            file = "\(entity) \(String(digest, radix: 16)) \(data.count)"
            start = try FileStart(path)
        } catch {
            throw UsageError("\(path) cannot be read: \(error.systemReason)")
        }
    }

    /// - Parameter bytes: the length of the beginning of the file that has the records.
    func metadata(records: Int, bytes: Int) throws -> [String: String] {
        guard let file, let start else { return [:] }
        var metadata = [Self.fileKey: file, Self.recordsKey: "\(records)"]
        // A last line without its end may be the beginning of a longer one.
        if let digest = try start.digest(ofFirst: bytes), try bytes < start.size() || start.endsWithLine(bytes) {
            metadata[Self.startKey] = "\(bytes) \(String(digest, radix: 16))"
        }
        return metadata
    }

    /// The records that the newest import of the file has done, or of one that begins with the same records; 0 if there
    /// was none.
    func recordsDone(in store: Store) throws -> Int {
        var before: TransactionNumber?
        var known: Set<String> = []
        while true {
            let page = try store.transactions(before: before, limit: 1000)
            guard let last = page.last else { return 0 }
            for record in page {
                // The newest mark of each file has the most records.
                guard let name = record.metadata[Self.fileKey], known.insert(name).inserted,
                    let done = record.metadata[Self.recordsKey].flatMap({ Int($0) })
                else { continue }
                if try name == file || name.hasPrefix(entity + " ") && begins(record.metadata[Self.startKey]) {
                    return done
                }
            }
            before = last.number
        }
    }

    /// Whether the file begins with the bytes that a mark names.
    private func begins(_ mark: String?) throws -> Bool {
        let words = (mark ?? "").split(separator: " ")
        guard words.count == 2, let count = Int(words[0]), let digest = UInt64(words[1], radix: 16) else {
            return false
        }
        return try start?.digest(ofFirst: count) == digest
    }
}

/// Digests of the beginnings of a file. Each takes up the digest of the blocks before it, so that longer and longer
/// beginnings read the file once.
private final class FileStart {
    private let handle: FileHandle
    /// The digest of the blocks before `offset`.
    private var digest: UInt64 = 0
    private var offset = 0
    private static let blockSize = 1 << 20

    init(_ path: String) throws { handle = try FileHandle(forReadingFrom: URL(filePath: path)) }

    /// The digest of the first bytes; nil if the file has fewer.
    func digest(ofFirst count: Int) throws -> UInt64? {
        if count < offset { (digest, offset) = (0, 0) }
        while count - offset >= Self.blockSize {
            guard let block = try read(Self.blockSize) else { return nil }
            digest = block.withUnsafeBytes { XXH64.hash($0, seed: digest) }
            offset += Self.blockSize
        }
        return try read(count - offset)?.withUnsafeBytes { XXH64.hash($0, seed: digest) }
    }

    func size() throws -> Int { Int(try handle.seekToEnd()) }

    /// Whether the byte before a position ends a line.
    func endsWithLine(_ position: Int) throws -> Bool {
        guard position > 0 else { return true }
        try handle.seek(toOffset: UInt64(position - 1))
        return try handle.read(upToCount: 1)?.first == 0x0A
    }

    /// The next bytes of the file; nil if it has fewer.
    private func read(_ count: Int) throws -> Data? {
        guard count > 0 else { return count == 0 ? Data() : nil }
        try handle.seek(toOffset: UInt64(offset))
        let data = try handle.read(upToCount: count) ?? Data()
        return data.count == count ? data : nil
    }
}
