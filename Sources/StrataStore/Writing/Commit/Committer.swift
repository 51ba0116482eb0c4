// Commits saves in groups (`Committer`).

import Foundation
import LMDB
import Locking
import Logging
import StrataModel

/// The refusal of a save that has written something, as by a declared view that cannot follow it: nothing of its
/// transaction may be committed.
private struct LateRefusal: Error {
    let cause: StrataError
}

/// Commits saves: checks each at the head, applies it, and commits the group with one sync.
///
/// **The layer Writing** turns change sets into commits. `ChangeSet` is what contexts hand over; `Batch` resolves
/// upserts and plans deletions; `Check` checks a save at the head, derives attributes and encodes events; `Projector`
/// makes views of events; `Commit` orders the writers, appends to the log and commits. `WriterThread` and `Committer`
/// are its entry for saves; `LogWriter`, `Projector` and `EventList` serve migrations, rebuilds and copies, too.
///
/// Not Sendable: after `init` only the writing thread uses it (`WriterThread`).
final class Committer {
    private let file: StoreFile
    private let blobs: BlobStore
    /// Samples drawn since the last save are written with the next.
    private let statistics: StatisticsCache
    private var projector: Projector
    /// Whether the last save has filled a buffer beyond its limit.
    private var isFoldDue = false
    /// Whether moving entries has failed and waits for the next save.
    private var isFoldPutOff = false
    /// At least the number of events that have records of their own and were not looked at for blocks; nil if that is
    /// not known.
    private var eventsApart: Int?
    /// Whether enough of them can go into blocks.
    private var isPackingDue = false
    /// Whether the last commit had one save. Then it is likely that none joins the next one.
    private var wasAlone = true
    /// A save that would touch more pages than this is refused before its first write (rule 11 of CONTRIBUTING.md).
    static let dirtyPageLimit = 64_000

    init(_ file: StoreFile, _ blobs: BlobStore, _ statistics: StatisticsCache) {
        self.file = file
        self.blobs = blobs
        self.statistics = statistics
        projector = Projector(tables: file.tables, histories: file.histories, tracking: .independent)
        projector.batch.removesWhatStands = true
    }

    /// Runs all waiting jobs, and commits the saves among them as one group with those that join meanwhile.
    ///
    /// - Parameter joining: returns further saves for the same commit; empty if there are none.
    /// - Returns: the answer for each job, then for the saves that joined.
    func commit(_ group: [Submission], joining: () -> [Submission]) -> [Submission.Answer] {
        // `WriterThread` itself gives turns.
        var answers = [Submission.Answer](repeating: .success(nil), count: group.count)
        var saveIndices: [Int] = []
        for (index, submission) in group.enumerated() {
            switch submission.job {
            case .save: saveIndices.append(index)
            case .run(let job): answers[index] = Result { try job() }.map { nil }
            case .turn: break
            }
        }
        guard !saveIndices.isEmpty else { return answers }
        let outcomes = commit(saveIndices.compactMap { group[$0].changes }) { joining().compactMap(\.changes) }
        for (index, outcome) in zip(saveIndices, outcomes) { answers[index] = outcome }
        return answers + outcomes.dropFirst(saveIndices.count)
    }

    private func commit(_ saves: [ChangeSet], joining: () -> [ChangeSet] = { [] }) -> [Submission.Answer] {
        var saves = saves
        do {
            return try write(&saves, joining)
        } catch {
            // Nothing of the group is on disk. Each save is tried alone, so that one failure does not affect the
            // others.
            guard saves.count > 1 else {
                return [.failure(file.publicError((error as? LateRefusal)?.cause ?? error, during: "save"))]
            }
            return saves.flatMap { commit([$0]) }
        }
    }

    /// Writes the group, and those that join it, in one transaction.
    ///
    /// - Returns: the outcome of each; a refused save has written nothing.
    /// - Throws: if the transaction as a whole failed and nothing is on disk.
    private func write(_ group: inout [ChangeSet], _ joining: () -> [ChangeSet]) throws -> [Submission.Answer] {
        try foldBuffers()
        var results: [Submission.Answer] = []
        do {
            var applied: ContinuousClock.Instant?
            var timed: WriteTransaction?
            try file.writeThroughGate { transaction in
                results = try apply(&group, joining, transaction)
                try statistics.save(transaction, file.tables)
                isFoldDue = try BufferFold.isDue(file.tables, transaction)
                if group.contains(where: { $0.submitted != nil }) {
                    transaction.isTimed = true
                    (timed, applied) = (transaction, .now)
                }
            }
            if let applied { results = results.map { $0.timed(since: applied, timed?.syncing) } }
        } catch let error as LMDBError where error.code == .outcomeUnknown {
            results = settle(group, results, error)
        } catch let error as LMDBError where error.code == .panic {
            // Another commit failed half way; nothing of this group was begun.
            try file.environment.reopenIfBroken()
            do {
                try file.writeThroughGate { transaction in
                    results = try apply(group, transaction)
                }
            } catch let error as LMDBError where error.code == .outcomeUnknown {
                results = settle(group, results, error)
            }
        }
        return results
    }

