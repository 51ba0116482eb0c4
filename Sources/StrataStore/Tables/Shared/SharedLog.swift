package import Foundation
package import StrataModel

/// A log outside of the store, which the stores of several machines share.
///
/// Its order is the order in which appends were accepted, and each store with this log holds a prefix of it. An append
/// names the end of the log that it was made for; if the log has moved on meanwhile, nothing is appended and the answer
/// has what is missing. So an append that arrives late or twice does no harm.
///
/// Every call may block, at most about as long as the log's own timeout, and may be made from any thread.
package protocol SharedLog: Sendable {
    /// Begins the log with this identity, unless it has one.
    ///
    /// - Parameter founder: nil refuses a log that was not begun.
    /// - Returns: the identity that it has, and its end.
    func open(founder: SharedLogIdentity?) throws(SharedLogFailure) -> (identity: SharedLogIdentity, end: SharedLogEnd)

    /// Appends transactions if the log ends at `end`. All of them are durable when this returns `appended`, or none.
    ///
    /// - Parameter transactions: at least one; in order, each with an id that the log does not have, and with the large
    ///   values that it names.
    /// - Returns: `appended` also if an earlier call has appended the same transactions.
    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd
    ) throws(SharedLogFailure) -> SharedAppendAnswer

    /// The same with work that is done while the log answers.
    ///
    /// - Parameter meanwhile: is called at most once for each question that is sent.
    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd, meanwhile: () -> Void
    ) throws(SharedLogFailure) -> SharedAppendAnswer

    /// The transactions after one, in order.
    ///
    /// - Parameter limitInBytes: ends once this is exceeded; at least one transaction is returned if there is one.
    func read(after number: TransactionNumber, limitInBytes: Int) throws(SharedLogFailure) -> [SharedTransaction]

    /// The digest of a transaction, 32 bytes; nil if the log has none with this number.
    func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]?

    /// Waits until the log has a transaction after `number`, or for `timeout`.
    ///
    /// - Returns: the last transaction of the log.
    func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber

    /// Takes row numbers that were never given before, without a gap between them.
    func leaseRows(_ count: UInt64) throws(SharedLogFailure) -> Range<UInt64>

    /// Keeps a large value under its digest. Does nothing if the log has it.
    func put(blob: Data, digest: Data) throws(SharedLogFailure)

    /// The bytes of a large value; nil if there are none.
    func blob(digest: Data) throws(SharedLogFailure) -> Data?

    /// Replaces the bytes of transactions from which values were erased. Their numbers and digests stay; those that the
    /// log does not have with this digest are passed over, so that a call that arrives late or twice does no harm.
    ///
    /// - Throws: `refused` if the client has no right to do so, also without any transactions.
    func rewrite(_ transactions: [SharedTransaction]) throws(SharedLogFailure)

    /// The leases in the log's database.
    var leases: any SharedLeases { get }

    /// The operations that keep the log small.
    var upkeep: any SharedLogUpkeep { get }

    /// Ends calls that wait. Calls afterwards throw `unreachable`.
    func close()
}

extension SharedLog {
    package func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd, meanwhile: () -> Void
    ) throws(SharedLogFailure) -> SharedAppendAnswer {
        meanwhile()
        return try append(transactions, after: end)
    }
}

/// The identity of a shared log. A store that joins the log takes it over.
package struct SharedLogIdentity: Sendable, Hashable {
    /// The id of every store with this log, part of each object's URI.
    package var identifier: UUID
    package var lineage: UUID
    package var createdMicroseconds: Int64

    package init(identifier: UUID, lineage: UUID, createdMicroseconds: Int64) {
        self.identifier = identifier
        self.lineage = lineage
        self.createdMicroseconds = createdMicroseconds
    }

    /// A new one.
    static func make(at date: Date) -> SharedLogIdentity {
        SharedLogIdentity(
            identifier: UUID(), lineage: UUID(), createdMicroseconds: Int64(date.timeIntervalSince1970 * 1_000_000))
    }
}

