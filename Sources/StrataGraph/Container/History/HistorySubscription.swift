// Named subscriptions to the history of a store.

public import StrataModel
import StrataStore

extension PersistentContainer {
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
    /// With a shared log, the log keeps the position, and one machine at a time gets the transactions. When it ends or
    /// cannot reach the log for ten seconds, another machine that subscribes goes on after the last one acknowledged.
    ///
    /// - Parameter start: where a new subscription begins. The call writes it to the store.
    /// - Throws: `keyTooLong` for a name of more than 400 bytes, `invalidRequest` for one that is empty, begins or ends with
    ///   a blank or has control characters; `readOnly` when the subscription is new; `logUnavailable` when it is new to
    ///   this machine and the shared log cannot be reached.
    public func subscription(named name: String, from start: HistoryMoment = .now) throws -> HistorySubscription {
        let known = try store.acknowledged(by: name)
        if known == nil {
            try store.checkName(ofSubscription: name)
            var transaction = try store.lastTransaction(upTo: try eventNumber(at: start))
            if let lease = subscriptionLease(name) { transaction = try position(lease, from: transaction) }
            try store.acknowledge(transaction, by: name)
        }
        return HistorySubscription(container: self, name: name)
    }

    /// The position of a subscription in the shared log, which is noted there if the subscription is new.
    private func position(_ lease: LogLease, from start: TransactionNumber) throws -> TransactionNumber {
        let isHeldBefore = lease.fence != nil
        if try lease.take(), lease.knownPosition == nil {
            try lease.note(start.rawValue)
            if !isHeldBefore { lease.end() }
        }
        return lease.knownPosition.map { TransactionNumber(rawValue: $0) } ?? start
    }

    /// The subscriptions by name, with the last transaction that each has acknowledged.
    ///
    /// - Throws: `logUnavailable` if the shared log, which keeps them, cannot be reached.
    public func subscriptions() throws -> [String: TransactionNumber] {
        guard store.sharedLogStatus != nil else { return try store.subscriptions() }
        var found: [String: TransactionNumber] = [:]
        for lease in try store.leases(startingWith: Self.leasePrefix) {
            found[String(lease.name.dropFirst(Self.leasePrefix.count))] =
                TransactionNumber(rawValue: lease.position ?? 0)
        }
        return found
    }

    /// Removes a subscription from the store, and from the log that the store shares.
    ///
    /// - Returns: whether there was one.
    /// - Throws: `readOnly`, `logUnavailable`.
    @discardableResult
    public func removeSubscription(named name: String) throws -> Bool {
        let wasShared = try store.removeLease(Self.leasePrefix + name)
        return try store.removeSubscription(name) || wasShared
    }

    private static let leasePrefix = "subscription "

    /// The lease of a subscription to a shared log; nil for a store with its own.
    func subscriptionLease(_ name: String) -> LogLease? { store.sharedLease(Self.leasePrefix + name) }

    /// Waits until a transaction of the shared log is here.
    func waitForTransaction(_ number: TransactionNumber) async throws {
        while try store.lastTransaction(upTo: try store.head()) < number, !Task.isCancelled {
            try await WorkerThreads.shared.run {
                _ = try self.store.wait(for: number, timeout: .milliseconds(200))
            }
        }
    }
}

/// A named subscription to a store's history, whose position the store keeps.
///
/// `PersistentContainer.subscription(named:from:)` makes one.
public struct HistorySubscription: Sendable {
    let container: PersistentContainer
    /// The name in the store.
    public let name: String

    /// The position of the subscription: right after the last transaction that was acknowledged. With a shared log, as
    /// far as this machine knows.
    ///
    /// - Throws: `unknownKey` when the subscription was removed.
    public func acknowledged() throws -> HistoryToken {
        guard let transaction = try container.store.acknowledged(by: name) else {
            throw StrataError(.unknownKey, "The store has no subscription \(name).")
        }
        return HistoryToken(container, transaction)
    }

    /// The transactions that have not been acknowledged, those to come included. With a shared log the sequence waits
    /// while another machine gets them.
    ///
    /// - Throws: `unknownKey` when the subscription was removed.
    public func transactions() throws -> TransactionStream {
        var stream = try container.transactions(since: try acknowledged())
        stream.subscription = container.subscriptionLease(name).map { LeasedSubscription(name: name, lease: $0) }
        return stream
    }

    /// Records that the subscriber has processed everything up to a token, as durably as a save. A token older than
    /// the last one changes nothing.
    ///
    /// - Throws: `unknownKey` when the subscription was removed, `invalidRequest` for a token of another store,
    ///   `futureEvent`, `readOnly`; with a shared log `leaseLost` if another machine has taken the subscription over,
    ///   and `logUnavailable`.
    public func acknowledge(_ token: HistoryToken) throws {
        _ = try acknowledged()
        _ = try container.transactions(since: token)
        if let lease = container.subscriptionLease(name) { try lease.note(token.transaction.rawValue) }
        try container.store.acknowledge(token.transaction, by: name)
    }
}

/// A subscription to a shared log: its name, and its lease, which has its position.
struct LeasedSubscription: Sendable {
    let name: String
    let lease: LogLease

    /// Notes here how far other machines have come, so that this store keeps no history for what they have done.
    func follow(_ store: Store) throws {
        guard let position = lease.knownPosition.map({ TransactionNumber(rawValue: $0) }),
            let known = try store.acknowledged(by: name), known < position,
            position <= (try store.lastTransaction(upTo: try store.head()))
        else { return }
        try store.acknowledge(position, by: name)
    }
}