    /// Whether there is work to do between saves.
    var isTidyingDue: Bool { (isFoldDue || isPackingDue) && !isFoldPutOff }

    /// Does a part of that work, in one commit.
    func tidy() {
        do {
            if isFoldDue { try foldSome() } else { try packSome() }
        } catch {
            // The next save tries again, and reports the failure.
            isFoldPutOff = true
            StoreLogger.shared.warning("entries could not be moved on in \(file.path): \(error)")
        }
    }

    /// Moves the entries that could not be moved since the last save.
    ///
    /// If it is unknown whether that commit is on disk the save still goes on: readers see the same state either way.
    private func foldBuffers() throws {
        isFoldPutOff = false
        do {
            while isFoldDue { try foldSome() }
        } catch let error as LMDBError where error.code == .outcomeUnknown || error.code == .panic {
            StoreLogger.shared.warning("entries may not have been moved on in \(file.path): \(error)")
        }
    }

    /// Moves entries of overfull buffers to their tables; the views stay the same.
    private func foldSome() throws {
        let tables = file.tables
        isFoldDue = try file.write { transaction in
            // Readers see the same state either way.
            transaction.mayBeLost = true
            try BufferFold.run(tables, transaction)
            return try BufferFold.isDue(tables, transaction)
        }
    }

    /// Moves events behind the newest ones into blocks; the log has the same events.
    private func packSome() throws {
        let (tables, limits) = (file.tables, file.tables.packing)
        isPackingDue = false
        eventsApart = try file.write { transaction in
            transaction.mayBeLost = true
            let head = try file.readHead(transaction)
            let end = try LogPacking(tables: tables, transaction: transaction).run(
                to: head.event, keeping: limits.newestApart, atMost: limits.eventsInOneCommit)
            return Int(clamping: head.event.rawValue - end)
        }
        isPackingDue = eventsApart ?? 0 >= limits.newestApart + limits.eventsInOneCommit
    }

    private func apply(_ group: [ChangeSet], _ transaction: WriteTransaction) throws -> [Submission.Answer] {
        var group = group
        return try apply(&group, { [] }, transaction)
    }

    /// Applies a group, and appends to `group` the saves that join it.
    private func apply(
        _ group: inout [ChangeSet], _ joining: () -> [ChangeSet], _ transaction: WriteTransaction
    ) throws -> [Submission.Answer] {
        projector.discard()
        var head = try file.readHead(transaction)
        var journal = JournaledSaves(file, after: head)
        projector.adopt(try file.histories(for: head, transaction))
        try projector.checkTables(transaction)
        try projector.noteBuildingViews(at: head.event, transaction)
        var results: [Submission.Answer] = []
        var isPublished = false
        while true {
            for changes in group[results.count...] {
                do {
                    let written = results.isEmpty ? LogWriter.Written.nothing : .something
                    let before = head
                    let outcome = try apply(changes, &head, transaction, written) { made, frame, write in
                        guard group.count == 1, wasAlone, made.isCertain else { return try write() }
                        if let gate = file.gate.withLock({ $0 }) {
                            isPublished = true
                            return try gate.publishEarly(try frame(), after: before, through: made.head, writing: write)
                        }
                        try journal.writeEarly(through: made.head, transaction, frame)
                        try write()
                    }
                    results.append(.success(outcome))
                } catch let refusal as StrataError where refusal.code != .corrupt {
                    // The check throws this before the first write.
                    results.append(.failure(refusal))
                }
            }
            // Those that join would keep the one that was published waiting.
            if !isPublished { group += joining() }
            guard group.count > results.count else { break }
        }
        try notePacking(head, transaction)
        wasAlone = results.count == 1
        try journal.finish(through: head, transaction)
        return results
    }

    private func notePacking(_ head: LogHead, _ transaction: WriteTransaction) throws {
        let limits = file.tables.packing
        let apart = try eventsApart ?? Int(clamping: head.event.rawValue - LogPacking.end(file.tables, transaction))
        eventsApart = apart
        isPackingDue = apart >= limits.newestApart + limits.eventsInOneCommit
    }

    /// Checks and applies one save; `head` moves past it. One that was prepared under an older model is made under the
    /// newest if that only has views more.
    private func apply(
        _ changes: ChangeSet, _ head: inout LogHead, _ transaction: WriteTransaction, _ written: LogWriter.Written,
        sealed: LogWriter.Sealed
    ) throws -> SaveOutcome {
        let version = changes.modelVersion
        guard let newest = projector.histories.newest, newest.version != version,
            try projector.histories.extends(version)
        else { return try applyUnderNewest(changes, &head, transaction, written, sealed: sealed) }
        return try applyUnderNewest(
            changes.rewritten(for: newest.version), &head, transaction, written, sealed: sealed
        ).rewritten(for: version)
    }

