import Foundation
import StrataModel
import StrataStore

/// Removes old snapshots from a target, with the segments and large values that only they need.
struct TargetRetention {
    let target: any ShippingTarget
    let lineage: UUID
    let keptSnapshots: Int
    /// A file that a shipper has written but not named yet is younger than this.
    var grace: TimeInterval = 24 * 60 * 60
    var now = Date()

    /// Removes old snapshots, the segments before the oldest that stays, and large values that nothing names any more.
    ///
    /// Nothing is removed unless the oldest snapshot that stays is whole.
    ///
    /// - Returns: how many files were removed.
    func run() throws -> Int {
        let catalog = try TargetCatalog.list(target, lineage)
        let positions = catalog.snapshots.map(\.name).reduce(into: [SnapshotName]()) { names, name in
            if names.last != name { names.append(name) }
        }
        guard positions.count >= keptSnapshots, keptSnapshots > 0 else { return 0 }
        let oldest = positions[positions.count - keptSnapshots]
        guard let manifest = try SnapshotManifest.newest(in: catalog.snapshots.filter { $0.name == oldest }, target)
        else { return 0 }
        var removed = 0
        for name in catalog.begunSnapshots where name.last < oldest.last { removed += try remove(name) }
        for segment in catalog.segments where segment.last.rawValue <= manifest.transaction {
            try target.remove(segment.text)
            removed += 1
        }
        return removed + (try removeBlobs(where: isOld))
    }

    /// Removes a snapshot. The manifests go first: a snapshot without one is none.
    ///
    /// - Returns: how many files were removed.
    func remove(_ name: SnapshotName) throws -> Int {
        let entries = try target.entries(under: name.folder, after: nil)
        let (manifests, parts) = (
            entries.filter { $0.name.hasSuffix(SnapshotName.manifestSuffix) },
            entries.filter { !$0.name.hasSuffix(SnapshotName.manifestSuffix) }
        )
        for entry in manifests + parts { try target.remove(entry.name) }
        return entries.count
    }

    /// Removes large values that nothing names and for which `mayGo` is true.
    func removeBlobs(where mayGo: (TargetEntry) -> Bool) throws -> Int {
        var unnamed: Set<String> = []
        for entry in try target.entries(under: TargetName.blobs, after: nil) where mayGo(entry) {
            unnamed.insert(entry.name)
        }
        guard !unnamed.isEmpty else { return 0 }
        for lineage in try TargetCatalog.lineages(target) {
            let catalog = try TargetCatalog.list(target, lineage)
            for snapshot in catalog.snapshots {
                guard let data = try target.read(snapshot.manifest) else { continue }
                for text in try SnapshotManifest(data, name: snapshot.manifest).blobs {
                    guard let digest = Hexadecimal.bytes(text) else { continue }
                    unnamed.remove(TargetName.blob(digest))
                }
            }
            for name in catalog.segments {
                guard let data = try target.read(name.text) else { continue }
                try Segment(data).forEachFrame { frame in
                    for digest in frame.blobDigests { unnamed.remove(TargetName.blob(digest)) }
                    return true
                }
            }
        }
        // Of a target that went away meanwhile, nothing is known.
        guard try TargetMark.read(target) != nil else { throw TargetPresence.isAway(target.label) }
        for name in unnamed.sorted() { try target.remove(name) }
        return unnamed.count
    }

    private func isOld(_ entry: TargetEntry) -> Bool { entry.date.map { now.timeIntervalSince($0) > grace } ?? true }
}
