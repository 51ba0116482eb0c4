package import Foundation
package import StrataModel
package import StrataStore

/// Reads the log at a target in order, from the segments that have it: where several overlap, from the longest that is
/// sound.
package struct SegmentWalk {
    private let target: any ShippingTarget
    private var catalog: TargetCatalog
    /// The next segment to look at, in the order of first transactions.
    private var index = 0
    /// Segments that begin before the next transaction and may have it.
    private var candidates: [SegmentName] = []
    private var next: UInt64
    /// Whether a listed segment was gone, as it is after others were merged with it.
    private var isOutdated = false
    /// Segments that were passed over, with the reason.
    package private(set) var damaged: [String] = []

    package init(_ target: any ShippingTarget, _ catalog: TargetCatalog, after start: TransactionNumber) {
        self.target = target
        self.catalog = catalog
        next = start.rawValue + 1
    }

    /// The next segment, which has the transaction after the last one returned and may begin before it; nil at the end.
    ///
    /// - Throws: `targetIncomplete` if the transaction is in no sound segment although later ones are there.
    package mutating func nextSegment() throws -> Segment? {
        if let segment = try soundSegment() { return segment }
        if isOutdated {
            catalog = try TargetCatalog.list(target, catalog.lineage)
            (index, candidates, isOutdated) = (0, [], false)
            if let segment = try soundSegment() { return segment }
        }
        guard catalog.segments.contains(where: { $0.last.rawValue >= next }) || catalog.hasSnapshot(after: next) else {
            return nil
        }
        throw missing()
    }

    private mutating func soundSegment() throws -> Segment? {
        collect()
        for name in candidates.sorted(by: { $0.last > $1.last }) {
            guard let segment = try sound(name) else { continue }
            next = segment.last.rawValue + 1
            return segment
        }
        return nil
    }

    private mutating func collect() {
        while index < catalog.segments.count, catalog.segments[index].first.rawValue <= next {
            candidates.append(catalog.segments[index])
            index += 1
        }
        let next = next
        candidates.removeAll { $0.last.rawValue < next }
    }

    private mutating func sound(_ name: SegmentName) throws -> Segment? {
        guard let data = try target.read(name.text) else {
            isOutdated = true
            return nil
        }
        do {
            let segment = try Segment(data)
            guard segment.name == name else { throw CorruptRecord("segment under another name", at: 0) }
            return segment
        } catch let error as CorruptRecord {
            let note = "\(name.text): \(error.reason)"
            if !damaged.contains(note) { damaged.append(note) }
            return nil
        }
    }

    private func missing() -> StrataError {
        let after = catalog.segments.map(\.first.rawValue).filter { $0 > next }.min()
        let range = after.map { $0 == next + 1 ? "Transaction \(next) is" : "Transactions \(next) to \($0 - 1) are" }
        let here = range ?? "Transaction \(next) is"
        // A snapshot is made if the store no longer has transactions that were to be shipped.
        if damaged.isEmpty, let later = catalog.snapshots.map(\.name.last.rawValue).filter({ $0 >= next }).min() {
            return StrataError(
                .targetIncomplete,
                "\(here) missing at the target. If the history was truncated before it was shipped, what can be restored is "
                    + "everything up to transaction \(next - 1) (t\(next - 1)), and from transaction \(later) (t\(later)) on; "
                    + "a standby has to be removed and made anew. If not, ship the store again.",
                context: .init(path: target.label))
        }
        return StrataError(
            .targetIncomplete,
            "\(here) missing at the target. "
                + (damaged.isEmpty ? "Ship" : "Remove the damaged files there and ship") + " the store again"
                + (next == 1 ? "." : ", or restore to transaction \(next - 1) (t\(next - 1))."),
            context: .init(path: target.label), details: damaged.map { StrataError(.corrupt, $0) })
    }
}

/// The log at a target as transactions.
package struct TargetLog {
    package let target: any ShippingTarget
    package let catalog: TargetCatalog
    /// Bytes of transactions that are handed over together.
    private static let batchSize = 16 << 20

    package init(_ target: any ShippingTarget, _ catalog: TargetCatalog) {
        self.target = target
        self.catalog = catalog
    }

    /// Calls `body` with the transactions after `start` up to a goal, in order, some at a time, and with the segment that
    /// they are from.
    ///
    /// - Returns: segments that were passed over, with the reason.
    @discardableResult
    package func read(
        after start: TransactionNumber, to goal: RestoreGoal, _ body: (Segment, [LogFrame]) throws -> Void
    ) throws -> [String] {
        var walk = SegmentWalk(target, catalog, after: start)
        var last = start
        var batch: [LogFrame] = []
        var size = 0
        var isAtEnd = false
        while !isAtEnd, let segment = try walk.nextSegment() {
            try segment.forEachFrame { frame in
                guard frame.record.number > last else { return true }
                guard goal.includes(frame.record) else {
                    isAtEnd = true
                    return false
                }
                last = frame.record.number
                batch.append(frame)
                size += frame.bytes.count
                isAtEnd = goal.isReached(by: frame.record)
                if size >= Self.batchSize {
                    try body(segment, batch)
                    (batch, size) = ([], 0)
                }
                return !isAtEnd
            }
            if !batch.isEmpty { try body(segment, batch) }
            (batch, size) = ([], 0)
        }
        return walk.damaged
    }

    /// A large value.
    ///
    /// - Returns: nil if it is missing or damaged.
    package func blob(_ digest: Data) throws -> Data? {
        guard let data = try target.read(TargetName.blob(digest)), BlobReference(of: data).digest == digest else {
            return nil
        }
        return data
    }
}