    private func applyUnderNewest(
        _ changes: ChangeSet, _ head: inout LogHead, _ transaction: WriteTransaction, _ written: LogWriter.Written,
        sealed: LogWriter.Sealed
    ) throws -> SaveOutcome {
        if let earlier = try file.transaction(id: changes.transactionID, transaction) {
            var known = receipt(earlier, previousHead: earlier.firstEvent.rawValue - 1)
            known.derived = nil
            return .saved(known)
        }
        guard let schema = projector.histories.newest else {
            throw StrataError(.invalidModel, "The store has no model.")
        }
        let begun = changes.submitted.map { _ in ContinuousClock.now }
        let snapshot = Snapshot(
            eventNumber: head.event, schema: schema, transaction: transaction, tables: file.tables,
            histories: projector.histories, layers: [])
        var changes = changes
        let upsert = try UpsertResolution.resolve(&changes, snapshot)
        let check = SaveCheck(changes, snapshot: snapshot, head: head, blobs: blobs)
        let number = TransactionNumber(rawValue: head.transaction.rawValue + 1)
        switch try check.run(number) {
        case .stale(let staleness): return .stale(staleness)
        case .events(let events, let touched, let derived):
            guard events.count > 0 else {
                var receipt = SaveReceipt(
                    transaction: head.transaction, eventNumber: head.event, previousHead: head.event,
                    date: Date(timeIntervalSince1970: Double(head.microseconds) / 1_000_000))
                receipt.upsert = upsert
                return .saved(receipt)
            }
            try refuseIfTooLarge(changes, events, snapshot)
            let description = TransactionDescription(
                id: changes.transactionID, author: changes.author, contextName: changes.contextName,
                metadata: changes.metadata, touched: touched)
            let record: TransactionRecord
            do {
                record = try LogWriter.append(
                    events, description, after: &head, file, transaction, &projector, written: written,
                    sealed: sealed)
            } catch let refusal as StrataError {
                throw LateRefusal(cause: refusal)
            }
            if record.eventCount < file.tables.packing.fewestInTransaction, let eventsApart {
                self.eventsApart = eventsApart + record.eventCount
            }
            var saved = receipt(record, previousHead: record.firstEvent.rawValue - 1)
            saved.upsert = upsert
            saved.derived = derived
            if let submitted = changes.submitted, let begun { saved.waiting = begun - submitted }
            return .saved(saved)
        }
    }

    private func receipt(_ record: TransactionRecord, previousHead: UInt64) -> SaveReceipt {
        SaveReceipt(
            transaction: record.number, eventNumber: record.lastEvent,
            previousHead: EventNumber(rawValue: previousHead), date: record.date)
    }

    private func refuseIfTooLarge(
        _ changes: ChangeSet, _ events: borrowing EventList, _ snapshot: Snapshot
    ) throws {
        let limit = Self.dirtyPageLimit
        guard let estimate = try WriteEstimate(changes, events, snapshot).pages(above: limit) else { return }
        throw StrataError(
            .saveTooLarge,
            "The save would touch about \(estimate) pages; the limit is \(limit). Save in smaller steps.")
    }

    /// Settles a commit whose meta page may or may not be on disk: reopens the file and runs the group again in one
    /// more durable commit. A save found in the log keeps its first result; the others are made. If that commit fails,
    /// too, every save of the group that was to be written is in doubt (rule 8 of CONTRIBUTING.md).
    private func settle(
        _ group: [ChangeSet], _ results: [Submission.Answer], _ cause: LMDBError
    ) -> [Submission.Answer] {
        do {
            StoreLogger.shared.warning("a commit failed while its head was written: \(cause)")
            try file.environment.reopenIfBroken()
            var settled: [Submission.Answer] = []
            try file.writeThroughGate { transaction in
                settled = try apply(group, transaction)
                // Written even if every save was found, so that there is something to commit.
                try file.writeHead(try file.readHead(transaction), transaction)
            }
            if file.options.durability != .full { try file.environment.sync() }
            return settled
        } catch {
            let doubt = StrataError(
                .inDoubt,
                "The commit failed while the file's head was written; whether the save is on disk is not known. "
                    + "Saving again finds out.",
                context: .init(path: file.path), cause: cause)
            return results.map { result in
                if case .success(.stale?) = result { return result }
                return result.flatMap { _ in .failure(doubt) }
            }
        }
    }
}

extension Result<SaveOutcome?, any Error> {
    /// The same with the time that the commit has taken, and its syncs.
    fileprivate func timed(since applied: ContinuousClock.Instant, _ syncing: Duration?) -> Self {
        guard case .success(.saved(var receipt)?) = self else { return self }
        receipt.committing = .now - applied
        receipt.syncing = syncing ?? .zero
        return .success(.saved(receipt))
    }
}
