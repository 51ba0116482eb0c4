// One commit of a truncation (`TrimStep`), and its limits.

import Foundation
import LMDB
import StrataModel

/// The most that a truncation does in one commit.
package struct TrimLimits: Sendable {
    /// While others save.
    package var eventsInOneCommit = 20_000
    /// In the first commit, if no save waits.
    package var eventsInFirstCommit = 80_000
    /// While no save waits: an object that changes all the time is written once in each commit.
    package var mostEventsInOneCommit = 640_000
    package var bytesInOneCommit = 256 << 20
    /// Commits that take longer do not grow: a save that comes meanwhile waits for the end of one.
    package var longestCommit = Duration.milliseconds(500)

    package init() {}

    /// - Parameter events: of every commit.
    package init(events: Int) {
        eventsInOneCommit = events
        eventsInFirstCommit = events
        mostEventsInOneCommit = events
    }
}

/// One commit of a truncation: moves the cut over some transactions. Before and after it the store is whole, so a
/// truncation that is interrupted has truncated less, and the next one goes on.
struct TrimStep {
    let file: StoreFile
    var limits: TrimLimits
    let note: MaintenanceNote

    private var tables: StoreTables { file.tables }

    /// - Parameter target: the last transaction to drop.
    /// - Returns: the baseline after the step, and whether the target is reached.
    func run(
        through target: TransactionNumber, _ transaction: WriteTransaction
    ) throws -> (baseline: LogBaseline?, isDone: Bool) {
        var head = try file.readHead(transaction)
        let known = try LogBaseline.read(transaction, tables)
        var baseline = known ?? .start
        let target = min(target, head.transaction)
        guard baseline.transaction < target else { return (known, true) }
        let histories = try file.histories(for: head, transaction)
        let log = LogReader(transaction, tables, histories)
        let hasBlobs = try transaction.count(tables.blobs) > 0
        var step = TrimStepEvents(tables, countsBlobs: hasBlobs)
        try step.read(after: baseline, through: target, limits, log)
        guard let last = step.last else { return (known, true) }
        let models = StepModels(histories, at: baseline.head.modelVersion, step.models)
        var change = try LogChange(step, baseline, log, models, hasBlobs: hasBlobs)
        try change.write(tables, transaction)
        baseline.sum = change.sum
        baseline.keptCount = change.keptCount
        baseline.droppedCount += UInt64(step.count) + known.map { $0.keptCount }.orZero - change.keptCount
        baseline.notes = change.notes
        baseline.head = LogHead(
            modelVersion: models.last, event: last.lastEvent, transaction: last.number,
            microseconds: last.microseconds, digest: last.digest, firstKeptEvent: last.lastEvent.advanced(by: 1))
        baseline.truncatedMicroseconds = Int64(file.options.clock().timeIntervalSince1970 * 1_000_000)
        baseline.author = note.author
        baseline.reason = note.metadata[MaintenanceNote.reasonKey]
        if !step.models.isEmpty {
            try ModelRemains(histories, at: histories.schema(models.last)).clear(tables, transaction)
        }
        try tables.clearViews(behind: last.lastEvent, histories, transaction)
        try baseline.write(transaction, tables)
        try file.noteBaseline(transaction)
        head.firstKeptEvent = baseline.head.firstKeptEvent
        try file.writeHead(head, transaction)
        return (baseline, baseline.transaction >= target)
    }
}

extension Optional<UInt64> {
    fileprivate var orZero: UInt64 { self ?? 0 }
}