/// The last transaction of a log.
package struct SharedLogEnd: Sendable, Hashable {
    package var transaction: TransactionNumber
    package var event: EventNumber
    /// The digest of the last transaction, chained to all before; 32 bytes, zeros for an empty log.
    package var digest: [UInt8]

    package init(transaction: TransactionNumber, event: EventNumber, digest: [UInt8]) {
        self.transaction = transaction
        self.event = event
        self.digest = digest
    }

    /// The end of an empty log.
    package static let start = SharedLogEnd(
        transaction: .zero, event: .zero, digest: [UInt8](repeating: 0, count: 32))
}

/// A transaction of a shared log: its bytes, and the fields that the log itself uses.
package struct SharedTransaction: Sendable, Hashable {
    package var number: TransactionNumber
    package var id: UUID
    package var firstEvent: EventNumber
    package var eventCount: Int
    /// Chained to the transaction before, 32 bytes.
    package var digest: [UInt8]
    /// The transaction as a `LogFrame`.
    package var bytes: Data
    /// The digests of the large values that the log must have for this transaction; empty in one that was read.
    package var blobs: [Data] = []

    package init(
        number: TransactionNumber, id: UUID, firstEvent: EventNumber, eventCount: Int, digest: [UInt8], bytes: Data
    ) {
        self.number = number
        self.id = id
        self.firstEvent = firstEvent
        self.eventCount = eventCount
        self.digest = digest
        self.bytes = bytes
    }

    /// The end of a log whose last transaction this is.
    package var end: SharedLogEnd {
        SharedLogEnd(
            transaction: number, event: EventNumber(rawValue: firstEvent.rawValue + UInt64(eventCount) - 1),
            digest: digest)
    }
}

/// The log's answer to an append.
package enum SharedAppendAnswer: Sendable, Hashable {
    case appended
    /// Nothing was appended: the log has these after the end that was expected, and perhaps more after them.
    case overtaken([SharedTransaction])
    /// Nothing was appended: the log does not have these large values any more, by their digests.
    case lacking([Data])
}

/// The reason why a call to a shared log has no result.
package enum SharedLogFailure: Error, Sendable, CustomStringConvertible {
    /// The log could not be reached; nothing was asked of it.
    case unreachable(String)
    /// The question was sent, and no answer came: the operation may have been done, or may be done later.
    case answerLost(String)
    /// The log has answered that it will not; asking again will not help.
    case refused(StrataError)

    /// The reason as a clause.
    package var description: String {
        switch self {
        case .unreachable(let reason): reason
        case .answerLost(let reason): "no answer came: \(reason)"
        case .refused(let error): error.description
        }
    }
}

extension StrataError {
    /// A log that was not begun.
    package static func missingLog(_ name: String) -> StrataError {
        StrataError(
            .persistentStoreOpen, "There is no shared log named \(name). The first container that opens it begins it.")
    }

    /// The log was cut after the last transaction that a store has.
    package static func behindCut(_ reason: String) -> StrataError {
        StrataError(
            .historyDropped,
            "The store is behind what is left of the shared log: \(reason). Open it again: it is made anew from the "
                + "snapshot in the log.")
    }

    /// The log does not have the transaction that a store ends with.
    package static func diverged(at end: SharedLogEnd) -> StrataError {
        StrataError(
            .divergedLog,
            "The shared log does not have transaction \(end.transaction) as this store has it: the log has lost "
                + "transactions, or is another one. Restore the log, or move the store away and let it be made anew.",
            context: .init(eventNumber: end.event))
    }
}

/// The connection of a store to its shared log.
package struct SharedLogConnection: Sendable {
    /// Makes a client of the log. It connects when it is first used.
    package var connect: @Sendable () throws -> any SharedLog
    /// The log's name in messages, without passwords.
    package var name: String
    /// The time that a save tries to reach the log before it throws `logUnavailable` or `inDoubt`.
    package var timeout: Duration
    /// The interval at which a store reports its position to the log.
    package var positionInterval = Duration.seconds(60)
    /// Whether an existing store opens with its own transactions, and receives the rest afterwards.
    package var catchesUpAfterOpening = false

    package init(name: String, timeout: Duration, connect: @escaping @Sendable () throws -> any SharedLog) {
        self.connect = connect
        self.name = name
        self.timeout = timeout
    }
}
