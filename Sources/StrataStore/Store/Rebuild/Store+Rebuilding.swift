import Locking
import Logging
import LMDB
import StrataModel

/// When a rebuild takes several commits, and how large they are.
package struct RebuildLimits: Sendable {
    /// A log with more events, or more bytes, is rebuilt in several commits.
    package var eventsInOneCommit = 200_000
    package var bytesInOneCommit = 64 << 20
    /// Bytes of views in each of several commits.
    package var stepInBytes = 128 << 20
    /// Bytes of views that are sorted and written together.
    package var batchInBytes = Replay.defaultFlushLimit

    package init(eventsInOneCommit: Int = 200_000, bytesInOneCommit: Int = 64 << 20, stepInBytes: Int = 128 << 20) {
        self.eventsInOneCommit = eventsInOneCommit
        self.bytesInOneCommit = bytesInOneCommit
        self.stepInBytes = stepInBytes
    }
}

extension Store {
    /// Drops every view and makes it again from the log, on the writer's thread, while saves wait.
    ///
    /// The log is checked first; if it is damaged nothing is dropped. A short log is replayed in one transaction, so
    /// that readers see the old views until they see the new ones. A long one takes several, with a durable mark. Until
    /// the last of them, reads, and saves by other processes, throw `persistentStoreTimeout`. After a crash the next
    /// opening for writing continues from the mark.
    ///
    /// The pages of the old views are freed without a look at them, so any of them may be damaged.
    ///
    /// - Throws: `readOnly`; `corrupt` if the log, or another part of the file than its views, is damaged; `noSpace`.
    package func rebuild(progress: ProgressHandler? = nil) throws -> RebuildReport {
        try rebuild(RebuildLimits(), progress: progress)
    }

    /// The same with other limits.
    package func rebuild(_ limits: RebuildLimits, progress: ProgressHandler? = nil) throws -> RebuildReport {
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        do {
            try keepViews()
        } catch {
            StoreLogger.shared.notice("the views of \(path) did not catch up before the rebuild: \(error)")
        }
        return try runRebuild(limits, progress)
    }

    /// Finishes an interrupted rebuild before anything is read.
    func resumeRebuild(_ progress: ProgressHandler? = nil) throws {
        guard let mark = try file.environment.read({ try file.rebuildMark($0) }) else { return }
        // Another process may be at it.
        if isReadOnly { throw mark.refusal(path: path) }
        StoreLogger.shared.notice("finishing a rebuild of the views that was interrupted")
        noteFinished(try runRebuild(RebuildLimits(), progress))
        // Reads the models, which are a view, too.
        try file.read { _, _, _ in }
    }

    private func runRebuild(_ limits: RebuildLimits, _ progress: ProgressHandler?) throws -> RebuildReport {
        let result = Locked<RebuildReport?>(nil)
        try onWriter { [self] in
            do {
                let report = try Rebuild(file: file, blobs: blobs, limits: limits, progress: progress).run()
                result.withLock { $0 = report }
            } catch {
                throw try file.rebuildError(error)
            }
        }
        // Layers of the past may hold damaged rows.
        snapshots.lag.removeAll()
        conversions.removeAll()
        guard let report = result.withLock({ $0 }) else {
            throw StrataError(.storeClosed, "The store is closed.", context: .init(path: path))
        }
        return report
    }
}

extension StoreFile {
    /// The mark of a rebuild that is under way, or was interrupted.
    func rebuildMark(_ transaction: ReadTransaction) throws -> RebuildMark? {
        guard let bytes = try Self.meta("head", tables, transaction) else { return nil }
        return try RebuildMark(bytes)
    }

