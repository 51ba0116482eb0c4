import Foundation
package import StrataModel

extension Store {
    /// Copies the store's log to a shared one that is empty or holds a beginning of it. Then the store can be opened
    /// with that log. Interrupted, it goes on where it ended.
    ///
    /// - Returns: the last transaction of the shared log.
    /// - Throws: `divergedLog` if the shared log is another one; `historyDropped` if this one has no beginning any
    ///   more; `logUnavailable`.
    package func fill(
        _ connection: SharedLogConnection, progress: ProgressHandler? = nil
    ) throws -> TransactionNumber {
        let log = try connection.connect()
        defer { log.close() }
        let contact = LogContact(connection)
        let mine = SharedLogIdentity(
            identifier: identifier, lineage: lineage, createdMicroseconds: file.header.createdMicroseconds)
        let (theirs, begun) = try contact.ask { () throws(SharedLogFailure) in try log.open(founder: mine) }
        guard theirs.identifier == identifier else {
            throw StrataError(
                .divergedLog, "The shared log \(connection.name) is of another store.", context: .init(path: path))
        }
        let rows = try newRows(count: 1).lowerBound
        _ = try contact.ask { () throws(SharedLogFailure) in try log.leaseRows(rows) }
        let last = try logPosition().transaction
        var end = begun
        var counter = ProgressCounter(
            "filling the shared log", from: Int(end.transaction.rawValue), total: Int(last.rawValue), progress)
        while end.transaction < last {
            let frames = try frames(after: end.transaction, limitInBytes: 4 << 20)
            for digest in frames.flatMap(\.blobDigests) {
                guard let data = blob(digest: digest) else {
                    throw StrataError(
                        .missingBlob, "A large value of the store is missing or damaged.", context: .init(path: path))
                }
                try contact.ask { () throws(SharedLogFailure) in try log.put(blob: data, digest: digest) }
            }
            let transactions = frames.map { SharedTransaction($0.encoded) }
            guard let next = transactions.last?.end else { break }
            let after = end
            let answer = try contact.ask { () throws(SharedLogFailure) in try log.append(transactions, after: after) }
            guard answer == .appended else {
                throw StrataError(
                    .divergedLog,
                    "Another store appends to the shared log \(connection.name). Fill a log that no store uses yet.",
                    context: .init(path: path))
            }
            end = next
            for _ in frames { counter.step() }
        }
        return end.transaction
    }
}
