// `shared-log`, beside `data.mdb`: the shared log of which the store is a copy, noted when the store has first received
// it. It is read where the other files are damaged. Numbers have the most significant byte first:
//
//   offset  width  field
//   0       16     "strata.sharedlog"
//   16      16     id of every store with this log
//   32      16     lineage of the log
//   48      8      XXH64 of the above
//
import Foundation
import StrataModel

/// A record of the shared log that a directory belongs to.
struct SharedMark: Equatable {
    let identifier: UUID
    let lineage: UUID

    static let name = "shared-log"
    private static let magic = Array("strata.sharedlog".utf8)
    private static let size = 56

    init(_ identity: SharedLogIdentity) {
        identifier = identity.identifier
        lineage = identity.lineage
    }

    private init(_ identifier: UUID, _ lineage: UUID) {
        self.identifier = identifier
        self.lineage = lineage
    }

    private var bytes: [UInt8] {
        var bytes = Self.magic
        for id in [identifier, lineage] { withUnsafeBytes(of: id.uuid) { bytes += $0 } }
        withUnsafeBytes(of: Self.sum(bytes).bigEndian) { bytes += $0 }
        return bytes
    }

    private static func sum(_ bytes: some Collection<UInt8>) -> UInt64 {
        Array(bytes).withUnsafeBytes { XXH64.hash($0) }
    }

    /// Reads the mark of a directory; nil if it has none, or a damaged one.
    init?(in directory: String) {
        guard let data = FileManager.default.contents(atPath: directory + "/" + Self.name), data.count == Self.size
        else {
            return nil
        }
        let bytes = Array(data)
        let id = { (start: Int) in
            bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(fromByteOffset: start, as: uuid_t.self)) }
        }
        self.init(id(16), id(32))
        guard self.bytes == bytes else { return nil }
    }

    /// Writes the mark; it is on the disk when this returns.
    func write(in directory: String) throws {
        let path = directory + "/" + Self.name
        let temporary = path + "-\(UUID().uuidString)"
        do {
            try BlobFile.create(temporary) { write in try write(Data(bytes)) }
            guard rename(temporary, path) == 0 else {
                throw BlobFile.Failure(operation: "rename", path: path, number: errno)
            }
        } catch {
            unlink(temporary)
            throw error
        }
        try BlobFile.syncDirectory(directory)
    }
}