    /// The error of a failed rebuild; after several commits it also says how far the rebuild has come.
    fileprivate func rebuildError(_ error: any Error) throws -> any Error {
        let known = publicError(error, during: "rebuild")
        guard let failure = known as? StrataError, failure.code == .noSpace,
            let mark = try environment.read({ try rebuildMark($0) })
        else { return known }
        return StrataError(
            .noSpace,
            "The disk is full or failed while the views were rebuilt; \(mark.applied) of \(mark.head.event) events "
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
    let file: StoreFile
    let blobs: BlobStore
    let limits: RebuildLimits
    let progress: ProgressHandler?

    /// The result of one commit.
    private struct Outcome {
        var head: LogHead
        /// The digests of the old views that can be read; nil if an interrupted rebuild had dropped them.
        var before: [TableDigest]?
        var after: [TableDigest]?
        /// Declared views that were not what a rebuild makes, and so are not compared.
        var apart: Set<ViewID> = []
    }

    func run() throws -> RebuildReport {
        let clock = ContinuousClock()
        let start = clock.now
        var outcome = try begin()
        var replay: Replay?
        var isBegunAnew = false
        while outcome.after == nil {
            do {
                try step(&replay, &outcome)
            } catch let error as LMDBError where error.code == .corrupted && !isBegunAnew {
                // A page of the views that the steps before have made is damaged.
                (replay, isBegunAnew) = (nil, true)
                try write { try dropAgain($0) }
            }
        }
        let before = outcome.before.map { Dictionary(grouping: $0, by: \.name) }
        let baseline = try file.environment.read { try LogBaseline.read($0, file.tables) } ?? .start
        return RebuildReport(
            head: outcome.head.event,
            eventCount: Int(baseline.keptCount)
                + max(0, Int(outcome.head.event.rawValue) - Int(baseline.event.rawValue)),
            transactionCount: max(
                0, Int(outcome.head.transaction.rawValue) - Int(baseline.transaction.rawValue)),
            tables: (outcome.after ?? []).map { after in
                let digest = before.map { $0[after.name]?.first.map(RebuildReport.Before.table) ?? .unreadable }
                return .init(before: digest ?? .dropped, after: after)
            },
            duration: clock.now - start)
    }

    private func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try file.write(body)
    }

    /// Rebuilds everything if the log is short; otherwise drops the views and leaves the mark. Either is abandoned if
    /// the log proves to be damaged.
    private func begin() throws -> Outcome {
        try write { transaction in
            if let mark = try file.rebuildMark(transaction) { return Outcome(head: mark.head) }
            let head = try file.readHead(transaction)
            let apart = try viewsApart(head, transaction)
            return try isSmall(head, transaction)
                ? all(head, without: apart, transaction) : drop(head, without: apart, transaction)
        }
    }

    /// Declared views that have not the groups that a rebuild makes, and those that this process cannot make.
    private func viewsApart(_ head: LogHead, _ transaction: ReadTransaction) throws -> Set<ViewID> {
        let progress = try ViewProgress.all(transaction, file.tables)
        var apart = Set(progress.filter(\.value.isRetired).keys)
        if let schema = try file.histories(for: head, transaction).newest {
            for view in try IndexMap.of(schema).views.views
            where !view.hasCode || !view.isWhole(progress[view.id], at: head.event) {
                apart.insert(view.id)
            }
        }
        return apart
    }

    private func all(
        _ head: LogHead, without apart: Set<ViewID>, _ transaction: WriteTransaction
    ) throws -> Outcome {
        let survey = RebuildSurvey(of: .logAndViews(without: apart), file, blobs, nil)
        let made = Result {
            try dropViews(transaction)
            let replay = Replay(after: .start, file.tables, flushLimit: limits.batchInBytes)
            try run(replay, head, limit: nil, transaction)
            try refillViews(head, transaction)
            return try TableDigest.all(file.tables, transaction, without: apart)
        }
        // A problem in the log explains more than an error of the replay, so it is thrown first.
        let before = try survey.finish()
        return Outcome(head: head, before: before, after: try made.get())
    }

    private func drop(
        _ head: LogHead, without apart: Set<ViewID>, _ transaction: WriteTransaction
    ) throws -> Outcome {
        let survey = RebuildSurvey(of: .log, file, blobs, progress)
        let before = Result { try TableDigest.readable(in: file, without: apart) }
        try survey.finish()
        try checkRoom()
        try dropViews(transaction)
        try file.writeMark(RebuildMark(head: head, applied: .zero), transaction)
        return Outcome(head: head, before: try before.get(), apart: apart)
    }

    private func dropAgain(_ transaction: WriteTransaction) throws {
        guard let mark = try file.rebuildMark(transaction) else { return }
        try dropViews(transaction)
        try file.writeMark(RebuildMark(head: mark.head, applied: .zero), transaction)
    }

    private func dropViews(_ transaction: WriteTransaction) throws {
        do {
            try transaction.drop(file.tables.viewTables.flatMap { $0.table.parts })
            try ViewProgress.removeAll(transaction, file.tables)
        } catch let error as LMDBError where error.code == .corrupted {
            throw StrataError(
                .corrupt,
                "Not only views of the store's file are damaged (\(error.detail)), so nothing was dropped. "
                    + "'strata doctor --into' makes a new store of the log.",
                context: .init(path: file.path), cause: error)
        }
    }

    /// Refuses to start if the disk has too little room, because the store cannot be read until the last step. The
    /// first step cannot reuse the pages of the old views, and the new trees differ a little in size.
    private func checkRoom() throws {
        let info = try file.environment.info()
        let pages = info.tables.filter { !["events", "transactions"].contains($0.key) }.values
            .reduce(0) { $0 + $1.branchPageCount + $1.leafPageCount + $1.overflowPageCount }
        let views = UInt64(pages * info.pageSizeInBytes)
        let needed = min(UInt64(limits.stepInBytes), views) + views / 8
        let reusable = UInt64(info.freePageCount * info.pageSizeInBytes)
        guard let free = file.environment.freeSpaceInBytes, free + reusable < needed else { return }
        throw StrataError(
            .noSpace,
            "A rebuild in several steps takes about \(needed - reusable) bytes of the disk, and \(free) are free; "
                + "nothing was changed.", context: .init(path: file.path))
    }

    private func isSmall(_ head: LogHead, _ transaction: WriteTransaction) throws -> Bool {
        let pages = try transaction.statistics(file.tables.events)
        let baseline = try LogBaseline.read(transaction, file.tables) ?? .start
        // A record may be a block of many events, which are several times as large without it.
        let count = Int(clamping: head.event.rawValue - baseline.event.rawValue + baseline.keptCount)
        let size = (pages.leafPageCount + pages.overflowPageCount) * 4096
        return count <= limits.eventsInOneCommit
            && (pages.entryCount == count ? size : size * 4) <= limits.bytesInOneCommit
    }

    /// Makes one commit of several. It begins where the store says, so two processes that find the mark share the
    /// steps, and each step is done once.
    ///
    /// - Parameters:
    ///   - replay: of the step before, which has begun to collect events for this one.
    ///   - outcome: gets the digests after the last step.
    private func step(_ replay: inout Replay?, _ outcome: inout Outcome) throws {
        let (isCompared, digests) = try write { transaction -> (Bool, [TableDigest]?) in
            guard let mark = try file.rebuildMark(transaction) else {
                // Another process has finished the rebuild, and may have saved since.
                return (
                    try file.readHead(transaction).event == outcome.head.event,
                    try TableDigest.all(file.tables, transaction, without: outcome.apart)
                )
            }
            let histories = try StoreFile.readModels(file.tables, transaction)
            let running = Replay.resume(
                &replay, after: .init(applied: mark.applied, histories: histories), file.tables,
                flushLimit: limits.batchInBytes)
            try run(running, mark.head, limit: limits.stepInBytes, transaction)
            guard running.applied == mark.head.event else {
                try file.writeMark(RebuildMark(head: mark.head, applied: running.applied), transaction)
                replay = running
                return (true, nil)
            }
            try refillViews(mark.head, transaction)
            try file.writeHead(mark.head, transaction)
            return (true, try TableDigest.all(file.tables, transaction, without: outcome.apart))
        }
        if !isCompared { outcome.before = nil }
        outcome.after = digests
    }

    /// Makes the declared views of the objects.
    private func refillViews(_ head: LogHead, _ transaction: WriteTransaction) throws {
        let histories = try StoreFile.readModels(file.tables, transaction)
        var projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
        try projector.refillAll(at: head.event, transaction)
    }

    private func run(_ replay: Replay, _ head: LogHead, limit: Int?, _ transaction: WriteTransaction) throws {
        guard replay.applied < head.event else { return }
        var counter = ProgressCounter(
            "replaying events", from: Int(replay.collected.rawValue), total: Int(head.event.rawValue), progress)
        // The log does not change meanwhile, so the committed state has all of it.
        _ = try file.environment.read { committed in
            try replay.run(
                LogReader(committed, file.tables, SchemaHistory([])), through: head.event, limit: limit,
                into: transaction, &counter)
        }
    }
}
