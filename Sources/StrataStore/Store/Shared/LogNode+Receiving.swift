// Receives transactions of a shared log: when asked, and in the background.

import Foundation
import LMDB
import Locking
import Logging
import StrataModel

extension LogNode {
    /// The bytes received in one step.
    static let stepInBytes = 8 << 20
    /// The time that one question for news waits.
    private static let wait = Duration.seconds(1)

    /// The last transaction here.
    func localEnd() throws -> SharedLogEnd { try file.environment.read { SharedLogEnd(try file.readHead($0)) } }

    // MARK: Catching up

    /// Asks the log for its end, and checks that it continues this store's log.
    ///
    /// - Throws: `logUnavailable`, `divergedLog`; `historyDropped` if the log was cut behind this store's end.
    @discardableResult
    func checkContinuation() throws -> (here: SharedLogEnd, end: TransactionNumber) {
        // Not by `wait`: the thread that receives may be waiting.
        let end = try contact.ask { () throws(SharedLogFailure) in try log.open(founder: nil).end.transaction }
        contact.noteEnd(end)
        let here = try localEnd()
        try refuseDiverged(here, end)
        return (here, end)
    }

    /// Receives everything that the log has now. Returns at once if that is here.
    ///
    /// - Throws: `logUnavailable`, `divergedLog`, `modelChanged` if the store must be opened again first.
    func catchUp(_ progress: ProgressHandler? = nil) throws {
        let (first, end) = try checkContinuation()
        var here = first
        var counter = ProgressCounter(
            "receiving transactions", total: Int(end.rawValue - min(here.transaction.rawValue, end.rawValue)), progress)
        while here.transaction < end {
            let from = here.transaction
            let found = try contact.ask { () throws(SharedLogFailure) in
                try log.read(after: from, limitInBytes: Self.stepInBytes)
            }
            try receiveOnWriter(found)
            here = try localEnd()
            guard from < here.transaction else { throw lost(from) }
            for _ in from.rawValue..<here.transaction.rawValue { counter.step() }
        }
    }

    private func lost(_ number: TransactionNumber) -> StrataError {
        StrataError(
            .divergedLog, "The shared log \(connection.name) has no transaction after \(number), but ends later.",
            context: .init(path: file.path))
    }

    /// Refuses a log that does not continue this store's log: one of another store, or one that was restored to an
    /// earlier state and has lost transactions since.
    private func refuseDiverged(_ here: SharedLogEnd, _ end: TransactionNumber) throws {
        guard here.transaction > .zero else { return }
        let digest = try contact.ask { () throws(SharedLogFailure) in try log.digest(of: here.transaction) }
        guard digest != here.digest else { return }
        throw StrataError(
            .divergedLog,
            digest == nil
                ? "The shared log \(connection.name) ends at transaction \(end), this store at \(here.transaction): "
                    + "the log has lost transactions. Restore the log, or move this store away and let it be made anew."
                : "Transaction \(here.transaction) is another one in the shared log \(connection.name) than here. "
                    + "Restore the log, or move this store away and let it be made anew.",
            context: .init(eventNumber: here.event, path: file.path))
    }

    // MARK: In the background

    func startReceiving() throws { try receiving.start { [self] in receiveNews() } }

    /// Waits for news and receives them.
    ///
    /// - Returns: whether to go on.
    private func receiveNews() -> Bool {
        if contact.hasStopped { return false }
        keepLeases()
        keepPosition()
        do {
            let here = try localEnd()
            let end = try log.wait(after: here.transaction, timeout: Self.wait)
            contact.noteAnswer()
            contact.noteEnd(end)
            if end < here.transaction { try refuseDiverged(here, end) }
            // Most news are of this store's own saves, which are here meanwhile.
            let now = end > here.transaction ? try localEnd() : here
            if end > now.transaction {
                try receiveOnWriter(try log.read(after: now.transaction, limitInBytes: Self.stepInBytes))
            }
            if let makeErasures = makeErasures.withLock({ $0 }) { try makeErasures() }
        } catch let failure as SharedLogFailure {
            if contact.hasStopped { return false }
            contact.note(failure)
            contact.sleep(LogContact.longestPause)
        } catch {
            if contact.hasStopped { return false }
            let problem = file.publicError(error, during: "receiving transactions")
            guard let problem = problem as? StrataError, problem.code != .noSpace, problem.code != .logUnavailable,
                problem.code != .persistentStoreTimeout
            else {
                contact.sleep(LogContact.longestPause)
                return true
            }
            contact.note(problem: problem)
            StoreLogger.shared.error("nothing more is received in \(file.path): \(problem)")
            return false
        }
        return true
    }

    private func receiveOnWriter(_ found: [SharedTransaction]) throws {
        try onWriter { [self] in try receiveHere(found) }
        announce()
    }

    /// Receives transactions on the thread that writes.
    func receiveHere(_ found: [SharedTransaction]) throws {
        let frames = try found.map { transaction in
            do throws(CorruptRecord) { return try LogFrame(transaction.bytes) } catch {
                throw StrataError.corrupt(error, "transactions", .init(path: connection.name))
            }
        }
        let receiver = FrameReceiver(file, blobs)
        try receiver.receive(frames) { try contents(ofBlob: $0) }
        contact.noteEnd(found.last?.number)
    }

    // MARK: The end

    /// Ends receiving; saves go on.
    func stopReceiving() {
        contact.stop()
    }

    func close() {
        endLeases()
        endPosition()
        log.close()
        receiving.waitUntilEnded()
        makeErasures.withLock { $0 = nil }
    }
}
