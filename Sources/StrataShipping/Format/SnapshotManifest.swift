// A snapshot at a target: a copy of the store's data file, cut into parts, and a manifest in JSON that names them. The
// manifest is written last, and its own name is the SHA-256 of its bytes.

import Crypto
package import Foundation
import StrataModel

/// The parts of a snapshot.
package struct SnapshotManifest: Sendable, Hashable, Codable {
    package static let formatVersion = 1

    /// A piece of the data file, in its order.
    package struct Part: Sendable, Hashable, Codable {
        package let sizeInBytes: Int
        /// In hexadecimal; also the part's name.
        package let sha256: String

        package init(sizeInBytes: Int, sha256: String) {
            self.sizeInBytes = sizeInBytes
            self.sha256 = sha256
        }
    }

    package var format = Self.formatVersion
    package let store: UUID
    package let lineage: UUID
    /// The last transaction and event of the copy.
    package let transaction: UInt64
    package let eventNumber: UInt64
    /// The commit time of that transaction, microseconds since 1970.
    package let microseconds: Int64
    /// The digest of that transaction, in hexadecimal.
    package let digest: String
    /// Tags by name, with the events that they name.
    package let tags: [String: UInt64]
    /// The digests of the large values that the copy names, in hexadecimal.
    package let blobs: [String]
    package let parts: [Part]

    package init(
        store: UUID, lineage: UUID, transaction: UInt64, eventNumber: UInt64, microseconds: Int64, digest: String,
        tags: [String: UInt64], blobs: [String], parts: [Part]
    ) {
        self.store = store
        self.lineage = lineage
        self.transaction = transaction
        self.eventNumber = eventNumber
        self.microseconds = microseconds
        self.digest = digest
        self.tags = tags
        self.blobs = blobs
        self.parts = parts
    }

    package var sizeInBytes: Int { parts.reduce(0) { $0 + $1.sizeInBytes } }

    package var digestBytes: [UInt8] { Hexadecimal.bytes(digest).map([UInt8].init) ?? [] }

    package var name: SnapshotName {
        SnapshotName(last: TransactionNumber(rawValue: transaction), digest: digestBytes, lineage: lineage)
    }

    package func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Reads the manifest of a snapshot.
    ///
    /// - Parameter name: of the file.
    /// - Throws: `CorruptRecord` if the bytes are not those that were written.
    package init(_ data: Data, name: String) throws {
        let digest = Hexadecimal.text(SHA256.hash(data: data))
        guard name.hasSuffix("/" + digest + SnapshotName.manifestSuffix) else {
            throw CorruptRecord("manifest whose sum does not match", at: 0)
        }
        let manifest = try JSONDecoder().decode(Self.self, from: data)
        guard manifest.format == Self.formatVersion else {
            throw CorruptRecord("manifest of a newer version", at: 0)
        }
        self = manifest
    }

    /// The first manifest in a list that is sound and whose parts are all there.
    package static func newest(
        in snapshots: [TargetCatalog.Snapshot], _ target: any ShippingTarget,
        where fits: (SnapshotManifest) -> Bool = { _ in true }
    ) throws -> SnapshotManifest? {
        for snapshot in snapshots {
            guard let data = try target.read(snapshot.manifest) else { continue }
            do {
                let manifest = try SnapshotManifest(data, name: snapshot.manifest)
                if fits(manifest), try manifest.isWhole(target) { return manifest }
            } catch is CorruptRecord {
                continue
            } catch is DecodingError {
                continue
            }
        }
        return nil
    }

    /// Whether every part is at the target with its size.
    private func isWhole(_ target: any ShippingTarget) throws -> Bool {
        var sizes: [String: Int] = [:]
        for entry in try target.entries(under: name.folder, after: nil) { sizes[entry.name] = entry.sizeInBytes }
        return parts.allSatisfy { part in
            guard let digest = Hexadecimal.bytes(part.sha256) else { return false }
            return sizes[name.part(digest)] == part.sizeInBytes
        }
    }
}
