import Foundation
import StrataModel
package import StrataStore

/// Ships the log of a store to a target: the transactions that the target does not have yet from this or other
/// shippers.
///
/// Each call of `ship` can end at any point: files appear whole, and the next call begins with a listing. Two shippers
/// of one store write files of the same content.
///
/// Not safe for several threads.
package final class LogShipper {
    let store: Store
    let target: any ShippingTarget
    let options: ShippingOptions
    /// Nil before the first listing, and after a failure.
    private var catalog: TargetCatalog?
    private var lastListing = ContinuousClock.now
    /// The interval at which the target is listed while a store is followed.
    private var listingInterval = Duration.zero
    /// Large values that this shipper has seen at the target.
    private var knownBlobs: Set<Data> = []
    private var erasures: TargetErasure
    private var lost: LostValues
    /// Whether the target was seen with the mark of this store: without it, it is away.
    private var isClaimed = false

    /// Bytes of transactions in one segment, unless a single transaction is larger.
    static let segmentSize = 16 << 20

    package init(_ store: Store, _ target: any ShippingTarget, _ options: ShippingOptions = ShippingOptions()) {
        self.store = store
        self.target = target
        self.options = options
        erasures = TargetErasure(store, target)
        lost = LostValues(store, target)
    }

    /// Ships everything up to the end of the log.
    ///
    /// - Parameter makesSnapshot: whether a snapshot is made even if none is due.
    /// - Throws: `divergedLog` if the target has transactions that are not this store's; `targetUnavailable`; `noSpace`
    ///   if the target is full; `invalidRequest` if it is in the store's own directory. What was shipped before stays
    ///   there.
    package func ship(makesSnapshot: Bool = false, progress: ProgressHandler? = nil) throws -> ShippingReport {
        do {
            return try shipAll(makesSnapshot, progress)
        } catch {
            forget()
            throw error
        }
    }

    /// Makes the next call look at the target again, which may be another one, or as it was earlier.
    func forget() {
        catalog = nil
        knownBlobs = []
        erasures = TargetErasure(store, target)
    }

    private var mark: TargetMark { TargetMark(identifier: store.identifier) }

    private func shipAll(_ makesSnapshot: Bool, _ progress: ProgressHandler?) throws -> ShippingReport {
        if catalog != nil { try mark.confirm(target) }
        let isBeginning = catalog == nil
        var catalog = try self.catalog ?? begin()
        let end = try store.logPosition()
        var report = ShippingReport(transaction: end.transaction, eventNumber: end.eventNumber)
        if isBeginning { try lost.look(&report) }
        var needsSnapshot = makesSnapshot
        for gap in catalog.gaps(through: end.transaction) {
            do {
                try ship(gap, end, &catalog, &report, progress)
            } catch let error as StrataError where error.code == .historyDropped {
                // The store has dropped these transactions. A snapshot has their results.
                needsSnapshot = needsSnapshot || !catalog.hasSnapshot(after: gap.upperBound)
            }
        }
        if report.segmentCount > 0, ContinuousClock.now - lastListing >= listingInterval {
            try catalog.relist(target)
            lastListing = .now
            try ShippedHistory(store, target, catalog).check()
        }
        if needsSnapshot || isSnapshotDue(catalog), end.transaction > .zero {
            try SnapshotUpload(store: store, target: target, progress: progress).run(&report, &lost)
            catalog = try TargetCatalog.list(target, end.lineage)
        }
        if let kept = options.keptSnapshots, Self.hasSurplus(catalog, kept) {
            let retention = TargetRetention(target: target, lineage: end.lineage, keptSnapshots: kept)
            report.removedCount += try retention.run()
            catalog = try TargetCatalog.list(target, end.lineage)
        }
        try merge(&catalog, end, &report)
        if try erasures.isDue() {
            try erasures.run(&report, &lost, progress)
            catalog = try TargetCatalog.list(target, end.lineage)
        }
        // Otherwise it was written to something else in its place.
        if report.byteCount > 0 { try mark.confirm(target) }
        self.catalog = catalog
        report.missingBlobCount = lost.count
        return report
    }

    /// Whether a target has more than the snapshots to keep and the log after the oldest of them.
    private static func hasSurplus(_ catalog: TargetCatalog, _ kept: Int) -> Bool {
        guard catalog.snapshots.count >= kept, let first = catalog.segments.first else { return false }
        let oldest = catalog.snapshots[catalog.snapshots.count - kept].name.last
        return catalog.snapshots.count > kept || first.last <= oldest
    }

    /// Has the target listed only now and then after it was written to: its first listing is complete.
    func listSeldom() { listingInterval = .seconds(10) }

    private func begin() throws -> TargetCatalog {
        if isClaimed {
            try mark.confirm(target)
        } else {
            if let directory = target as? DirectoryTarget { try store.refuseInside(directory.url) }
            try mark.claim(target)
            isClaimed = true
        }
        try target.removeLeftovers()
        let catalog = try TargetCatalog.list(target, store.lineage)
        try ShippedHistory(store, target, catalog).check()
        return catalog
    }

    private func isSnapshotDue(_ catalog: TargetCatalog) -> Bool {
        catalog.bytesAfterNewestSnapshot >= max(options.snapshotInterval, catalog.newestSnapshotSize)
    }

    // MARK: Segments

    private func ship(
        _ gap: ClosedRange<UInt64>, _ position: LogPosition, _ catalog: inout TargetCatalog,
        _ report: inout ShippingReport, _ progress: ProgressHandler?
    ) throws {
        var shipped = TransactionNumber(rawValue: gap.lowerBound - 1)
        let last = TransactionNumber(rawValue: gap.upperBound)
        var digest = try store.digest(of: shipped) ?? [UInt8](repeating: 0, count: 32)
        while shipped < last {
            let frames = try store.frames(after: shipped, through: last, limitInBytes: Self.segmentSize)
            guard let segment = Segment(frames, of: position, previousDigest: digest) else { return }
            for blob in frames.flatMap(\.blobDigests) { try ship(blob, &report) }
            try put(segment)
            catalog.add([TargetEntry(name: segment.name.text, sizeInBytes: segment.bytes.count)])
            (shipped, digest) = (segment.last, segment.digest)
            report.segmentCount += 1
            report.transactionCount += frames.count
            report.byteCount += segment.bytes.count
            progress?(
                StoreProgress(
                    phase: "shipping transactions", done: Int(shipped.rawValue),
                    total: Int(position.transaction.rawValue)))
        }
    }

    /// Makes larger segments of many small ones.
    private func merge(
        _ catalog: inout TargetCatalog, _ position: LogPosition, _ report: inout ShippingReport
    ) throws {
        let merging = SegmentMerging(target: target, position: position)
        let runs = merging.runs(of: catalog)
        guard !runs.isEmpty else { return }
        for run in runs {
            guard let merged = try merging.merge(run) else { continue }
            report.byteCount += merged.bytes.count
            report.removedCount += run.count
        }
        catalog = try TargetCatalog.list(target, position.lineage)
    }

    /// Writes a segment. If there is one of this name already, it stays if it is sound.
    private func put(_ segment: Segment) throws {
        let name = segment.name.text
        guard try target.write(segment.bytes, to: name) == .existed else { return }
        if let found = try target.read(name), Self.isSound(found, segment.name) { return }
        try target.remove(name)
        _ = try target.write(segment.bytes, to: name)
    }

    private static func isSound(_ data: Data, _ name: SegmentName) -> Bool {
        do {
            return try Segment(data).name == name
        } catch {
            return false
        }
    }

    private func ship(_ digest: Data, _ report: inout ShippingReport) throws {
        guard !knownBlobs.contains(digest) else { return }
        guard let data = store.blob(digest: digest) else {
            return try lost.note(digest)
        }
        if try target.write(data, to: TargetName.blob(digest)) == .written {
            report.blobCount += 1
            report.byteCount += data.count
        }
        knownBlobs.insert(digest)
    }
}

