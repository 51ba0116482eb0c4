public import Foundation
public import StrataModel
import StrataStore

/// How far somebody has come in a store's history; may be kept outside the store, and read back in any process.
public struct HistoryToken: Sendable, Hashable, Codable {
    public let storeIdentifier: UUID
    /// The number of the last transaction that was seen.
    public let transactionNumber: UInt64

    public var transaction: TransactionNumber { TransactionNumber(rawValue: transactionNumber) }

    init(_ container: PersistentContainer, _ transaction: TransactionNumber) {
        storeIdentifier = container.storeIdentifier
        transactionNumber = transaction.rawValue
    }
}

/// One transaction as those get it who follow a store's history. What it did is read when asked for.
public struct TransactionChanges: Sendable {
    public let transaction: HistoryTransaction
    /// Of this transaction: what comes after it is what is new.
    public let token: HistoryToken
    let container: PersistentContainer

    /// Its events, oldest first.
    public func events() throws -> [HistoryEvent] {
        try container.events(from: transaction.firstEvent, through: transaction.lastEvent)
    }

    /// What it did, object by object.
    public func changes() throws -> [ObjectChange] { try container.changes(in: transaction.number) }
}

/// Every transaction after a place in the log, oldest first: those that are there, and then those that come, of this
/// process and of others, until the task is cancelled.
///
/// ```swift
/// for try await change in try container.transactions(since: token) {
///     try index(change.changes())
///     token = change.token
/// }
/// ```
///
/// Each iteration begins at the same place. Transactions of other processes come within a 20th of a second. The
/// sequence throws `storeClosed` when the container is closed.
public struct StoreChanges: AsyncSequence, Sendable {
    let container: PersistentContainer
    let start: TransactionNumber

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(container, start) }

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

        public mutating func next() async throws -> TransactionChanges? {
            while !Task.isCancelled {
                if let transaction = waiting.popFirst() {
                    last = transaction.number
                    return TransactionChanges(
                        transaction: transaction, token: HistoryToken(container, last), container: container)
                }
                // Watched from before the first look, so that nothing comes between.
                if observation == nil { try observe() }
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
    /// The end of the history as a token.
    public func currentHistoryToken() throws -> HistoryToken {
        let last = try store.transactions(before: nil, limit: 1).first?.number ?? .zero
        return HistoryToken(self, last)
    }

    /// What is saved after a token, and goes on being saved; nil begins with the first transaction.
    ///
    /// - Throws: `invalidRequest` for a token of another store, `futureSequence` for one from beyond the end of the log
    ///   (of a backup's future, say), `historyDropped`.
    public func transactions(since token: HistoryToken?) throws -> StoreChanges {
        guard let token else { return StoreChanges(container: self, start: .zero) }
        guard token.storeIdentifier == storeIdentifier else {
            throw StrataError(.invalidRequest, "The token is of another store.")
        }
        _ = try store.eventNumber(of: token.transaction)
        return StoreChanges(container: self, start: token.transaction)
    }

    // MARK: Subscriptions

    /// A consumer of the history whose place is kept in the store, so that every transaction reaches it at least once,
    /// whatever process it runs in and however often it is restarted.
    ///
    /// ```swift
    /// let mailer = try container.subscription(named: "mailer")
    /// for try await change in try mailer.changes() {
    ///     try await send(change)
    ///     try mailer.acknowledge(change.token)
    /// }
    /// ```
    ///
    /// - Parameter start: where a subscription begins that is not there yet; it is made at once.
    /// - Throws: `keyTooLong` over 400 bytes, `readOnly` for one that is to be made.
    public func subscription(named name: String, from start: HistoryMoment = .now) throws -> HistorySubscription {
        if try store.acknowledged(by: name) == nil {
            let place = try store.transaction(containing: try eventNumber(at: start))?.number ?? .zero
            try store.acknowledge(place, by: name)
        }
        return HistorySubscription(container: self, name: name)
    }

    /// Every subscription with the number of the last transaction that it has acknowledged.
    public func subscriptions() throws -> [String: TransactionNumber] { try store.subscriptions() }

    /// Forgets a subscription's place.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func removeSubscription(named name: String) throws -> Bool { try store.removeSubscription(name) }
}

/// A consumer of the history whose place is kept in the store; see `PersistentContainer.subscription(named:from:)`.
public struct HistorySubscription: Sendable {
    let container: PersistentContainer
    public let name: String

    /// The last transaction that was acknowledged.
    ///
    /// - Throws: `unknownKey` when the subscription was removed.
    public func acknowledged() throws -> HistoryToken {
        guard let place = try container.store.acknowledged(by: name) else {
            throw StrataError(.unknownKey, "The store has no subscription \(name).")
        }
        return HistoryToken(container, place)
    }

    /// What has not been acknowledged, and what comes.
    public func changes() throws -> StoreChanges { try container.transactions(since: try acknowledged()) }

    /// Says that everything up to a token has been dealt with; kept as durably as saves are. An older token than the
    /// last does nothing.
    ///
    /// - Throws: `unknownKey` when the subscription was removed, `invalidRequest` for a token of another store,
    ///   `futureSequence`, `readOnly`.
    public func acknowledge(_ token: HistoryToken) throws {
        _ = try acknowledged()
        _ = try container.transactions(since: token)
        try container.store.acknowledge(token.transaction, by: name)
    }
}
