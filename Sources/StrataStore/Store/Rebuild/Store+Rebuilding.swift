import Locking
import Logging
import LMDB
import StrataModel

/// When a rebuild goes in several commits, and how large these are.
package struct RebuildLimits: Sendable {
    /// A log with more events, or more bytes, is not rebuilt in one commit.
    package var eventsInOneCommit = 200_000
    package var bytesInOneCommit = 64 << 20
    /// Bytes of views in each commit when there are several.
    package var stepInBytes = 128 << 20
    /// Bytes of views that are put in order of their keys together.
    package var batchInBytes = Replay.defaultFlushLimit

    package init(eventsInOneCommit: Int = 200_000, bytesInOneCommit: Int = 64 << 20, stepInBytes: Int = 128 << 20) {
        self.eventsInOneCommit = eventsInOneCommit
        self.bytesInOneCommit = bytesInOneCommit
        self.stepInBytes = stepInBytes
    }
}

extension Store {
    /// Drops every view and makes it again from the log, on the writer's thread; saves wait.
    ///
    /// The log is checked first: nothing is dropped when it is damaged. A short log is replayed in one transaction, so
    /// that readers see the old views until they see the new ones. A long one takes several, with a durable mark: until
    /// the last of them, reads, and saves by other processes, throw `persistentStoreTimeout`; after a crash the next
    /// opening for writing goes on where the mark stands.
    ///
    /// - Throws: `readOnly`, `corrupt` when the log is damaged, `noSpace`.
    package func rebuild(progress: ProgressHandler? = nil) throws -> RebuildReport {
        try rebuild(RebuildLimits(), progress: progress)
    }

    /// The same, cut into other steps.
    package func rebuild(_ limits: RebuildLimits, progress: ProgressHandler? = nil) throws -> RebuildReport {
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        return try runRebuild(limits, progress)
    }

    /// Finishes a rebuild that was cut short, before anything is read.
    func resumeRebuild(_ progress: ProgressHandler? = nil) throws {
        let isMarked = try core.environment.read { try core.rebuildMark($0) } != nil
        guard isMarked else { return }
        if isReadOnly {
            throw StrataError(
                .persistentStoreOpen,
                "A rebuild of the store's views was cut short; opening it for writing once finishes it.",
                context: .init(path: path))
        }
        StoreLog.logger.notice("finishing a rebuild of the views that was cut short")
        noteFinished(try runRebuild(RebuildLimits(), progress))
        // The models are views too: now they are all there.
        try core.read { _, _, _ in }
    }

    private func runRebuild(_ limits: RebuildLimits, _ progress: ProgressHandler?) throws -> RebuildReport {
        let result = Locked<RebuildReport?>(nil)
        try onWriter { [self] in
            do {
                let report = try Rebuild(core: core, blobs: blobs, limits: limits, progress: progress).run()
                result.withLock { $0 = report }
            } catch {
                throw try core.rebuildError(error)
            }
        }
        // Layers of the past were taken from rows that may have been damaged.
        lag.removeAll()
        guard let report = result.withLock({ $0 }) else {
            throw StrataError(.storeClosed, "The store is closed.", context: .init(path: path))
        }
        return report
    }
}

extension StoreCore {
    /// The mark of a rebuild under way, or cut short.
    func rebuildMark(_ transaction: ReadTransaction) throws -> RebuildMark? {
        guard let bytes = try Self.meta("head", tables, transaction) else { return nil }
        return try RebuildMark(bytes)
    }

    /// What a rebuild failed with; of one in several steps also how it left the store.
    fileprivate func rebuildError(_ error: any Error) throws -> any Error {
        let known = publicError(error, during: "rebuild")
        guard let failure = known as? StrataError, failure.code == .noSpace,
            let mark = try environment.read({ try rebuildMark($0) })
        else { return known }
        return StrataError(
            .noSpace,
            "The disk is full or failed while the views were made anew, and \(mark.applied) of \(mark.head.event) events "
                + "are done. Nothing is lost; the store can be read when it has been opened for writing with more room.",
            context: failure.context, cause: failure)
    }

    func writeMark(_ mark: RebuildMark, _ transaction: WriteTransaction) throws {
        try mark.encoded().withUnsafeBytes { value in
            try Self.withKey("head") { try transaction.put(tables.meta, $0, value) }
        }
    }
}

/// One rebuild, on the writer's thread.
struct Rebuild {
    let core: StoreCore
    let blobs: BlobStore
    let limits: RebuildLimits
    let progress: ProgressHandler?

    /// What one commit found and did.
    private struct Outcome {
        var head: LogHead
        var before: [TableDigest]?
        var after: [TableDigest]?
    }

