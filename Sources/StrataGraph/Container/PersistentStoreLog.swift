public import Foundation
public import StrataModel
package import StrataStore

/// A log that stores on several machines share. `StrataPostgres` makes one of a PostgreSQL database.
public struct PersistentStoreLog: Sendable, CustomStringConvertible {
    package let connection: SharedLogConnection

    package init(_ connection: SharedLogConnection) { self.connection = connection }

    /// The log's name in messages, without a password.
    public var description: String { connection.name }

    /// The same log for a store that opens at once, and receives earlier transactions in the background.
    ///
    /// Contexts first show the state that the store had, and then later ones. `PersistentContainer.catchUp()` waits for
    /// all, and a save is checked at the end of the log as always. A store that is new, or that is opened with another
    /// model than it has, receives everything first.
    public func catchingUpAfterOpening() -> PersistentStoreLog {
        var connection = connection
        connection.catchesUpAfterOpening = true
        return PersistentStoreLog(connection)
    }
}

/// A place in the history of a store or of a shared log, such as the end of a save, which another process or machine
/// can wait for.
public struct StoreToken: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The id of the store, the same for all stores that share a log.
    public let storeIdentifier: UUID
    /// The number of the transaction.
    public let transaction: TransactionNumber

    /// A token with these parts.
    public init(storeIdentifier: UUID, transaction: TransactionNumber) {
        self.storeIdentifier = storeIdentifier
        self.transaction = transaction
    }

    /// Reads a token from its `description`; nil for other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let identifier = UUID(uuidString: String(parts[0])), let number = UInt64(parts[1])
        else {
            return nil
        }
        self.init(storeIdentifier: identifier, transaction: TransactionNumber(rawValue: number))
    }

    /// The token as text, for a header or a cookie.
    public var description: String { "\(storeIdentifier.uuidString)/\(transaction.rawValue)" }
}

/// The state of a store's connection to the log that it shares.
public struct SharedLogState: Sendable {
    /// The log's name, without a password.
    public let name: String
    /// Whether the last question was answered.
    public let isReachable: Bool
    /// When the log last answered; nil if it has not since the store was opened. What the store shows is at most so
    /// old.
    public let lastAnswer: Date?
    /// The last transaction that the log is known to have.
    public let end: TransactionNumber
    /// The last transaction that the store has.
    public let transaction: TransactionNumber
    /// The reason why the last question was not answered.
    public let failure: String?
    /// The reason why nothing is received any more until the store is opened again, such as `divergedLog` or
    /// `modelChanged`.
    public let problem: StrataError?
}

extension PersistentContainer {
    /// The end of the store's log as it is here. A save of this container before is included.
    ///
    /// - Throws: `storeClosed`.
    public func token() throws -> StoreToken {
        StoreToken(storeIdentifier: storeIdentifier, transaction: try store.logPosition().transaction)
    }

    /// Blocks until the store has what a token speaks of, so that a context made afterwards shows it: to read what was
    /// written on another machine.
    ///
    /// - Throws: `persistentStoreTimeout` if it has not come by then; `invalidRequest` for a token of another store.
    public func wait(for token: StoreToken, timeout: Duration = .seconds(10)) throws {
        guard token.storeIdentifier == storeIdentifier else {
            throw StrataError(.invalidRequest, "The token is of another store, \(token.storeIdentifier).")
        }
        guard try store.wait(for: token.transaction, timeout: timeout) else {
            try Task.checkCancellation()
            throw StrataError(
                .persistentStoreTimeout, "The store does not have transaction \(token.transaction) yet.",
                context: .init(path: store.path))
        }
    }

    /// The same without blocking the caller's thread. It ends when its task is cancelled.
    public func wait(for token: StoreToken, timeout: Duration = .seconds(10)) async throws {
        try await WorkerThreads.shared.run { try self.wait(for: token, timeout: timeout) as Void }
    }

    /// Brings the store to the end of the shared log as of this call, for reads that must not miss what others have
    /// saved before. Does nothing for a store with a log of its own.
    ///
    /// - Throws: `logUnavailable`, `divergedLog`; `modelChanged` if another machine has installed a newer model.
    public func catchUp() throws { try store.catchUp() }

    /// The state of the store's connection to its shared log; nil if its log is its own.
    ///
    /// - Throws: `storeClosed`.
    public func sharedLogState() throws -> SharedLogState? {
        guard let status = store.sharedLogStatus else { return nil }
        let here = try store.logPosition().transaction
        return SharedLogState(
            name: status.name, isReachable: status.isReachable, lastAnswer: status.lastAnswer,
            end: max(status.end, here), transaction: here, failure: status.failure, problem: status.problem)
    }
}