/// Compares the files of a lineage at a target with the store's own log.
struct ShippedHistory {
    private let store: Store
    private let target: any ShippingTarget
    private let catalog: TargetCatalog

    init(_ store: Store, _ target: any ShippingTarget, _ catalog: TargetCatalog) {
        self.store = store
        self.target = target
        self.catalog = catalog
    }

    /// - Throws: `divergedLog` if a segment or snapshot ends with another transaction than the store's, or after its
    ///   last one.
    /// - Complexity: a look-up for each segment.
    func check() throws {
        let ends =
            catalog.segments.map { ($0.last, $0.digest) } + catalog.snapshots.map { ($0.name.last, $0.name.digest) }
        // Read after the listing: another shipper can only have shipped transactions that were committed before.
        let head = try store.logPosition()
        for (last, digest) in ends {
            guard last <= head.transaction else {
                throw StrataError(
                    .divergedLog,
                    "The target has transaction \(last) of this store, which itself ends with \(head.transaction). "
                        + "It may have lost saves, or be an old copy: restore from the target, or ship to another one.",
                    context: .init(path: target.label))
            }
            // Nil if the store has let the transaction go.
            guard let own = try store.transaction(last), TargetName.short(own.digest) != digest else { continue }
            throw StrataError(
                .divergedLog,
                "Transaction \(last) at the target is another one than in this store, although they share a lineage: "
                    + "one of them is a copy that was changed. Ship this store to another target.",
                context: .init(eventNumber: own.firstEvent, path: target.label))
        }
    }
}
