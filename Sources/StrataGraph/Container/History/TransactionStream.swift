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

/// One transaction of a store's history, with access to what it changed.
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

    /// Reads what the transaction changed, object by object.
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

    /// Begins at the position of the sequence.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(container, start) }

    /// One pass over the transactions.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let container: PersistentContainer
        private var last: TransactionNumber
        private var waiting: ArraySlice<HistoryTransaction> = []
        private var news: AsyncStream<Void>.Iterator?
        private var observation: HeadObservation?

        init(_ container: PersistentContainer, _ start: TransactionNumber) {
            self.container = container
            last = start
        }

        /// Waits for the next transaction; nil when the task is cancelled.
        ///
        /// - Throws: `storeClosed`, `corrupt`; `historyDropped` if the history was truncated beyond the position.
        public mutating func next() async throws -> TransactionChanges? {
            while !Task.isCancelled {
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

    // MARK: Subscriptions

    /// Subscribes to the history: the store keeps the subscription's position, so every transaction is delivered at
    /// least once, in whatever process the subscriber runs and however often it restarts.
    ///
    /// ```swift
    /// let mailer = try container.subscription(named: "mailer")
    /// for try await change in try mailer.transactions() {
    ///     try await send(change)
    ///     try mailer.acknowledge(change.token)
    /// }
    /// ```
    ///
    /// - Parameter start: where a new subscription begins. The call writes it to the store.
    /// - Throws: `keyTooLong` for a name of more than 400 bytes; `readOnly` when the subscription is new.
    public func subscription(named name: String, from start: HistoryMoment = .now) throws -> HistorySubscription {
        if try store.acknowledged(by: name) == nil {
            let transaction = try store.lastTransaction(upTo: try eventNumber(at: start))
            try store.acknowledge(transaction, by: name)
        }
        return HistorySubscription(container: self, name: name)
    }

    /// The subscriptions by name, with the last transaction that each has acknowledged.
    public func subscriptions() throws -> [String: TransactionNumber] { try store.subscriptions() }

    /// Removes a subscription from the store.
    ///
    /// - Returns: whether there was one.
    /// - Throws: `readOnly`.
    @discardableResult
    public func removeSubscription(named name: String) throws -> Bool { try store.removeSubscription(name) }
}

/// A named subscription to a store's history, whose position the store keeps.
///
/// `PersistentContainer.subscription(named:from:)` makes one.
public struct HistorySubscription: Sendable {
    let container: PersistentContainer
    /// The name in the store.
    public let name: String

    /// The position of the subscription: right after the last transaction that was acknowledged.
    ///
    /// - Throws: `unknownKey` when the subscription was removed.
    public func acknowledged() throws -> HistoryToken {
        guard let transaction = try container.store.acknowledged(by: name) else {
            throw StrataError(.unknownKey, "The store has no subscription \(name).")
        }
        return HistoryToken(container, transaction)
    }

    /// The transactions that have not been acknowledged, those to come included.
    ///
    /// - Throws: `unknownKey` when the subscription was removed.
    public func transactions() throws -> TransactionStream { try container.transactions(since: try acknowledged()) }

    /// Records that the subscriber has processed everything up to a token, as durably as a save. A token older than
    /// the last one changes nothing.
    ///
    /// - Throws: `unknownKey` when the subscription was removed, `invalidRequest` for a token of another store,
    ///   `futureEvent`, `readOnly`.
    public func acknowledge(_ token: HistoryToken) throws {
        _ = try acknowledged()
        _ = try container.transactions(since: token)
        try container.store.acknowledge(token.transaction, by: name)
    }
}
