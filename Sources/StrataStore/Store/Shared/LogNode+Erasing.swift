// Rewrites erased transactions in a shared log, and removes large values that no event names.

import Foundation
import LMDB
import StrataModel

extension LogNode {
    /// Checks that this client may rewrite transactions of the log.
    ///
    /// - Throws: `logUnavailable` if the log cannot be reached, or this client may not.
    func checkMayRewrite() throws {
        try contact.ask { () throws(SharedLogFailure) in try log.rewrite([]) }
    }

    /// Whether this client may change transactions of the log; true if the log cannot be asked.
    var mayRewrite: Bool {
        do throws(SharedLogFailure) { try log.rewrite([]) } catch {
            if case .refused = error { return false }
        }
        return true
    }

    /// Replaces the bytes of transactions in the log by those of this store.
    func rewrite(_ numbers: Set<TransactionNumber>) throws {
        let sorted = numbers.sorted()
        for first in stride(from: 0, to: sorted.count, by: 256) {
            let part = sorted[first..<min(sorted.count, first + 256)]
            let transactions = try file.environment.read { transaction in
                let head = try file.readHead(transaction)
                let reader = LogReader(transaction, file.tables, try file.histories(for: head, transaction))
                let frames = try FrameReader(reader, head)
                // Of a log that was cut, a new store has only the state there.
                let first = try reader.baseline()?.transaction ?? .zero
                return try part.filter { $0 > first }.map {
                    SharedTransaction(try frames.encodedFrame($0, path: file.path))
                }
            }
            try contact.ask { () throws(SharedLogFailure) in try log.rewrite(transactions) }
        }
    }

    /// The number of large values that one question to the log names.
    static let digestsAtOnce = 1_000
    /// The number of attempts, since other stores may append meanwhile.
    static let mostAttempts = 50

    /// Removes large values from the log that none of its events names. On the thread that writes.
    ///
    /// The store has the whole log, or as much as the log itself. Only the log knows whether it has moved on since, so
    /// the store receives and looks again until it has not.
    ///
    /// - Throws: `logUnavailable` also if others append all the time.
    func removeUnnamedBlobs() throws {
        var last: Data?
        while true {
            let after = last
            let digests = try contact.ask { () throws(SharedLogFailure) in
                try log.upkeep.blobDigests(after: after, limit: Self.digestsAtOnce)
            }
            guard let end = digests.last else { return }
            try removeUnnamed(of: digests)
            last = end
        }
    }

    private func removeUnnamed(of digests: [Data]) throws {
        for _ in 0..<Self.mostAttempts {
            let (unnamed, end) = try unnamed(of: digests)
            if unnamed.isEmpty { return }
            let isRemoved = try contact.ask { () throws(SharedLogFailure) in
                try log.upkeep.remove(blobs: unnamed, at: end)
            }
            if isRemoved { return }
            let found = try contact.ask { () throws(SharedLogFailure) in
                try log.read(after: end, limitInBytes: Self.stepInBytes)
            }
            try receiveHere(found)
        }
        throw StrataError(
            .logUnavailable,
            "Other machines saved to the shared log \(connection.name) during each of \(Self.mostAttempts) attempts. "
                + "Try again.",
            context: .init(path: file.path))
    }

    /// Returns the digests that no event here names, and the last transaction of which that is known.
    private func unnamed(of digests: [Data]) throws -> (digests: [Data], end: TransactionNumber) {
        try file.environment.read { transaction in
            let head = try file.readHead(transaction)
            let unnamed = try digests.filter { digest in
                try digest.withUnsafeBytes { try transaction.get(file.tables.blobs, $0) } == nil
            }
            return (unnamed, head.transaction)
        }
    }
}
