import Foundation
import Locking
import LMDB
import Logging
package import StrataModel

/// A holder of history that a truncation was to drop.
package struct HistoryHold: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case tag, subscription, view, context
    }

    package let kind: Kind
    /// The name of the tag, subscription or view; empty for a context.
    package let name: String
    /// The oldest state that it needs.
    package let eventNumber: EventNumber
}

/// The result of a truncation, or of a planned one.
package struct TruncationReport: Sendable {
    /// The beginning of the kept history; nil if it is whole.
    package var baseline: LogBaseline?
    /// The moment that was asked for: the last event that may be dropped.
    package var wanted: EventNumber
    package var droppedTransactions: UInt64
    /// Events that were dropped, without those that stay for the state at the cut.
    package var droppedEvents: UInt64
    /// The holders that kept a part of the history, oldest first.
    package var holds: [HistoryHold]
    package var duration: Duration
}

/// Whether a truncation respects the holders of the history.
package enum TruncationForce: Sendable {
    /// It stops before the oldest moment that a tag, a subscription, a view or a context of this process needs.
    case none
    /// Tags of dropped moments are removed, consumers of the history and contexts get `historyDropped`, and views that
    /// have not caught up are rebuilt.
    case holds
}

extension MaintenanceNote {
    /// The key of the reason in the metadata of a transaction.
    package static let reasonKey = "strata.reason"
}

extension StoreFile {
    /// Notes in the header that the log begins with a baseline, so that versions that do not know baselines refuse the
    /// store.
    func noteBaseline(_ transaction: WriteTransaction) throws {
        try Self.changeHeader(tables, transaction) { $0.hasBaseline = true }
    }
}

extension Store {
    /// Keeps the history from being truncated beyond a state, in this process, as long as the pin is retained.
    package func pin(at eventNumber: EventNumber) -> StatePin { pins.add(eventNumber) }

    /// A pin at the end of the log.
    package func pinnedHead() throws -> StatePin { try pin(at: head) }

    /// A pin at the newest state that can be read through a model.
    package func pinnedState(through schema: Schema) throws -> StatePin {
        try pin { try newestState(through: schema) }
    }

    /// Whether the history after a state is no longer whole, so that the state cannot be read: another process has
    /// truncated it, or it was truncated by force.
    package func isDropped(_ eventNumber: EventNumber) throws -> Bool {
        try checkOpen()
        return try file.read { transaction, _, _ in
            guard let bytes = try StoreFile.meta("head", file.tables, transaction) else { return false }
            do throws(CorruptRecord) {
                return try eventNumber.advanced(by: 1) < LogHead.firstKeptEvent(bytes)
            } catch {
                throw StrataError.corrupt(error, "meta")
            }
        }
    }

    private func pin(at state: () throws -> EventNumber) rethrows -> StatePin {
        // No truncation that begins now goes beyond a state that is read later.
        let pin = pins.add(.zero)
        pin.move(to: try state())
        return pin
    }

    /// The holders of history up to an event, oldest first.
    package func holds(before eventNumber: EventNumber) throws -> [HistoryHold] {
        var holds: [HistoryHold] = []
        for (name, tagged) in try tags() where tagged < eventNumber {
            holds.append(HistoryHold(kind: .tag, name: name, eventNumber: tagged))
        }
        let first = try baseline()?.transaction ?? .zero
        let last = try lastTransaction(upTo: try head())
        for (name, seen) in try subscriptions() {
            // One that is behind the baseline already has nothing to lose.
            let position = try seen < first ? nil : self.eventNumber(of: min(seen, last))
            guard let position, position < eventNumber else { continue }
            holds.append(HistoryHold(kind: .subscription, name: name, eventNumber: position))
        }
        for (name, position) in try viewPositions() where position < eventNumber {
            holds.append(HistoryHold(kind: .view, name: name, eventNumber: position))
        }
        for standing in pins.all where standing < eventNumber {
            holds.append(HistoryHold(kind: .context, name: "", eventNumber: standing))
        }
        return holds.sorted { ($0.eventNumber, $0.name) < ($1.eventNumber, $1.name) }
    }

