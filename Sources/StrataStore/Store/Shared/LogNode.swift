import Foundation
import LMDB
import Locking
import StrataModel

/// A store's side of a shared log: publishes the transactions of the store's commits, and receives those of others.
///
/// A commit is published while its write transaction is open, after everything was checked and sealed. So only one
/// append of a store is under way, the saves that share a commit share it, and the store never has a transaction that
/// the log does not have. A save that is alone is sent before it is written to the file (`publishEarly`).
///
/// The variables are guarded by their mutex. The parts of a store are kept here and not the store itself, which a
/// thread of the node's would otherwise close.
final class LogNode: LogGate {
    let log: any SharedLog
    let connection: SharedLogConnection
    let file: StoreFile
    let blobs: BlobStore
    let contact: LogContact
    /// Runs a job on the writer's thread, after the saves that wait.
    let onWriter: @Sendable (@escaping @Sendable () throws -> Void) throws -> Void
    /// Is called when the end of the local log has moved.
    let announce: @Sendable () -> Void
    /// Makes the erasures that came with the log.
    let makeErasures = Locked<(@Sendable () throws -> Void)?>(nil)
    let receiving = ReceivingThread()
    let leases = Locked<[String: LogLease]>([:])
    /// The store's position as the log knows it.
    let position = Locked<NodePosition?>(nil)

    init(
        _ log: any SharedLog, _ connection: SharedLogConnection, _ file: StoreFile, _ blobs: BlobStore,
        onWriter: @escaping @Sendable (@escaping @Sendable () throws -> Void) throws -> Void,
        announce: @escaping @Sendable () -> Void
    ) {
        self.log = log
        self.connection = connection
        self.file = file
        self.blobs = blobs
        self.onWriter = onWriter
        self.announce = announce
        contact = LogContact(connection)
    }

    // MARK: Publishing

    /// Others have appended before.
    private struct Overtaken: Error {
        let missing: [SharedTransaction]
    }

    /// What one write transaction has appended and sent.
    private struct Attempt {
        var made: [SharedTransaction] = []
        /// The end of what was sent before it was written here.
        var earlyEnd: LogHead?
        /// Why that is not known to be in the log.
        var earlyFailure: (any Error)?
        var isPublished = false
    }

