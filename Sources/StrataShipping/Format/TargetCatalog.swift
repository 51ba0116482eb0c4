package import Foundation
package import StrataModel

/// The files of one lineage at a target, by their names.
package struct TargetCatalog: Sendable {
    /// A snapshot whose manifest is there.
    package struct Snapshot: Sendable, Hashable {
        package let name: SnapshotName
        /// The name of the manifest.
        package let manifest: String
        package let date: Date?
    }

    package let lineage: UUID
    /// In the order of the log: by first, then by last transaction.
    package private(set) var segments: [SegmentName] = []
    /// Oldest first.
    package private(set) var snapshots: [Snapshot] = []
    /// Also those whose manifest is not there, because the shipper has not come to it, or was killed.
    private(set) var begunSnapshots: Set<SnapshotName> = []
    /// Sizes of segments by name, in bytes.
    package private(set) var sizes: [SegmentName: Int] = [:]

    /// The bytes of the newest snapshot's parts.
    package private(set) var newestSnapshotSize = 0

    package init(lineage: UUID) { self.lineage = lineage }

    /// Lists a target.
    ///
    /// - Complexity: a listing of all segments and parts of snapshots of the lineage.
    package static func list(_ target: some ShippingTarget, _ lineage: UUID) throws -> TargetCatalog {
        var catalog = TargetCatalog(lineage: lineage)
        catalog.add(try target.entries(under: TargetName.log(of: lineage), after: nil))
        var partSizes: [SnapshotName: Int] = [:]
        for entry in try target.entries(under: TargetName.snapshots(of: lineage), after: nil) {
            guard let name = SnapshotName(entry.name) else { continue }
            catalog.begunSnapshots.insert(name)
            guard entry.name.hasSuffix(SnapshotName.manifestSuffix) else {
                partSizes[name, default: 0] += entry.sizeInBytes
                continue
            }
            catalog.snapshots.append(Snapshot(name: name, manifest: entry.name, date: entry.date))
        }
        catalog.snapshots.sort { ($0.name.last, $0.manifest) < ($1.name.last, $1.manifest) }
        catalog.newestSnapshotSize = catalog.snapshots.last.flatMap { partSizes[$0.name] } ?? 0
        return catalog
    }

    /// Adds segments that were written since the catalog was made.
    package mutating func relist(_ target: some ShippingTarget) throws {
        add(try target.entries(under: TargetName.log(of: lineage), after: nil))
    }

    /// Adds segments that were written since the catalog was made and begin after a transaction.
    package mutating func relist(_ target: some ShippingTarget, after transaction: TransactionNumber) throws {
        let prefix = TargetName.log(of: lineage)
        // "~" comes after every character of a name.
        add(try target.entries(under: prefix, after: prefix + TargetName.number(transaction) + "~"))
    }

    /// Whether a segment has the transaction after one.
    package func candidateExists(after transaction: TransactionNumber) -> Bool {
        segments.contains { $0.first.rawValue <= transaction.rawValue + 1 && $0.last > transaction }
    }

    /// Whether there is a snapshot of the state after a transaction, or a later one.
    func hasSnapshot(after transaction: UInt64) -> Bool { snapshots.contains { $0.name.last.rawValue >= transaction } }

    /// Bytes of segments that end after the newest snapshot.
    package var bytesAfterNewestSnapshot: Int {
        let newest = snapshots.last?.name.last ?? .zero
        return segments.reduce(0) { $1.last > newest ? $0 + (sizes[$1] ?? 0) : $0 }
    }

    /// The lineages that a target has, sorted by their ids.
    package static func lineages(_ target: some ShippingTarget) throws -> [UUID] {
        var found: Set<UUID> = []
        for prefix in [TargetName.log, TargetName.snapshots] {
            for entry in try target.entries(under: prefix, after: nil) {
                if let lineage = TargetName.lineage(entry.name, under: prefix) { found.insert(lineage) }
            }
        }
        return found.sorted { $0.uuidString < $1.uuidString }
    }

    /// Adds files of the log, in the order of their names.
    package mutating func add(_ entries: [TargetEntry]) {
        for entry in entries {
            guard let name = SegmentName(entry.name), name.lineage == lineage, sizes[name] == nil else { continue }
            segments.append(name)
            sizes[name] = entry.sizeInBytes
        }
        segments.sort { ($0.first, $0.last, $0.digest) < ($1.first, $1.last, $1.digest) }
    }

    /// The last transaction that the target has.
    package var end: TransactionNumber {
        max(segments.map(\.last).max() ?? .zero, snapshots.map(\.name.last).max() ?? .zero)
    }

    /// The first transaction after which everything is there, up to `end`, but for `gaps`: zero, or that of the oldest
    /// snapshot once older segments were removed.
    package var start: TransactionNumber {
        if segments.contains(where: { $0.first.rawValue == 1 }) { return .zero }
        return snapshots.first?.name.last ?? .zero
    }

    /// Transactions that no segment has, between `start` and a transaction.
    package func gaps(through last: TransactionNumber) -> [ClosedRange<UInt64>] {
        var gaps: [ClosedRange<UInt64>] = []
        var reached = start.rawValue
        for segment in segments where segment.last.rawValue > reached {
            if segment.first.rawValue > reached + 1 { gaps.append(reached + 1...segment.first.rawValue - 1) }
            reached = segment.last.rawValue
        }
        if reached < last.rawValue { gaps.append(reached + 1...last.rawValue) }
        return gaps.compactMap { gap in
            gap.lowerBound > last.rawValue ? nil : gap.lowerBound...min(gap.upperBound, last.rawValue)
        }
    }
}
