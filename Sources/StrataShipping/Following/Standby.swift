package import Foundation
package import StrataModel
package import StrataStore

/// A store that receives transactions which another store has shipped to a target, and that can be read meanwhile.
///
/// Not safe for several threads.
package final class Standby {
    let target: any ShippingTarget
    let url: URL
    private let progress: ProgressHandler?
    private let lock: StandbyLock
    /// The id of the store.
    private let identifier: UUID
    private var catalog: TargetCatalog
    private let replica: Replica
    private var lastListing = ContinuousClock.now

    /// Time between two listings of everything that the target has.
    private static let listingInterval = Duration.seconds(30)

    /// Opens a standby, or makes it from the newest snapshot and the transactions after it.
    ///
    /// - Throws: `targetUnavailable`; `persistentStoreOpen` if something else than a standby of this log is at that place;
    ///   `persistentStoreTimeout` if another process keeps it; what a restore throws.
    package init(
        _ target: any ShippingTarget, at url: URL, lineage: UUID? = nil, progress: ProgressHandler? = nil
    ) throws {
        self.target = target
        self.url = url
        self.progress = progress
        if !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) {
            let restore = try TargetRestore(target, lineage: lineage, progress: progress)
            try Store.make(at: url, during: "making a standby") { folder in
                _ = try restore.fill(folder, .newest)
                try Store.makeStandby(in: folder)
            }
        }
        lock = try StandbyLock(url)
        var options = StoreOptions()
        options.durability = .relaxed
        options.receivesOnly = true
        options.createsIfMissing = false
        let store = try Store.open(.directory(url), model: nil, options: options)
        identifier = store.identifier
        let ownLineage = store.lineage
        let isStandby = store.isStandby
        store.close()
        guard isStandby else {
            throw StrataError(
                .persistentStoreOpen, "The store is no standby.", context: .init(path: url.path(percentEncoded: false)))
        }
        guard let mark = try TargetMark.read(target) else { throw TargetPresence.isAway(target.label) }
        guard mark.identifier == identifier, lineage == nil || lineage == ownLineage else {
            throw StrataError(
                .divergedLog, "The standby follows another store than the target has.",
                context: .init(path: url.path(percentEncoded: false)))
        }
        catalog = try TargetCatalog.list(target, ownLineage)
        replica = Replica(url, TargetLog(target, catalog), options: options)
    }

    /// The open store.
    package func store() throws -> Store { try replica.store() }

    /// Closes the store.
    package func close() {
        replica.close()
        lock.release()
    }

    /// The progress of the standby.
    package struct Report: Sendable {
        package let position: LogPosition
        /// When its last transaction was saved.
        package let date: Date?
        /// The number of transactions that were received.
        package let received: Int
        /// The number of transactions of the target that the standby does not have.
        package let lag: Int
    }

    /// Receives the transactions of the target.
    ///
    /// - Parameter listsAll: whether all files of the target are listed, which finds that it has let some go. Otherwise
    ///   only segments that begin after the end of the standby are, as long as that is enough.

    /// - Throws: `historyDropped` if the target has let the transactions after the standby's go; `divergedLog`,
    ///   `targetIncomplete` and `targetUnavailable`.
    package func catchUp(listsAll: Bool = true) throws -> Report {
        let start = try replica.store().logPosition().transaction
        try list(after: start, listsAll)
        guard catalog.start <= start || catalog.candidateExists(after: start) else {
            throw StrataError(
                .historyDropped,
                "The target no longer has the transactions after \(start). Remove the standby, and make it anew.",
                context: .init(path: target.label))
        }
        let end = Int(catalog.end.rawValue)
        try TargetLog(target, catalog).read(after: start, to: .newest) { segment, frames in
            let reached = try replica.receive(frames, of: segment)
            progress?(StoreProgress(phase: "replaying transactions", done: Int(reached.rawValue), total: end))
        }
        let store = try replica.store()
        let position = try store.logPosition()
        return Report(
            position: position, date: try store.transaction(position.transaction)?.date,
            received: Int(position.transaction.rawValue - start.rawValue),
            lag: Int(catalog.end.rawValue - min(catalog.end.rawValue, position.transaction.rawValue)))
    }

    private func list(after start: TransactionNumber, _ listsAll: Bool) throws {
        try TargetMark(identifier: identifier).confirm(target)
        let isDue = listsAll || ContinuousClock.now - lastListing > Self.listingInterval
        if !isDue {
            try catalog.relist(target, after: start)
            if catalog.end <= start || catalog.candidateExists(after: start) { return }
        }
        catalog = try TargetCatalog.list(target, catalog.lineage)
        lastListing = .now
    }

    /// Receives shipped transactions until `pace` is stopped.
    ///
    /// - Parameter report: is called after each time that transactions were taken over, and after each failure that may
    ///   pass.
    package func follow(
        _ pace: Pace, interval: Duration = .milliseconds(500), _ report: (Result<Report, StrataError>) throws -> Void
    ) throws {
        var patience = Patience()
        while !pace.isStopped {
            do {
                let reached = try catchUp(listsAll: false)
                patience.afterSuccess()
                if reached.received > 0 { try report(.success(reached)) }
                pace.pause(interval)
            } catch let error as StrataError where Patience.mayPass(error) {
                try report(.failure(error))
                pace.pause(patience.afterFailure())
            }
        }
    }

    /// Makes a standby a store of its own, with a new lineage, that can be saved to.
    ///
    /// - Throws: `persistentStoreTimeout` while a process keeps the standby; `persistentStoreOpen` if it is none.
    package static func promote(_ url: URL) throws -> LogPosition {
        var options = StoreOptions()
        options.isReadOnly = true
        options.createsIfMissing = false
        let lock = try StandbyLock(url)
        defer { lock.release() }
        let store = try Store.open(.directory(url), model: nil, options: options)
        let isStandby = store.isStandby
        let position = try store.logPosition()
        store.close()
        guard isStandby else {
            throw StrataError(
                .persistentStoreOpen, "The store is no standby.", context: .init(path: url.path(percentEncoded: false)))
        }
        try Store.beginLineage(in: url)
        return position
    }
}

/// Held by the one process that fills a standby: a lock on a file in its directory.
final class StandbyLock {
    private var descriptor: Int32

    init(_ url: URL) throws {
        let path = url.appending(component: "standby.lock").path(percentEncoded: false)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StrataError(
                .persistentStoreOpen, "The standby cannot be locked: \(String(cString: strerror(errno))).",
                context: .init(path: path))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            descriptor = -1
            throw StrataError(
                .persistentStoreTimeout, "Another process keeps this standby.", context: .init(path: path))
        }
    }

    func release() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    deinit { release() }
}
