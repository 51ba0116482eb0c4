import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Takes values that were erased from a store out of the files of a target, too.
///
/// Segments with such values are written again, from the store's own log, where the values are gone. Then a new snapshot
/// takes the place of those from before the erasure, and large values that nothing names any more are removed. A mark
/// at the target says up to which erasure that was done. Work that was interrupted is done again.
///
/// The target may have logs of other lineages, from before the store was restored. They lose the values, too.
final class TargetErasure {
    private let store: Store
    private let target: any ShippingTarget
    /// The last event up to which erasures are made at the target; nil before the target was looked at.
    private var done: EventNumber?

    init(_ store: Store, _ target: any ShippingTarget) {
        self.store = store
        self.target = target
    }

    /// Whether the store records an erasure that was not made at the target.
    func isDue() throws -> Bool {
        guard let newest = try newest() else { return false }
        if done == nil {
            let lineage = store.lineage
            done =
                try target.entries(under: TargetName.erased(from: lineage), after: nil)
                .compactMap { TargetName.erasedEvent($0.name, of: lineage) }.max() ?? .zero
        }
        return newest > done ?? .zero
    }

    private func newest() throws -> EventNumber? { try store.erasures().map(\.eventNumber).max() }

    /// - Complexity: a scan of the log's events, a snapshot, and the segments with erased values.
    func run(
        _ report: inout ShippingReport, _ lost: inout LostValues, _ progress: ProgressHandler?
    ) throws {
        guard let newest = try newest() else { return }
        let lineage = store.lineage
        let others = try TargetCatalog.lineages(target).filter { $0 != lineage }
        if let directory = target as? DirectoryTarget {
            // Files whose writer was killed while it wrote them may have the values.
            let folders = ([lineage] + others).flatMap { [TargetName.log(of: $0), TargetName.snapshots(of: $0)] }
            for prefix in folders + [TargetName.blobs] { try directory.removeLeftovers(under: prefix, before: Date()) }
        }
        for other in others { try erase(from: other, &report, &lost, progress) }
        var catalog = try TargetCatalog.list(target, lineage)
        // No snapshot from before the erasure stays, so there is one from after it first.
        let last = try store.transaction(containing: newest)?.number ?? store.baseline()?.transaction ?? .zero
        if (catalog.snapshots.last?.name.last ?? .zero) < last {
            try SnapshotUpload(store: store, target: target, progress: progress).run(&report, &lost)
            catalog = try TargetCatalog.list(target, lineage)
        }
        let inCopies = try rewrite(catalog, &report, progress)
        let retention = TargetRetention(target: target, lineage: lineage, keptSnapshots: 1)
        for name in catalog.begunSnapshots where name.last < last {
            report.removedCount += try retention.remove(name)
        }
        let own = Set(try store.blobDigests().map(TargetName.blob))
        report.removedCount += try retention.removeBlobs { !own.contains($0.name) }
        try put(ErasedMark(records: inCopies), from: lineage, through: newest)
        done = newest
    }

    /// Puts a mark at the target, when removed values cannot come back.
    private func put(_ mark: ErasedMark, from lineage: UUID, through last: EventNumber) throws {
        try (target as? DirectoryTarget)?.synchronizeFolders()
        try target.replace(TargetName.erased(from: lineage, through: last), with: mark.encoded())
    }

    /// Takes the values out of the log of another lineage: as the store has done, in a copy that is restored from there.
    private func erase(
        from lineage: UUID, _ report: inout ShippingReport, _ lost: inout LostValues, _ progress: ProgressHandler?
    ) throws {
        let catalog = try TargetCatalog.list(target, lineage)
        let isWhole = catalog.start == .zero && catalog.gaps(through: catalog.end).isEmpty
        let ids = Set(try store.erasures().map(\.transactionID))
        // The first state without the values; snapshots from before it have them.
        var clean = TransactionNumber.zero
        var ownErasure = EventNumber.zero
        var isConcerned = true
        var (made, older): ([ErasureRecord], [SegmentName]) = ([], catalog.segments)
        do {
            try withErasedCopy(of: catalog, through: catalog.end, progress) { copy in
                let recorded = try copy.erasures()
                let end = try copy.logPosition().transaction
                let known = recorded.filter { ids.contains($0.transactionID) }.map(\.eventNumber).max()
                isConcerned = end > catalog.end || known != nil
                guard isConcerned else { return }
                // If the copy made no erasure, the log of the lineage had them already.
                let first = try known.flatMap { try copy.transaction(containing: $0)?.number }
                clean = end > catalog.end ? end : try first ?? copy.baseline()?.transaction ?? .zero
                let last = try copy.transaction(catalog.end)?.lastEvent ?? .zero
                ownErasure = recorded.map(\.eventNumber).filter { $0 <= last }.max() ?? .zero
                older = try rewrite(older, from: copy, &report, &made)
                // If the segments have no beginning, a snapshot of the log as it is now replaces the earlier ones.
                if !isWhole, !catalog.hasSnapshot(after: clean.rawValue) {
                    try SnapshotUpload(store: copy, target: target, progress: progress).run(&report, &lost)
                }
            }
        } catch let error as StrataError where [.targetIncomplete, .historyDropped].contains(error.code) {
            // The part of it that can be restored loses the values, the rest is removed.
            clean = .init(rawValue: .max)
        }
        guard isConcerned else { return }
        made += try rewriteOlder(older, catalog, &report, progress)
        let retention = TargetRetention(target: target, lineage: lineage, keptSnapshots: 1)
        for name in catalog.begunSnapshots where name.last < clean {
            report.removedCount += try retention.remove(name)
        }
        let known = try ErasedMark.records(at: target, of: lineage)
        let more = made.filter { !known.contains($0) }
        guard !more.isEmpty else { return }
        try put(ErasedMark(records: known + more), from: lineage, through: ownErasure)
    }