    /// Of the write transaction that is open.
    private let attempt = Locked(Attempt())

    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        while true {
            attempt.withLock { $0 = Attempt() }
            do {
                return try file.environment.write(timeout: file.options.writerLockTimeout) { transaction in
                    try beginAttempt()
                    let before = try plainHead(transaction)
                    let result = try body(transaction)
                    guard let before, let after = try plainHead(transaction) else { return result }
                    let start = attempt.withLock { $0.earlyEnd } ?? before
                    guard start.transaction < after.transaction else { return result }
                    let made = try transactions(after: start, through: after, transaction)
                    attempt.withLock { $0.made += made }
                    try publish(made, after: start)
                    attempt.withLock { $0.isPublished = true }
                    return result
                }
            } catch let overtaken as Overtaken {
                try receive(overtaken.missing, insteadOf: attempt.withLock { $0.made })
            } catch {
                guard attempt.withLock({ $0.isPublished }), !Self.canBeSettled(error) else { throw error }
                // The log has the save, so the error must not say that nothing was written.
                throw inDoubt("The shared log has the save, but it could not be written here.", error)
            }
        }
    }

    /// Comes first in the body of a write transaction, which runs again after the map of the file has grown. A
    /// transaction that was sent by then must not be made anew: it would have another date.
    private func beginAttempt() throws {
        let earlier = attempt.withLock { attempt in
            let earlier = attempt
            if earlier.earlyEnd == nil { attempt = Attempt() }
            return earlier
        }
        guard earlier.earlyEnd != nil else { return }
        if let failure = earlier.earlyFailure { throw failure }
        throw Overtaken(missing: earlier.made)
    }

    func publishEarly(
        _ frame: EncodedFrame, after before: LogHead, through end: LogHead, writing: () throws -> Void
    ) throws {
        let made = [SharedTransaction(frame)]
        attempt.withLock { ($0.made, $0.earlyEnd) = (made, end) }
        var written: Result<Void, any Error>?
        do {
            try publish(made, after: before) { if written == nil { written = Result(catching: writing) } }
        } catch {
            attempt.withLock { $0.earlyFailure = error }
            throw error
        }
        attempt.withLock { $0.isPublished = true }
        if let written { try written.get() } else { try writing() }
    }

    /// Whether the committer runs the same saves again, and so finds them in the log.
    private static func canBeSettled(_ error: any Error) -> Bool {
        guard let error = error as? LMDBError else { return false }
        return error.code == .outcomeUnknown || error.code == .panic
    }

    private func inDoubt(_ message: String, _ cause: (any Error)?) -> StrataError {
        StrataError(
            .inDoubt, message + " Saving again finds out.", context: .init(path: file.path), cause: cause)
    }

    /// The head; nil during a rebuild, which appends nothing.
    private func plainHead(_ transaction: ReadTransaction) throws -> LogHead? {
        guard let bytes = try StoreFile.meta("head", file.tables, transaction), bytes.count == LogHead.size else {
            return nil
        }
        return try file.readHead(transaction)
    }

    private func transactions(
        after before: LogHead, through after: LogHead, _ transaction: WriteTransaction
    ) throws -> [SharedTransaction] {
        let reader = LogReader(transaction, file.tables, try file.histories(for: after, transaction))
        let frames = try FrameReader(reader, after)
        return try (before.transaction.rawValue + 1...after.transaction.rawValue).map { number in
            SharedTransaction(try frames.encodedFrame(TransactionNumber(rawValue: number), path: file.path))
        }
    }

    /// Appends until the log has answered or the time is over. While no answer has come, the same bytes are sent, so a
    /// transaction whose answer was lost is found by its id.
    ///
    /// - Parameter meanwhile: work to be done while the log answers; it may be called several times, or not at all.
    private func publish(
        _ made: [SharedTransaction], after head: LogHead, meanwhile: () -> Void = {}
    ) throws {
        var made = made
        var isAsked = false
        while true {
            let attempt = made
            let answer = try contact.ask { () throws(SharedLogFailure) in
                do throws(SharedLogFailure) {
                    return try log.append(attempt, after: SharedLogEnd(head), meanwhile: meanwhile)
                } catch {
                    if case .answerLost = error { isAsked = true }
                    throw error
                }
            } orThrow: { failure in
                guard isAsked else { return contact.unavailable(failure) }
                return inDoubt(
                    "Whether the shared log \(connection.name) has the save is not known: \(failure).", failure)
            }
            switch answer {
            case .appended: return contact.noteEnd(made.last?.number)
            case .overtaken(let missing): throw Overtaken(missing: missing)
            case .lacking(let digests): try publishAgain(digests, for: &made)
            }
        }
    }

    /// Has the log keep large values that it has removed since they were staged. Those that are not here either are
    /// missing everywhere, and the log is not asked for them again.
    private func publishAgain(_ digests: [Data], for made: inout [SharedTransaction]) throws {
        for digest in digests {
            if let data = blobs.checkedContents(digest: digest) {
                try publish(blob: data, digest: digest)
            } else {
                for index in made.indices { made[index].blobs.removeAll { $0 == digest } }
            }
        }
    }

    /// Receives transactions of others, on the thread that writes.
    private func receive(_ missing: [SharedTransaction], insteadOf made: [SharedTransaction]) throws {
        do {
            try receiveHere(missing)
        } catch {
            let ids = Set(missing.map(\.id))
            guard made.contains(where: { ids.contains($0.id) }) else { throw error }
            throw inDoubt("The shared log has the save, but it could not be received here.", error)
        }
    }

    // MARK: Rows and large values

    func leaseRows(_ count: UInt64) throws -> Range<UInt64> {
        try contact.ask { () throws(SharedLogFailure) in try log.leaseRows(count) }
    }

    /// Has the log keep a large value that is here.
    func publish(blob: Data, digest: Data) throws {
        try contact.ask { () throws(SharedLogFailure) in try log.put(blob: blob, digest: digest) }
    }

    /// The bytes of a large value that the log has; nil if there are none.
    func contents(ofBlob digest: Data) throws -> Data? {
        try contact.ask { () throws(SharedLogFailure) in try log.blob(digest: digest) }
    }
}

extension SharedLogEnd {
    init(_ head: LogHead) {
        self.init(transaction: head.transaction, event: head.event, digest: head.digest)
    }
}

extension SharedTransaction {
    init(_ frame: EncodedFrame) {
        self.init(
            number: frame.record.number, id: frame.record.id, firstEvent: frame.record.firstEvent,
            eventCount: frame.record.eventCount, digest: frame.record.digest, bytes: frame.bytes)
        blobs = frame.blobDigests
    }
}
