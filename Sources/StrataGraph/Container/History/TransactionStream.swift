// The transactions of a store as an asynchronous sequence (`TransactionStream`), and positions in it.

public import Foundation
public import StrataModel
import StrataStore

/// A position in a store's history: everything up to one transaction has been seen.
///
/// It can be encoded, kept outside the store and read back in any process.
public struct HistoryToken: Sendable, Hashable, Codable {
    /// The store whose history it is a position of.
    public let storeIdentifier: UUID
    /// The raw number of the last transaction that was seen.
    public let transactionNumber: UInt64

    /// The last transaction that was seen.
    public var transaction: TransactionNumber { TransactionNumber(rawValue: transactionNumber) }

    init(_ container: PersistentContainer, _ transaction: TransactionNumber) {
        storeIdentifier = container.storeIdentifier
        transactionNumber = transaction.rawValue
    }
}

/// One transaction of a store's history, with access to its changes.
public struct TransactionChanges: Sendable {
    /// The save: its author, date and metadata.
    public let transaction: HistoryTransaction
    /// The position right after this transaction.
    public let token: HistoryToken
    let container: PersistentContainer

    /// Reads the events of the transaction, oldest first.
    ///
    /// - Throws: `historyDropped`, `corrupt`, `storeClosed`.
    public func events() throws -> [HistoryEvent] {
        try container.events(from: transaction.firstEvent, through: transaction.lastEvent)
    }

    /// Reads the changes of the transaction, one value an object.
    ///
    /// - Throws: `historyDropped`, `corrupt`, `storeClosed`.
    public func changes() throws -> [ObjectChange] { try container.changes(in: transaction.number) }
}

/// The transactions after a position in the history, oldest first: first those in the log, then each new one, from this
/// process or another, until the task is cancelled.
///
/// ```swift
/// for try await change in try container.transactions(since: token) {
///     try index(change.changes())
///     token = change.token
/// }
/// ```
///
/// Every iteration begins at the same position. Transactions of other processes arrive within a 20th of a second. The
/// sequence throws `storeClosed` when the container is closed.
public struct TransactionStream: AsyncSequence, Sendable {
    let container: PersistentContainer
    let start: TransactionNumber
    /// The subscription to a shared log whose lease is needed for a transaction to be delivered.
    var subscription: LeasedSubscription?

    /// Begins at the position of the sequence.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(container, start, subscription) }

    /// The interval at which a waiting subscriber checks whether it has the lease.
    private static let leasePause = Duration.milliseconds(50)

    /// One pass over the transactions.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let container: PersistentContainer
        private var last: TransactionNumber
        private var waiting: ArraySlice<HistoryTransaction> = []
        private var news: AsyncStream<Void>.Iterator?
        private var observation: HeadObservation?
        private let subscription: LeasedSubscription?
        /// Wants the lease as long as the iterator lives.
        private let claim: LeaseClaim?
        /// Under which the waiting transactions were read.
        private var fence: UInt64?

        init(_ container: PersistentContainer, _ start: TransactionNumber, _ subscription: LeasedSubscription?) {
            self.container = container
            self.subscription = subscription
            last = start
            claim = subscription?.lease.claim()
        }

        /// Waits for the next transaction; nil when the task is cancelled.
        ///
        /// - Throws: `storeClosed`, `corrupt`; `historyDropped` if the history was truncated beyond the position.
        public mutating func next() async throws -> TransactionChanges? {
            while !Task.isCancelled {
                guard try await holdsLease() else { break }
                if let transaction = waiting.popFirst() {
                    last = transaction.number
                    return TransactionChanges(
                        transaction: transaction, token: HistoryToken(container, last), container: container)
                }
                // Observing begins before the first read, so that no transaction is missed between the two.
                if observation == nil { try observe() }
                try container.store.checkKept(after: last)
                waiting = try container.transactions(after: last, limit: 100)[...]
                if waiting.isEmpty, await news?.next() == nil { break }
            }
            return nil
        }

        /// Waits until the lease is held. Under a new one the transactions begin after the last that was acknowledged,
        /// on whichever machine.
        ///
        /// - Returns: false if the task is cancelled.
        private mutating func holdsLease() async throws -> Bool {
            guard let lease = subscription?.lease else { return true }
            while true {
                try subscription?.follow(container.store)
                if let held = lease.fence {
                    guard held != fence else { return true }
                    fence = held
                    waiting = []
                    if let position = lease.knownPosition { last = TransactionNumber(rawValue: position) }
                    try await container.waitForTransaction(last)
                    continue
                }
                try container.store.checkOpen()
                do {
                    try await Task.sleep(for: TransactionStream.leasePause)
                } catch {
                    return false
                }
            }
        }

        private mutating func observe() throws {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            news = stream.makeAsyncIterator()
            observation = try container.store.observeHead(onClose: { continuation.yield() }) { _ in
                continuation.yield()
            }
        }
    }
}

extension PersistentContainer {
    /// The position at the end of the history.
    ///
    /// - Throws: `storeClosed`, `corrupt`.
    public func currentHistoryToken() throws -> HistoryToken {
        return HistoryToken(self, try store.lastTransaction(upTo: try store.head()))
    }

    /// The transactions after a token, those to come included; nil begins with the first transaction that is kept.
    ///
    /// - Throws: `invalidRequest` for a token of another store, `futureEvent` for one beyond the end of the log (the
    ///   store may have been restored from a backup), `historyDropped` for one before the kept history, with the
    ///   baseline to start from in `context.baseline`.
    public func transactions(since token: HistoryToken?) throws -> TransactionStream {
        guard let token else {
            return TransactionStream(container: self, start: try store.baseline()?.transaction ?? .zero)
        }
        guard token.storeIdentifier == storeIdentifier else {
            throw StrataError(.invalidRequest, "The token is of another store.")
        }
        try store.checkKept(after: token.transaction)
        _ = try store.eventNumber(of: token.transaction)
        return TransactionStream(container: self, start: token.transaction)
    }
}