    /// Calls `body` with a store restored from the target, in which the erasures are made.
    private func withErasedCopy(
        of catalog: TargetCatalog, through last: TransactionNumber, _ progress: ProgressHandler?,
        _ body: (Store) throws -> Void
    ) throws {
        let restore = try TargetRestore(target, lineage: catalog.lineage, progress: progress)
        try store.withFolder("erasure") { folder in
            try restore.withErasedCopy(through: last, try store.erasures(), in: folder, body)
        }
    }

    /// Writes the segments again that a restored store has.
    ///
    /// - Returns: the other ones.
    private func rewrite(
        _ names: [SegmentName], from copy: Store, _ report: inout ShippingReport, _ made: inout [ErasureRecord]
    ) throws -> [SegmentName] {
        made += try copy.erasures().map(\.record).filter { !$0.transactions.isEmpty }
        let first = (try copy.baseline()?.transaction ?? .zero).rawValue + 1
        for name in names where name.first.rawValue >= first { try rewrite(name, from: copy, &report) }
        return names.filter { $0.first.rawValue < first }
    }

    /// - Returns: the erasures as they were made in copies.
    private func rewrite(
        _ catalog: TargetCatalog, _ report: inout ShippingReport,
        _ progress: ProgressHandler?
    ) throws -> [ErasureRecord] {
        let first = (try store.baseline()?.transaction ?? .zero).rawValue + 1
        let erased = try store.erasedTransactions()
        var older: [SegmentName] = []
        for name in catalog.segments {
            if name.first.rawValue < first {
                older.append(name)
            } else if erased.contains(where: { (name.first...name.last).contains($0) }) {
                do {
                    try rewrite(name, from: store, &report)
                } catch let error as StrataError where error.code == .historyDropped {
                    // The store has thinned it.
                    older.append(name)
                }
            }
        }
        return try rewriteOlder(older, catalog, &report, progress)
    }

    /// Writes segments again that the store has truncated or thinned: from a store that is restored from the target, in which the
    /// erasures are made.
    private func rewriteOlder(
        _ names: [SegmentName], _ catalog: TargetCatalog, _ report: inout ShippingReport, _ progress: ProgressHandler?
    ) throws -> [ErasureRecord] {
        var left = names
        var made: [ErasureRecord] = []
        while let last = left.map(\.last).max() {
            var rest = left.filter { $0.last < last }
            do {
                try withErasedCopy(of: catalog, through: last, progress) { copy in
                    rest = try rewrite(left, from: copy, &report, &made).filter { $0.last < last }
                }
            } catch let error as StrataError where [.targetIncomplete, .historyDropped].contains(error.code) {
                // Nothing can be restored from these segments.
                for name in left where name.last == last { try target.remove(name.text) }
            }
            left = rest
        }
        return made
    }

    private func rewrite(_ name: SegmentName, from source: Store, _ report: inout ShippingReport) throws {
        let before = TransactionNumber(rawValue: name.first.rawValue - 1)
        var frames: [LogFrame] = []
        while (frames.last?.record.number ?? before) < name.last {
            frames += try source.frames(
                after: frames.last?.record.number ?? before, through: name.last,
                limitInBytes: LogShipper.segmentSize)
        }
        let digest = try source.digest(of: before)
        let position = try source.logPosition()
        guard
            let segment = Segment(
                frames, of: position, previousDigest: digest ?? [UInt8](repeating: 0, count: 32)),
            segment.name == name, try target.read(name.text) != segment.bytes
        else { return }
        try target.replace(name.text, with: segment.bytes)
        report.rewrittenCount += 1
        report.byteCount += segment.bytes.count
    }
}
