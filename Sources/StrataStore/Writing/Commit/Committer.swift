import Foundation
import LMDB
import Logging
import StrataModel

/// Runs saves: checks each at the head, applies it, and commits the group with one sync.
///
/// Not Sendable: only who writes touches it, one thread at a time (`WriterThread`), but for `init`.
final class Committer {
    private let store: StoreCore
    private let blobs: BlobStore
    private var projector: Projector
    /// Whether the last save has left a buffer too large.
    private var isFoldDue = false
    /// Whether that shall wait for the next save, since moving entries on has failed.
    private var isFoldPutOff = false
    /// A write set over this many pages is refused before anything is put (STORE-RULES 11).
    static let dirtyPageLimit = 64_000

    init(_ store: StoreCore, _ blobs: BlobStore) {
        self.store = store
        self.blobs = blobs
        projector = Projector(tables: store.tables, histories: store.histories, tracking: .independent)
        projector.batch.removesWhatStands = true
    }

    /// Does everything that waits, and commits its saves as one group with those that join them meanwhile.
    ///
    /// - Parameter joining: takes further saves for the same commit; nothing when there are none.
    /// - Returns: what came of each, of those that joined at the end.
    func commit(_ group: [Submission], joining: () -> [Submission]) -> [Submission.Answer] {
        // A turn is given by the writer's thread, which has nothing to say of it.
        var answers = [Submission.Answer](repeating: .success(nil), count: group.count)
        var places: [Int] = []
        for (place, submission) in group.enumerated() {
            switch submission.job {
            case .save: places.append(place)
            case .run(let job): answers[place] = Result { try job() }.map { nil }
            case .turn: break
            }
        }
        guard !places.isEmpty else { return answers }
        let outcomes = commit(places.compactMap { group[$0].changes }) { joining().compactMap(\.changes) }
        for (place, outcome) in zip(places, outcomes) { answers[place] = outcome }
        return answers + outcomes.dropFirst(places.count)
    }

    private func commit(_ saves: [ChangeSet], joining: () -> [ChangeSet] = { [] }) -> [Submission.Answer] {
        var saves = saves
        do {
            return try write(&saves, joining)
        } catch {
            // Nothing of the group is on disk. Alone, each save meets only its own fate.
            guard saves.count > 1 else { return [.failure(store.publicError(error, during: "save"))] }
            return saves.flatMap { commit([$0]) }
        }
    }

    /// One write transaction for the group, and for those that join it.
    ///
    /// - Returns: the outcome of each; a save that is refused for its own sake has written nothing.
    /// - Throws: when the transaction as a whole failed and nothing is on disk.
    private func write(_ group: inout [ChangeSet], _ joining: () -> [ChangeSet]) throws -> [Submission.Answer] {
        try foldBuffers()
        var results: [Submission.Answer] = []
        do {
            try store.environment.write(timeout: store.options.writerLockTimeout) { transaction in
                results = try apply(&group, joining, transaction)
                try store.statistics.save(transaction, store.tables)
                isFoldDue = try BufferFold.isDue(store.tables, transaction)
            }
        } catch let error as LMDBError where error.code == .outcomeUnknown {
            results = settle(group, results, error)
        } catch let error as LMDBError where error.code == .panic {
            // Another commit failed half way; of this group nothing was begun.
            try store.environment.reopenIfBroken()
            do {
                try store.environment.write(timeout: store.options.writerLockTimeout) { transaction in
                    results = try apply(group, transaction)
                }
            } catch let error as LMDBError where error.code == .outcomeUnknown {
                results = settle(group, results, error)
            }
        }
        return results
    }

    /// Whether there is something to do between saves.
    var isTidyingDue: Bool { isFoldDue && !isFoldPutOff }

    /// Does a part of what would hold up the next save, in one commit.
    func tidy() {
        do {
            try foldSome()
        } catch {
            // The next save tries it again, and says why not.
            isFoldPutOff = true
            StoreLog.logger.warning("entries could not be moved on in \(store.path): \(error)")
        }
    }

