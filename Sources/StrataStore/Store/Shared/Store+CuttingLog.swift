import Foundation
import Locking
package import StrataModel

/// A holder of a part of a shared log that was to be cut off.
package struct SharedLogHold: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case store, subscription
    }

    package let kind: Kind
    /// The id and the machine of the store, or the name of the subscription.
    package let name: String
    /// The last transaction that it has.
    package let transaction: TransactionNumber
}

/// The result of cutting a shared log, or of a plan for it.
package struct SharedCutReport: Sendable {
    /// The last transaction that is gone; zero for a whole log.
    package var cut: TransactionNumber
    /// The last transaction that may go as far as the caller is concerned.
    package var wanted: TransactionNumber
    package var droppedTransactions: UInt64 = 0
    package var removedBlobs = 0
    /// The holders of a part of it, the oldest first.
    package var holds: [SharedLogHold] = []
    /// The size of the snapshot from which new stores begin; zero if none was made.
    package var snapshotSizeInBytes = 0
    package var duration = Duration.zero
}

extension Store {
    private static let droppedAtOnce = 1_000
    private static let subscriptionPrefix = "subscription "

    /// Cuts off the beginning of the shared log that every store with this log has, and puts a snapshot into the log
    /// from which new ones begin.
    ///
    /// In steps, between which saves go on: the snapshot, the cut, the transactions, the large values that nothing names
    /// any more. A run that is interrupted has done less, and the next one goes on.
    ///
    /// - Parameters:
    ///   - eventNumber: the last event that may go.
    ///   - forgotten: the ids of stores that are not waited for any more.
    ///   - isPlan: writes nothing.
    /// - Throws: `invalidRequest` for a store with its own log; `logUnavailable`, also without the right to maintain;
    ///   `persistentStoreTimeout` while an erasure is not finished; `noSpace`.
    package func cutSharedLog(
        through eventNumber: EventNumber, forgetting forgotten: [String] = [], isPlan: Bool = false,
        progress: ProgressHandler? = nil
    ) throws -> SharedCutReport {
        guard let node = node.withLock({ $0 }) else {
            throw StrataError(
                .invalidRequest, "The store has a log of its own: truncate its history.", context: .init(path: path))
        }
        let start = ContinuousClock.now
        if !isPlan { try node.checkMayRewrite() }
        try catchUp()
        do {
            try node.tellPosition()
            let beginning = try node.contact.ask { () throws(SharedLogFailure) in try node.log.upkeep.beginning() }
            var report = try plan(eventNumber, beginning.cut.transaction, forgetting: forgotten)
            let target = report.cut
            if isPlan { return report }
            if beginning.cut.transaction < target {
                try forget(forgotten)
                try cut(through: target, node, &report, progress)
            }
            try drop(node)
            report.duration = ContinuousClock.now - start
            return report
        } catch {
            throw file.publicError(error, during: "cutting the shared log")
        }
    }

    private func plan(
        _ eventNumber: EventNumber, _ known: TransactionNumber, forgetting forgotten: [String]
    ) throws -> SharedCutReport {
        let wanted = eventNumber > (try baseline()?.event ?? .zero) ? try lastTransaction(upTo: eventNumber) : .zero
        var report = SharedCutReport(cut: known, wanted: wanted)
        // Those that are behind the cut already have nothing to lose.
        report.holds = try holds(before: wanted).filter { hold in
            hold.transaction >= known && !forgotten.contains { hold.name.hasPrefix($0) }
        }
        report.cut = max(known, min(wanted, report.holds.first?.transaction ?? wanted))
        report.droppedTransactions = report.cut.rawValue - known.rawValue
        return report
    }

    /// Has the log no longer wait for stores that are named, and for those that were away for too long.
    private func forget(_ names: [String]) throws {
        for lease in try leases(startingWith: LogNode.positionPrefix) {
            let name = lease.name.dropFirst(LogNode.positionPrefix.count)
            guard lease.remaining <= .zero || names.contains(where: { name.hasPrefix($0) }) else { continue }
            _ = try removeLease(lease.name)
        }
    }

    /// Returns the holders of transactions of the log up to one, the oldest first.
    private func holds(before wanted: TransactionNumber) throws -> [SharedLogHold] {
        var holds: [SharedLogHold] = []
        for lease in try leases(startingWith: LogNode.positionPrefix) {
            if lease.remaining <= .zero { continue }
            holds.append(
                SharedLogHold(
                    kind: .store, name: String(lease.name.dropFirst(LogNode.positionPrefix.count)),
                    transaction: TransactionNumber(rawValue: lease.position ?? 0)))
        }
        for lease in try leases(startingWith: Self.subscriptionPrefix) {
            guard let position = lease.position else { continue }
            holds.append(
                SharedLogHold(
                    kind: .subscription, name: String(lease.name.dropFirst(Self.subscriptionPrefix.count)),
                    transaction: TransactionNumber(rawValue: position)))
        }
        return holds.filter { $0.transaction < wanted }
            .sorted { ($0.transaction, $0.name) < ($1.transaction, $1.name) }
    }

    private func cut(
        through target: TransactionNumber, _ node: LogNode, _ report: inout SharedCutReport,
        _ progress: ProgressHandler?
    ) throws {
        guard let last = try transaction(target) else {
            throw StrataError(.corrupt, "A transaction of the log is missing: \(target).", context: .init(path: path))
        }
        let end = SharedLogEnd(transaction: target, event: last.lastEvent, digest: last.digest)
        let made = try SnapshotMaking(node: node, progress: progress).publish(beginningAfter: target)
        report.snapshotSizeInBytes = made.snapshot.sizeInBytes
        try node.contact.ask { () throws(SharedLogFailure) in try node.log.upkeep.cut(through: end) }
        report.removedBlobs = try removeBlobs(but: made.blobs, from: made.snapshot.end.transaction, node)
    }

    private func drop(_ node: LogNode) throws {
        while true {
            let count = try node.contact.ask { () throws(SharedLogFailure) in
                try node.log.upkeep.dropCut(limit: Self.droppedAtOnce)
            }
            if count == 0 { return }
        }
    }

    /// Removes large values that neither the snapshot names nor a transaction after it.
    private func removeBlobs(but named: Set<Data>, from place: TransactionNumber, _ node: LogNode) throws -> Int {
        var (named, seen, removed) = (named, place, 0)
        var last: Data?
        while true {
            let after = last
            let digests = try node.contact.ask { () throws(SharedLogFailure) in
                try node.log.upkeep.blobDigests(after: after, limit: LogNode.digestsAtOnce)
            }
            guard let end = digests.last else { return removed }
            last = end
            for attempt in 1... {
                while let frames = try nonEmpty(frames(after: seen, limitInBytes: 8 << 20)), let newest = frames.last {
                    named.formUnion(frames.flatMap(\.blobDigests))
                    seen = newest.record.number
                }
                let (unnamed, place) = (digests.filter { !named.contains($0) }, seen)
                if unnamed.isEmpty { break }
                let isRemoved = try node.contact.ask { () throws(SharedLogFailure) in
                    try node.log.upkeep.remove(blobs: unnamed, at: place)
                }
                if isRemoved {
                    removed += unnamed.count
                    break
                }
                // Others save all the time: the rest is dropped with the next cut.
                if attempt == LogNode.mostAttempts { return removed }
                try node.catchUp()
            }
        }
    }

    private func nonEmpty(_ frames: [LogFrame]) -> [LogFrame]? { frames.isEmpty ? nil : frames }
}
