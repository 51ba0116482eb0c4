import LMDB
import Logging
import StrataModel

/// Does the remaining work of erasures, on the writer's thread.
struct ErasureFinish: Sendable {
    let file: StoreFile
    let blobs: BlobStore
    let snapshots: SnapshotSource
    let conversions: ConvertedStates
    /// The store's side of a shared log.
    let node: LogNode?

    var run: ErasureRun { ErasureRun(file: file, blobs: blobs) }

    /// Whether anything is left to do.
    var isDue: Bool {
        get throws { try file.read { transaction, _, _ in try ErasureMark.read(transaction, file.tables) } != nil }
    }

    /// Whether an erasure that others have made is to be made here.
    var hasReceived: Bool {
        get throws {
            try file.environment.read { try ErasureMark.read($0, file.tables)?.received.isEmpty == false }
        }
    }

    func run(_ report: inout ErasureReport, _ progress: ProgressHandler?) throws {
        forgetValues()
        let keys = try destroyKeys(&report)
        var run = run
        // The store that made them removes the values from the log. A store that may rewrite the log helps with that.
        if let node, try hasReceived { run.leavesLogToOthers = !node.mayRewrite }
        while let step = try run.next() { report.add(step) }
        forgetValues()
        if let keys { report.waiting.append(keys) }
        try finishFiles(&report, progress)
    }

    /// Drops past states that are kept in memory.
    func forgetValues() {
        snapshots.lag.removeAll()
        snapshots.statistics.removeAll()
        conversions.removeAll()
    }

    /// Rebuilds views if needed, has the shared log lose the values, removes files of large values, and overwrites
    /// what was freed.
    private func finishFiles(_ report: inout ErasureReport, _ progress: ProgressHandler?) throws {
        guard var mark = try file.environment.read({ try ErasureMark.read($0, file.tables) }) else { return }
        if mark.mustRebuild {
            _ = try Rebuild(file: file, blobs: blobs, limits: RebuildLimits(), progress: progress).run()
            report.isRebuilt = true
            mark.mustRebuild = false
            try file.write { try mark.write($0, file.tables) }
        }
        if !mark.unshared.isEmpty, let problem = try rewriteShared(mark) { report.waiting.append(problem) }
        do {
            report.fileCount = try blobs.sweep()
            if try blobs.hasUnnamed() { report.waiting.append("files of large values are in use") }
            try removeCopies(&report)
            let wiped = try file.environment.wipe()
            report.changedPageCount = wiped.changedPageCount
            report.freePageCount = wiped.freePageCount
            if wiped.waitingPageCount > 0 {
                report.waiting.append("earlier transactions still read \(CountText.of(wiped.waitingPageCount, "page"))")
            }
        } catch let error as LMDBError where error.code == .busy {
            report.waiting.append("transactions that are open use the file")
        }
        if report.isComplete, let problem = try renewSnapshot() { report.waiting.append(problem) }
        if report.isComplete { try file.write { try removeMark($0) } }
    }

    /// Removes whole copies of the store that ended processes have left, and the file from before a compaction.
    private func removeCopies(_ report: inout ErasureReport) throws {
        guard BlobFile.exists(file.path + "/data.mdb") else { return }
        for path in try LeftCopies.remove(besides: file.path) {
            report.waiting.append("what a killed command has left could not be removed: \(path)")
        }
        report.removedCopies += try LeftCopies.removeKeptFiles(in: file.path)
    }

    /// Removes the mark, unless others have made an erasure meanwhile.
    private func removeMark(_ transaction: WriteTransaction) throws {
        let mark = try ErasureMark.read(transaction, file.tables)
        if mark?.received.isEmpty != false { try ErasureMark.remove(transaction, file.tables) }
    }

    /// Puts a new snapshot into the shared log in the place of one that has the values.
    ///
    /// - Returns: why the old one is still there; nil if it is not.
    private func renewSnapshot() throws -> String? {
        guard let node else { return nil }
        do {
            let beginning = try node.contact.ask { () throws(SharedLogFailure) in try node.log.upkeep.beginning() }
            let last = try file.environment.read { try ErasureList.all($0, file.tables).map(\.eventNumber).max() }
            guard let snapshot = beginning.snapshot, let last, snapshot.end.event < last, node.mayRewrite else {
                return nil
            }
            _ = try SnapshotMaking(node: node).publish(beginningAfter: beginning.cut.transaction)
            return nil
        } catch let error as StrataError where [.logUnavailable, .persistentStoreTimeout].contains(error.code) {
            return "the snapshot in the shared log has the values: \(error)"
        }
    }

    /// Has the shared log lose the values, also the large ones.
    ///
    /// - Returns: why it still has them; nil if it has not.
    private func rewriteShared(_ mark: ErasureMark) throws -> String? {
        guard let node else { return "the store is not open with its shared log" }
        do {
            try node.rewrite(mark.unshared)
            try node.removeUnnamedBlobs()
        } catch let error as StrataError where error.code == .logUnavailable {
            return "the shared log has the values: \(error)"
        }
        try file.write { transaction in
            var mark = try ErasureMark.read(transaction, file.tables) ?? ErasureMark()
            mark.unshared = []
            try mark.write(transaction, file.tables)
        }
        return nil
    }
}