    /// Moves on what there was no time for since the last save.
    ///
    /// Where nobody knows whether that is on disk, the save goes on: it is the same to whoever reads, and no save's doubt.
    private func foldBuffers() throws {
        isFoldPutOff = false
        do {
            while isFoldDue { try foldSome() }
        } catch let error as LMDBError where error.code == .outcomeUnknown || error.code == .panic {
            StoreLog.logger.warning("entries may not have been moved on in \(store.path): \(error)")
        }
    }

    /// Moves entries on where a save has made their buffers too large: the views are the same before and after.
    private func foldSome() throws {
        let tables = store.tables
        isFoldDue = try store.write { transaction in
            try BufferFold.run(tables, transaction)
            return try BufferFold.isDue(tables, transaction)
        }
    }

    private func apply(_ group: [ChangeSet], _ transaction: WriteTransaction) throws -> [Submission.Answer] {
        var group = group
        return try apply(&group, { [] }, transaction)
    }

    /// Applies a group and whoever joins it meanwhile, who is in `group` afterwards.
    private func apply(
        _ group: inout [ChangeSet], _ joining: () -> [ChangeSet], _ transaction: WriteTransaction
    ) throws -> [Submission.Answer] {
        projector.discard()
        var head = try store.readHead(transaction)
        projector.adopt(try store.histories(for: head, transaction))
        var results: [Submission.Answer] = []
        while true {
            for changes in group[results.count...] {
                do {
                    let written = results.isEmpty ? LogWriter.Written.nothing : .something
                    results.append(.success(try apply(changes, &head, transaction, written)))
                } catch let refusal as StrataError where refusal.code != .corrupt {
                    // Thrown by the check, before the first put.
                    results.append(.failure(refusal))
                }
            }
            group += joining()
            guard group.count > results.count else { return results }
        }
    }

    /// Checks and applies one save; `head` moves past it.
    private func apply(
        _ changes: ChangeSet, _ head: inout LogHead, _ transaction: WriteTransaction, _ written: LogWriter.Written
    ) throws -> SaveOutcome {
        if let earlier = try store.transaction(id: changes.transactionID, transaction) {
            var known = receipt(earlier, previousHead: earlier.firstEvent.rawValue - 1)
            known.derived = nil
            return .saved(known)
        }
        guard let schema = projector.histories.newest else {
            throw StrataError(.invalidModel, "The store has no model.")
        }
        let snapshot = Snapshot(
            eventNumber: head.event, schema: schema, transaction: transaction, tables: store.tables,
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
            let record = try LogWriter.append(
                events, description, after: &head, store, transaction, &projector, written: written)
            var saved = receipt(record, previousHead: record.firstEvent.rawValue - 1)
            saved.upsert = upsert
            saved.derived = derived
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

    /// The meta page may or may not be on disk: reopens, and runs the group again in one more durable commit, in which
    /// a save that is found keeps its first result and any other is made. Only when that commit succeeds is anything
    /// believed; otherwise every save of the group that was to be written is in doubt (STORE-RULES 8).
    private func settle(
        _ group: [ChangeSet], _ results: [Submission.Answer], _ cause: LMDBError
    ) -> [Submission.Answer] {
        do {
            StoreLog.logger.warning("a commit failed while its head was written: \(cause)")
            try store.environment.reopenIfBroken()
            var settled: [Submission.Answer] = []
            try store.environment.write(timeout: store.options.writerLockTimeout) { transaction in
                settled = try apply(group, transaction)
                // Also when every save was found, so that there is something to commit.
                try store.writeHead(try store.readHead(transaction), transaction)
            }
            if store.options.durability != .full { try store.environment.sync(.forced) }
            return settled
        } catch {
            let doubt = StrataError(
                .inDoubt,
                "The commit failed while the file's head was written; whether the save is on disk is not known. "
                    + "Saving again tells.",
                context: .init(path: store.path), cause: cause)
            return results.map { result in
                if case .success(.stale?) = result { return result }
                return result.flatMap { _ in .failure(doubt) }
            }
        }
    }
}
