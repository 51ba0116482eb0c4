import Crypto
import Foundation
import StrataModel
import StrataStore

/// Copies a store to a target as a snapshot: its compacted data file in parts, its large values, and the manifest.
struct SnapshotUpload {
    let store: Store
    let target: any ShippingTarget
    let progress: ProgressHandler?

    private static let partSize = 32 << 20

    func run(_ report: inout ShippingReport, _ lost: inout LostValues) throws {
        try store.withCopy { folder in
            let description = try describe(folder)
            for digest in description.blobs {
                guard let data = store.blob(digest: digest) else {
                    try lost.note(digest)
                    continue
                }
                guard try target.write(data, to: TargetName.blob(digest)) == .written else { continue }
                report.blobCount += 1
                report.byteCount += data.count
            }
            let parts = try upload(folder, description.name, &report)
            let manifest = description.manifest(parts)
            let data = try manifest.encoded()
            _ = try target.write(data, to: description.name.manifest(Data(SHA256.hash(data: data))))
            report.byteCount += data.count
            report.snapshot = description.name.last
        }
    }

    /// The state of the store that a copy has.
    private struct Description {
        let position: LogPosition
        let microseconds: Int64
        let tags: [String: UInt64]
        let blobs: [Data]

        var name: SnapshotName {
            SnapshotName(last: position.transaction, digest: position.digest, lineage: position.lineage)
        }

        func manifest(_ parts: [SnapshotManifest.Part]) -> SnapshotManifest {
            SnapshotManifest(
                store: position.identifier, lineage: position.lineage, transaction: position.transaction.rawValue,
                eventNumber: position.eventNumber.rawValue, microseconds: microseconds,
                digest: Hexadecimal.text(position.digest), tags: tags, blobs: blobs.map { Hexadecimal.text($0) },
                parts: parts)
        }
    }

    private func describe(_ folder: URL) throws -> Description {
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        let position = try copy.logPosition()
        return Description(
            position: position, microseconds: try copy.transaction(position.transaction)?.microseconds ?? 0,
            tags: try copy.tags().mapValues(\.rawValue), blobs: try copy.blobDigests())
    }

    private func upload(
        _ folder: URL, _ name: SnapshotName, _ report: inout ShippingReport
    ) throws -> [SnapshotManifest.Part] {
        let file = try FileHandle(forReadingFrom: folder.appending(component: "data.mdb"))
        let total = Int(try file.seekToEnd())
        try file.seek(toOffset: 0)
        var parts: [SnapshotManifest.Part] = []
        var done = 0
        while let data = try file.read(upToCount: Self.partSize), !data.isEmpty {
            let digest = Data(SHA256.hash(data: data))
            if try target.write(data, to: name.part(digest)) == .written { report.byteCount += data.count }
            parts.append(.init(sizeInBytes: data.count, sha256: Hexadecimal.text(digest)))
            done += data.count
            progress?(StoreProgress(phase: "shipping a snapshot", done: done, total: total, unit: .bytes))
        }
        return parts
    }
}