    func run() throws -> RebuildReport {
        let clock = ContinuousClock()
        let start = clock.now
        var outcome = try begin()
        var replay: Replay?
        while outcome.after == nil {
            outcome.after = try step(&replay)
        }
        let before = Dictionary((outcome.before ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return RebuildReport(
            head: outcome.head.event, eventCount: Int(outcome.head.event.rawValue),
            transactionCount: Int(outcome.head.transaction.rawValue),
            tables: (outcome.after ?? []).map { .init(before: before[$0.name], after: $0) },
            duration: clock.now - start)
    }

    private func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try core.write(body)
    }

    /// The whole rebuild when it is small; else drops the views and leaves the mark. Either is given up when the log
    /// proves damaged.
    private func begin() throws -> Outcome {
        try write { transaction in
            if let mark = try core.rebuildMark(transaction) { return Outcome(head: mark.head) }
            let head = try core.readHead(transaction)
            return try isSmall(head, transaction) ? all(head, transaction) : drop(head, transaction)
        }
    }

    private func all(_ head: LogHead, _ transaction: WriteTransaction) throws -> Outcome {
        let survey = RebuildSurvey(of: .logAndViews, core, blobs, nil)
        let made = Result {
            for (_, table) in core.tables.viewTables { try table.clear(transaction) }
            let replay = Replay(after: .start, core.tables, flushLimit: limits.batchInBytes)
            try run(replay, head, limit: nil, transaction)
            return try TableDigest.all(core.tables, transaction)
        }
        // What is wrong with the log says more than what the replay made of it.
        let before = try survey.finish()
        return Outcome(head: head, before: before, after: try made.get())
    }

    private func drop(_ head: LogHead, _ transaction: WriteTransaction) throws -> Outcome {
        let survey = RebuildSurvey(of: .log, core, blobs, progress)
        let before = Result { try TableDigest.all(core.tables, transaction) }
        try survey.finish()
        try checkRoom()
        for (_, table) in core.tables.viewTables { try table.clear(transaction) }
        try core.writeMark(RebuildMark(head: head, applied: .zero), transaction)
        return Outcome(head: head, before: try before.get())
    }

    /// Until the last step the store cannot be read, so none is begun that the disk has no room for: the first cannot
    /// reuse what the old views had, and trees that are made anew differ a little.
    private func checkRoom() throws {
        let info = try core.environment.info()
        let pages = info.tables.filter { !["events", "transactions"].contains($0.key) }.values
            .reduce(0) { $0 + $1.branchPageCount + $1.leafPageCount + $1.overflowPageCount }
        let views = UInt64(pages * info.pageSizeInBytes)
        let needed = min(UInt64(limits.stepInBytes), views) + views / 8
        let reusable = UInt64(info.freePageCount * info.pageSizeInBytes)
        guard let free = core.environment.freeSpaceInBytes, free + reusable < needed else { return }
        throw StrataError(
            .noSpace,
            "A rebuild in several steps takes about \(needed - reusable) bytes of the disk, and \(free) are free; "
                + "nothing was changed.", context: .init(path: core.path))
    }

    private func isSmall(_ head: LogHead, _ transaction: WriteTransaction) throws -> Bool {
        let pages = try transaction.statistics(core.tables.events)
        return head.event.rawValue <= limits.eventsInOneCommit
            && (pages.leafPageCount + pages.overflowPageCount) * 4096 <= limits.bytesInOneCommit
    }

    /// One commit of many. Where it goes on is read from the store, so that two processes that both find the mark do each
    /// step once between them.
    ///
    /// - Parameter replay: of the step before, which has begun to collect for this one.
    /// - Returns: the digests when it was the last.
    private func step(_ replay: inout Replay?) throws -> [TableDigest]? {
        try write { transaction in
            guard let mark = try core.rebuildMark(transaction) else {
                return try TableDigest.all(core.tables, transaction)
            }
            let histories = try StoreCore.readModels(core.tables, transaction)
            let running = Replay.resume(
                &replay, after: .init(applied: mark.applied, histories: histories), core.tables,
                flushLimit: limits.batchInBytes)
            try run(running, mark.head, limit: limits.stepInBytes, transaction)
            guard running.applied == mark.head.event else {
                try core.writeMark(RebuildMark(head: mark.head, applied: running.applied), transaction)
                replay = running
                return nil
            }
            try core.writeHead(mark.head, transaction)
            return try TableDigest.all(core.tables, transaction)
        }
    }

    private func run(_ replay: Replay, _ head: LogHead, limit: Int?, _ transaction: WriteTransaction) throws {
        guard replay.applied < head.event else { return }
        var counter = ProgressCounter(
            "replaying events", from: Int(replay.collected.rawValue), total: Int(head.event.rawValue), progress)
        // The log does not change meanwhile, so what is committed has all of it.
        _ = try core.environment.read { committed in
            try replay.run(
                LogReader(committed, core.tables, SchemaHistory([])), through: head.event, limit: limit,
                into: transaction, &counter)
        }
    }
}
