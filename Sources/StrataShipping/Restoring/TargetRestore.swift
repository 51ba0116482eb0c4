package import Foundation
package import StrataGraph
package import StrataModel
package import StrataStore

/// Makes a store from the files at a target: from a snapshot, if there is one that is not too new, and the
/// transactions after it.
package struct TargetRestore {
    package let target: any ShippingTarget
    package let catalog: TargetCatalog
    let progress: ProgressHandler?

    /// - Parameter lineage: nil for the only one at the target.
    /// - Throws: `targetIncomplete` if nothing was shipped to the target; `invalidRequest` if it has several lineages.
    package init(
        _ target: any ShippingTarget, lineage: UUID? = nil, progress: ProgressHandler? = nil
    ) throws {
        self.target = target
        self.progress = progress
        guard try TargetMark.read(target) != nil else {
            throw StrataError(
                .targetIncomplete, "Nothing was shipped to \(target.label).", context: .init(path: target.label))
        }
        catalog = try TargetCatalog.list(target, try lineage ?? Self.onlyLineage(of: target))
        guard catalog.end > .zero else {
            throw StrataError(
                .targetIncomplete, "The target has nothing of that lineage.", context: .init(path: target.label))
        }
    }

    private static func onlyLineage(of target: any ShippingTarget) throws -> UUID {
        let lineages = try TargetCatalog.lineages(target)
        guard let first = lineages.first else {
            throw StrataError(
                .targetIncomplete, "Nothing was shipped to \(target.label).", context: .init(path: target.label))
        }
        guard lineages.count == 1 else {
            throw StrataError(
                .invalidRequest,
                "The target has the logs of \(lineages.count) lineages, as after a restore. Give one of them: "
                    + (try lineages.map { try summary(of: $0, at: target) }).joined(separator: "; ") + ".",
                context: .init(path: target.label))
        }
        return first
    }

    /// A lineage with its files at the target.
    private static func summary(of lineage: UUID, at target: any ShippingTarget) throws -> String {
        let catalog = try TargetCatalog.list(target, lineage)
        return "\(lineage.uuidString.lowercased()) (up to t\(catalog.end))"
    }

    // MARK: A store of its own

    /// A summary of a restore.
    package struct Report: Sendable {
        package let position: LogPosition
        package let verification: VerificationReport
        /// The transaction of the snapshot that the restore began with; nil if it began with an empty store.
        package let snapshot: TransactionNumber?
        package let blobCount: Int
        /// Files at the target that were passed over, with the reason.
        package let damaged: [String]
        /// The number of large values that the target does not have: they are lost in the new store, too.
        package let lostBlobCount: Int
    }

    /// Makes a store in a directory that does not exist yet. It has the store's id and a lineage of its own.
    ///
    /// The directory appears when the store is complete, verified and durable. A large value that the target lacks is
    /// lost in the store too, and its verification names it.
    ///
    /// - Parameter erasures: made in the store before anyone can read it.
    /// - Throws: `persistentStoreOpen` if something is at that place; `targetIncomplete`, `divergedLog` and `corrupt`
    ///   for what is wrong at the target; `historyDropped` for a moment before the oldest snapshot;
    ///   `futureEvent` for one that was not shipped.
    package func run(
        to url: URL, _ moment: HistoryMoment, erasing erasures: [RecordedErasure] = []
    ) throws -> Report {
        try refuseErasures()
        let goal = try moment.goal { try tags() }
        return try Store.make(at: url, during: "restoring") { folder in
            let made = try fill(folder, goal)
            try Store.beginLineage(in: folder)
            let later = try laterErasures(than: made.position, beside: folder)
            try Store.make(erasures + later.found, in: folder)
            let verified = try verify(folder)
            return Report(
                position: made.position, verification: verified.report, snapshot: made.snapshot,
                blobCount: verified.blobCount, damaged: made.damaged + later.damaged,
                lostBlobCount: verified.lostBlobCount)
        }
    }

    /// The erasures that the log records after a state. They count for that state, too.
    ///
    /// Where transactions are missing, the newest snapshot has the erasures up to it.
    ///
    /// - Returns: also the files that could not be read, and that may have erasures.
    private func laterErasures(
        than position: LogPosition, beside folder: URL
    ) throws -> (found: [RecordedErasure], damaged: [String]) {
        var found: [RecordedErasure] = []
        func read(after start: TransactionNumber) throws -> [String] {
            try TargetLog(target, catalog).read(after: start, to: .newest) { _, frames in
                for frame in frames {
                    found += try frame.erasures().map {
                        var erasure = $0
                        erasure.storeIdentifier = position.identifier
                        return erasure
                    }
                }
            }
        }
        do {
            let damaged = try read(after: position.transaction)
            return (found, damaged)
        } catch let error as StrataError where error.code == .targetIncomplete || error.code == .corrupt {
            guard let snapshot = try SnapshotManifest.newest(in: catalog.snapshots.reversed(), target),
                snapshot.transaction > position.transaction.rawValue
            else { return (found, ["erasures after the restored state may be missing: \(error.message)"]) }
            let known = Set(found.map(\.transactionID))
            let added = try erasures(of: snapshot, beside: folder)
            found += added.filter { $0.eventNumber > position.eventNumber && !known.contains($0.transactionID) }
            let damaged = try read(after: TransactionNumber(rawValue: snapshot.transaction))
            return (found, damaged)
        }
    }

    /// Calls `body` with a store of the shipped lineage as it was after a transaction, in which erasures are made.
    ///
    /// - Parameter folder: does not exist yet.
    func withErasedCopy(
        through last: TransactionNumber, _ erasures: [RecordedErasure], in folder: URL, _ body: (Store) throws -> Void
    ) throws {
        _ = try fill(folder, .transaction(last))
        try Store.make(erasures, in: folder)
        var options = StoreOptions()
        options.isReadOnly = true
        let copy = try Store.open(.directory(folder), model: nil, options: options)
        defer { copy.close() }
        try body(copy)
    }

    private func erasures(of snapshot: SnapshotManifest, beside folder: URL) throws -> [RecordedErasure] {
        // Removed with the hidden directory that the store is made in.
        let copy = folder.deletingLastPathComponent().appending(path: "snapshot", directoryHint: .isDirectory)
        try SnapshotDownload(target: target, manifest: snapshot, progress: progress).run(into: copy)
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store.open(.directory(copy), model: nil, options: options)
        defer { store.close() }
        return try store.erasures()
    }

    /// A list of erasures has to be applied before anyone can read.
    private func refuseErasures() throws {
        guard let entry = try target.entries(under: TargetName.erasures, after: nil).first else { return }
        throw StrataError(
            .targetIncomplete,
            "The target has a list of erasures, which this version of Strata cannot apply. "
                + "Restore with a newer one.", context: .init(path: target.label + "/" + entry.name))
    }

    /// Verifies the restored store. It may lack large values that the target lacks, too.
    private func verify(
        _ folder: URL
    ) throws -> (report: VerificationReport, blobCount: Int, lostBlobCount: Int) {
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store.open(.directory(folder), model: nil, options: options)
        defer { store.close() }
        let report = try store.verify(.full, progress: progress)
        let digests = try store.blobDigests()
        let log = TargetLog(target, catalog)
        let lost = try report.isSound ? [] : digests.filter { try store.blob(digest: $0) == nil && log.blob($0) == nil }
        guard report.problemCount == lost.count, report.problems.allSatisfy({ $0.kind == .blob }) else {
            throw StrataError(
                .corrupt,
                "The verification of the restored store found \(CountText.of(report.problemCount, "problem")).",
                context: .init(path: target.label),
                details: report.problems.map { StrataError(.corrupt, $0.description) })
        }
        return (report, digests.count - lost.count, lost.count)
    }

    /// The tags at the end of the log.
    package func tags() throws -> [String: EventNumber] {
        var tags: [String: EventNumber] = [:]
        var start = TransactionNumber.zero
        if let newest = try SnapshotManifest.newest(in: catalog.snapshots.reversed(), target) {
            tags = newest.tags.mapValues(EventNumber.init(rawValue:))
            start = TransactionNumber(rawValue: newest.transaction)
        }
        try TargetLog(target, catalog).read(after: start, to: .newest) { _, frames in
            for frame in frames { try frame.applyTags(to: &tags) }
        }
        return tags
    }

    // MARK: The content

    /// The contents of a directory that was filled from a target.
    package struct Filled: Sendable {
        package let position: LogPosition
        package let snapshot: TransactionNumber?
        package let damaged: [String]
    }

    /// Puts a store with the shipped lineage into a directory that does not exist yet.
    package func fill(_ folder: URL, _ goal: RestoreGoal) throws -> Filled {
        let log = TargetLog(target, catalog)
        let snapshot = try SnapshotManifest.newest(
            in: catalog.snapshots.reversed(), target
        ) { goal.includes($0) }
        let replica = Replica(folder, log)
        defer { replica.close() }
        if let snapshot {
            try SnapshotDownload(target: target, manifest: snapshot, progress: progress).run(into: folder)
            let store = try replica.store()
            try check(try store.logPosition(), snapshot)
            _ = try store.takeBlobs({ try log.blob($0) }, progress)
        } else if catalog.start != .zero {
            throw tooEarly()
        }
        let end = Int(catalog.end.rawValue)
        let start = snapshot.map { TransactionNumber(rawValue: $0.transaction) }
        let damaged = try log.read(after: start ?? .zero, to: goal) { segment, frames in
            let reached = try replica.receive(frames, of: segment)
            progress?(StoreProgress(phase: "replaying transactions", done: Int(reached.rawValue), total: end))
        }
        guard replica.isThere else {
            throw StrataError(
                .futureEvent, "The store had no transaction then.", context: .init(path: target.label))
        }
        let position = try replica.store().logPosition()
        if case .microseconds = goal { return Filled(position: position, snapshot: start, damaged: damaged) }
        guard goal.isReached(by: position.transaction, position.eventNumber) else {
            throw StrataError(
                .futureEvent, "The log at the target ends with transaction \(position.transaction).",
                context: .init(eventNumber: position.eventNumber, path: target.label))
        }
        return Filled(position: position, snapshot: start, damaged: damaged)
    }

    private func tooEarly() -> StrataError {
        let oldest = catalog.snapshots.first?.name.last ?? .zero
        return StrataError(
            .historyDropped,
            oldest == .zero
                ? "The beginning of the log is missing at the target, and there is no snapshot. Ship the store again."
                : "The oldest state that can be restored is that of transaction \(oldest) (t\(oldest)).",
            context: .init(path: target.label))
    }

    private func check(_ position: LogPosition, _ manifest: SnapshotManifest) throws {
        guard position.transaction.rawValue == manifest.transaction, position.digest == manifest.digestBytes,
            position.lineage == manifest.lineage, position.identifier == manifest.store
        else {
            throw StrataError(
                .corrupt,
                "The snapshot of transaction \(manifest.transaction) does not match its manifest. Ship the store again, "
                    + "with --snapshot.",
                context: .init(path: target.label))
        }
    }
}
