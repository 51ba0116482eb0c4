// Lists the shared logs of a PostgreSQL database.

public import Foundation
public import StrataModel
import StrataStore

/// A shared log of a database.
public struct PostgresLogSummary: Sendable, Hashable {
    /// The name of the log in the database.
    public let lineage: String
    /// The id of every store with this log.
    public let storeIdentifier: UUID
    /// The last transaction.
    public let transaction: TransactionNumber
    /// The last event.
    public let event: EventNumber
}

extension PostgresSetup {
    /// The shared logs of a database, by name.
    ///
    /// - Parameter address: a connection URI or string as libpq has them.
    /// - Throws: `logUnavailable` with what PostgreSQL says.
    public static func logs(
        at address: String, timeout: Duration = .seconds(30)
    ) throws(StrataError) -> [PostgresLogSummary] {
        do throws(SharedLogFailure) {
            let deadline = ContinuousClock.now + timeout
            let rows = try PostgresConnection(address, deadline: deadline).run(
                "select lineage, identifier, number, event from strata.logs order by lineage", deadline: deadline)
            var logs: [PostgresLogSummary] = []
            for row in 0..<rows.count {
                guard let lineage = rows.text(row, 0), let identifier = rows.uuid(row, 1),
                    let number = rows.integer(row, 2), let event = rows.integer(row, 3)
                else { throw PostgresLog.unreadable }
                logs.append(
                    PostgresLogSummary(
                        lineage: lineage, storeIdentifier: identifier,
                        transaction: TransactionNumber(rawValue: number), event: EventNumber(rawValue: event)))
            }
            return logs
        } catch {
            if case .refused(let refusal) = error { throw refusal }
            throw StrataError(
                .logUnavailable, "The logs of \(PostgresLog.name(of: address)) cannot be listed: \(error).",
                cause: error)
        }
    }
}