    /// Drops the history before a moment: events up to it go, except those that make the state at the moment.
    ///
    /// It goes in commits of bounded size, between which saves and reads go on. One that is interrupted has truncated
    /// less, and nothing else.
    ///
    /// - Parameters:
    ///   - eventNumber: the last event of a transaction; the state after it stays.
    ///   - goesOn: asked after each commit.
    /// - Throws: `readOnly`, `futureEvent`, `noSpace`, `persistentStoreTimeout`, `corrupt`.
    /// - Complexity: O(events that go), in memory O(events of one commit).
    package func truncateHistory(
        through eventNumber: EventNumber, force: TruncationForce = .none, _ note: MaintenanceNote,
        limits: TrimLimits = TrimLimits(), progress: ProgressHandler? = nil, while goesOn: () -> Bool = { true }
    ) throws -> TruncationReport {
        let clock = ContinuousClock()
        let start = clock.now
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        let before = try baseline()
        let plan = try planTruncation(through: eventNumber, force: force)
        var report = plan.report
        guard plan.target > .zero else { return report }
        if force == .holds { try removeTags(before: plan.end, note) }
        let first = before?.transaction.rawValue ?? 0
        var counter = ProgressCounter(
            "dropping transactions", total: Int(clamping: plan.target.rawValue - first), progress)
        var step = TrimStep(file: file, limits: limits, note: note)
        if waitingSaveCount == 0 { step.limits.eventsInOneCommit = limits.eventsInFirstCommit }
        var result = (baseline: before, isDone: false)
        var end = try head()
        while !result.isDone {
            // A reader may have come meanwhile.
            let target = try planTruncation(through: eventNumber, force: force).target
            guard target > .zero else { break }
            let (began, known) = (clock.now, result.baseline?.transaction.rawValue ?? first)
            result = try run(step, through: target)
            for _ in known..<max(known, result.baseline?.transaction.rawValue ?? 0) { counter.step() }
            guard goesOn() else { break }
            // A save that has waited may be committed by now, and no longer wait.
            let (seen, now) = (end, try head())
            end = now
            if !result.isDone {
                pause(after: clock.now - began, isAlone: now == seen && waitingSaveCount == 0, &step.limits, limits)
            }
        }
        if report.droppedTransactions > 0, blobs.hasFiles { sweepBlobsInBackground() }
        report.baseline = result.baseline
        report.droppedEvents = (result.baseline?.droppedCount ?? 0) - (before?.droppedCount ?? 0)
        report.droppedTransactions = (result.baseline?.transaction.rawValue ?? 0) - first
        report.duration = clock.now - start
        return report
    }

    /// The result that a truncation would have; writes nothing.
    ///
    /// - Complexity: O(events that go).
    package func truncationPlan(
        through eventNumber: EventNumber, force: TruncationForce = .none
    ) throws -> TruncationReport {
        let plan = try planTruncation(through: eventNumber, force: force)
        var report = plan.report
        guard plan.target > .zero else { return report }
        // For each object, pair and model that exists at the cut, one event stays.
        var kept = 0
        let first = (report.baseline?.event ?? .zero).advanced(by: 1)
        try readLog { log, _ in
            try log.events(from: first, through: plan.end) { event, _ in
                switch event.header.kind {
                case .inserted, .linked, .modelInstalled: kept += 1
                case .deleted, .unlinked: kept -= 1
                case .updated, .moved, .maintenance: break
                }
                return true
            }
        }
        report.droppedEvents = UInt64(max(0, Int(report.droppedEvents) - kept))
        return report
    }

    func planTruncation(
        through eventNumber: EventNumber, force: TruncationForce
    ) throws -> (report: TruncationReport, target: TransactionNumber, end: EventNumber) {
        let head = try head()
        guard eventNumber <= head else {
            throw StrataError(.futureEvent, "The log ends at \(head).", context: .init(eventNumber: eventNumber))
        }
        let known = try baseline()
        let holds = try holds(before: eventNumber)
        let end = force == .none ? min(eventNumber, holds.first?.eventNumber ?? eventNumber) : eventNumber
        var report = TruncationReport(
            baseline: known, wanted: eventNumber, droppedTransactions: 0, droppedEvents: 0, holds: holds,
            duration: .zero)
        // A moment within a transaction would cut it in two.
        guard end > known?.event ?? .zero, let record = try transaction(containing: end) else {
            return (report, .zero, end)
        }
        let last = record.lastEvent == end ? record.number : TransactionNumber(rawValue: record.number.rawValue - 1)
        let cut = record.lastEvent == end ? end : EventNumber(rawValue: record.firstEvent.rawValue - 1)
        guard last > known?.transaction ?? .zero else { return (report, .zero, end) }
        report.droppedTransactions = last.rawValue - (known?.transaction.rawValue ?? 0)
        report.droppedEvents = cut.rawValue - (known?.event.rawValue ?? 0)
        return (report, last, cut)
    }

    private func run(
        _ step: TrimStep, through target: TransactionNumber
    ) throws -> (baseline: LogBaseline?, isDone: Bool) {
        let result = Locked<(baseline: LogBaseline?, isDone: Bool)>((nil, true))
        do {
            try onWriter { [file] in
                let made = try file.write { try step.run(through: target, $0) }
                result.withLock { $0 = made }
            }
        } catch {
            throw file.publicError(error, during: "truncating the history")
        }
        return result.withLock { $0 }
    }

    /// Lets writers of this process and of others come in between, and chooses the size of the next commit.
    ///
    /// - Parameter isAlone: whether there was no other writer lately.
    func pause(
        after work: Duration, isAlone: Bool, _ limits: inout TrimLimits, _ least: TrimLimits
    ) {
        if !isAlone {
            limits.eventsInOneCommit = least.eventsInOneCommit
        } else if work < limits.longestCommit {
            limits.eventsInOneCommit = min(limits.eventsInOneCommit * 2, least.mostEventsInOneCommit)
        }
        Thread.sleep(forTimeInterval: min(work / .seconds(1) * (isAlone ? 0.05 : 2.5), 1))
    }

    private func removeTags(before end: EventNumber, _ note: MaintenanceNote) throws {
        for (name, tagged) in try tags().sorted(by: { $0.key < $1.key }) where tagged < end {
            var own = MaintenanceNote(author: note.author, metadata: note.metadata)
            own.metadata[MaintenanceNote.reasonKey] = note.metadata[MaintenanceNote.reasonKey] ?? "truncated"
            _ = try removeTag(name, own)
        }
    }
}
