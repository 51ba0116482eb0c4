import Foundation
import LMDB
import Locking
package import StrataModel

// A store that joins a shared log has the log's identity. Its `state` table says so from then on, and it is not opened
// for writing without the log: its changes would be in no other store.

extension StoreOptions {
    /// The options of a store that shares its log: the log makes a save durable, and the store receives again what a power
    /// loss takes of it. A migration is one transaction.
    func joining(_ identity: SharedLogIdentity?) -> StoreOptions {
        var options = self
        if options.durability != .disposable { options.durability = .checkpointed }
        options.migration.limits.objectsInOneCommit = .max
        options.identity = identity
        return options
    }
}

/// The log was cut after the store's last transaction.
struct StoreBehindLog: Error {
    let error: StrataError

    /// The error for a store that cannot be replaced by a new copy automatically.
    func refusal(path: String) -> StrataError {
        StrataError(
            .historyDropped,
            "The shared log no longer has the transactions that follow this store's last one, and the store's files "
                + "could not be moved to make it anew. Close it in all processes, move its directory away and open it again.",
            context: .init(path: path), cause: error)
    }
}

extension Store {
    /// Begins a store that is not there yet with the snapshot in its shared log, if there is one.
    static func placeSnapshot(
        _ directory: StoreDirectory, _ location: StoreLocation, _ log: any SharedLog,
        _ connection: SharedLogConnection, _ options: inout StoreOptions
    ) throws {
        guard options.identity != nil, !directory.hasDataFile else { return }
        let placing: SnapshotPlacing
        if case .directory = location {
            placing = SnapshotPlacing(
                log: log, connection: connection, directory: directory, options: options, hasFiles: true)
        } else {
            placing = SnapshotPlacing(
                log: log, connection: connection, directory: directory, options: options, hasFiles: false)
        }
        do {
            options.beginsWithSnapshot = try placing.run()
        } catch {
            throw StoreFile.publicError(error, during: "receiving a snapshot", path: directory.path)
        }
    }

    /// Asks a shared log for its identity, before the store is opened.
    ///
    /// - Parameter hasStore: whether the store exists already; it can then be opened without an answer.
    static func identity(
        of log: any SharedLog, _ connection: SharedLogConnection, hasStore: Bool, _ options: StoreOptions
    ) throws -> SharedLogIdentity? {
        let founder = options.createsIfMissing ? SharedLogIdentity.make(at: options.clock()) : nil
        if hasStore {
            do throws(SharedLogFailure) {
                return try log.open(founder: founder).identity
            } catch {
                if case .refused(let refusal) = error { throw refusal }
                return nil
            }
        }
        return try LogContact(connection).ask { () throws(SharedLogFailure) in try log.open(founder: founder).identity }
    }

    /// Joins a shared log with the open files, and receives missing transactions.
    ///
    /// - Parameter mayBeBehind: whether the store can be used with the transactions that it has.
    func join(_ log: any SharedLog, _ connection: SharedLogConnection, mayBeBehind: Bool) throws {
        if let identity = file.options.identity, identity.identifier != identifier {
            throw StrataError(
                .persistentStoreOpen,
                "The store is not one of the shared log \(connection.name): it has another id. Open it without the "
                    + "log, or choose another directory.", context: .init(path: path))
        }
        let feed = feed
        let node =
            node.withLock { $0 }
            ?? LogNode(log, connection, file, blobs, onWriter: jobsOnWriter()) { feed.notify() }
        self.node.withLock { $0 = node }
        file.gate.withLock { $0 = node }
        let erasures = ReceivedErasures(erasureFinish, onWriter: jobsOnWriter())
        node.makeErasures.withLock { $0 = { try erasures.make() } }
        try markShared(connection.name)
        try node.beginPosition(try nodeIdentity())
        guard file.options.identity != nil else { return }
        do {
            if file.options.beginsWithSnapshot, case .inMemory = location {
                _ = try takeBlobs(from: log, node.contact, file.options.migration.progress)
            }
            do {
                if connection.catchesUpAfterOpening, mayBeBehind {
                    try node.checkContinuation()
                } else {
                    try node.catchUp(file.options.migration.progress)
                }
            } catch let error as StrataError where error.code == .historyDropped {
                throw StoreBehindLog(error: error)
            }
            try writeMark()
            // Takes note of the models that came.
            try file.read { _, _, _ in }
        } catch let error as StrataError where error.code == .logUnavailable && file.histories.newest != nil {
            // Reads go on with the transactions of this store.
        }
    }

    /// Notes that the store is not to be written without its log.
    private func markShared(_ name: String) throws {
        guard try sharedLogName() != name else { return }
        do {
            try onWriter { [file] in
                try file.writeDirectly { transaction in
                    try Array(name.utf8).withUnsafeBytes { value in
                        try StoreFile.withKey("log") { try transaction.put(file.tables.state, $0, value) }
                    }
                }
            }
        } catch {
            throw file.publicError(error, during: "joining a shared log")
        }
    }

    /// The shared log that the store belongs to; nil if it has its own.
    func sharedLogName() throws -> String? {
        do {
            return try file.environment.read { transaction in
                try StoreFile.withKey("log") { try transaction.get(file.tables.state, $0) }
                    .map { String(decoding: $0, as: UTF8.self) }
            }
        } catch {
            throw file.publicError(error, during: "opening")
        }
    }

    /// - Throws: `persistentStoreOpen` if the store belongs to a shared log and would be written without it.
    func refuseWithoutLog() throws {
        guard !isReadOnly, let name = try sharedLogName() else { return }
        throw StrataError(
            .persistentStoreOpen,
            "The store is a copy of the shared log \(name). Open it with that log, or for reading only.",
            context: .init(path: path))
    }
}

extension Store {
    /// The state of the store's connection to its shared log; nil if it has its own log.
    package var sharedLogStatus: SharedLogStatus? { node.withLock { $0 }?.contact.status }

    /// Receives everything that the shared log has now; nothing to do for a store with its own log.
    ///
    /// - Throws: `logUnavailable`, `divergedLog`, `modelChanged`.
    package func catchUp() throws {
        try checkOpen()
        guard let node = node.withLock({ $0 }) else { return }
        do {
            try node.catchUp()
        } catch {
            throw file.publicError(error, during: "receiving transactions")
        }
        if try erasureFinish.hasReceived { _ = try finishErasures() }
    }

    /// Waits until the store has a transaction of the log, or the task is cancelled.
    ///
    /// - Returns: whether it has it now.
    package func wait(for number: TransactionNumber, timeout: Duration) throws -> Bool {
        let end = ContinuousClock.now + timeout
        let news = NewsFlag()
        let observation = try observeHead(onClose: { news.raise() }) { _ in news.raise() }
        defer { observation.cancel() }
        while true {
            if try logPosition().transaction >= number { return true }
            if Task.isCancelled || ContinuousClock.now >= end { return false }
            news.wait(until: min(end, .now + .milliseconds(100)))
        }
    }
}

/// Wakes a waiting thread. `isRaised` is guarded by `condition`.
private final class NewsFlag: @unchecked Sendable {
    private let condition = TimedMonitor()
    private var isRaised = false

    func raise() {
        condition.withLock {
            isRaised = true
            condition.broadcast()
        }
    }

    /// Returns when something has happened, and then at the latest.
    func wait(until end: ContinuousClock.Instant) {
        condition.withLock {
            while !isRaised, condition.wait(until: end) {}
            isRaised = false
        }
    }
}
