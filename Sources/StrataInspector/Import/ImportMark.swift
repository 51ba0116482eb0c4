import Foundation
import StrataModel
import StrataStore

/// Records in the log how much of a file has been imported. Each transaction names in its metadata the file (by its
/// contents), the entity, and the number of records done.
struct ImportMark {
    static let fileKey = "strata.import"
    static let recordsKey = "strata.import.records"

    /// The digest of the file; nil for standard input, pipes and devices, which cannot be read twice.
    let file: String?

    /// - Throws: `UsageError` for a file that cannot be read.
    init(file path: String, entity: String) throws {
        // A named pipe can be read only once, too.
        var status = stat()
        guard path != "-", stat(path, &status) != 0 || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
            file = nil
            return
        }
        do {
            let data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
            let digest = data.withUnsafeBytes { XXH64.hash($0) }
            file = "\(entity) \(String(digest, radix: 16)) \(data.count)"
        } catch {
            throw UsageError("\(path) cannot be read: \(error.systemReason)")
        }
    }

    func metadata(records: Int) -> [String: String] {
        guard let file else { return [:] }
        return [Self.fileKey: file, Self.recordsKey: "\(records)"]
    }

    /// The records that the newest import of the file has done; 0 if there was none.
    func recordsDone(in store: Store) throws -> Int {
        var before: TransactionNumber?
        while true {
            let page = try store.transactions(before: before, limit: 1000)
            guard let last = page.last else { return 0 }
            for record in page where record.metadata[Self.fileKey] == file {
                if let done = record.metadata[Self.recordsKey].flatMap({ Int($0) }) { return done }
            }
            before = last.number
        }
    }
}
