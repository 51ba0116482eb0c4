import Foundation
public import StrataModel
import StrataStore

/// Makes the tables for shared logs in a PostgreSQL database.
public enum PostgresSetup {
    /// The roles that may use the logs of a database.
    public enum Access: Sendable, Hashable {
        /// Only the role that makes the tables, and those to whom it grants rights.
        case owner
        /// The members of two roles, which are made if they are missing: of `strata_append`, which may read logs and
        /// append to them, and of `strata_maintain`, which may change the tables. Making roles needs the right to do
        /// so.
        case roles
    }

    /// Makes the tables of shared logs in the schema `strata`, or brings older ones up to date; in one transaction.
    /// Several may do so at once, and stores may read and save meanwhile.
    ///
    /// Bringing tables up to date needs a moment without readers. While a long reader is at work, such as a backup of
    /// the database, the attempt is repeated, and saves continue in between.
    ///
    /// - Parameter address: a connection URI or string as libpq has them, with the rights to make a schema.
    /// - Returns: the version of the tables before, 0 if there were none, and now.
    /// - Throws: `logUnavailable` with what PostgreSQL says.
    @discardableResult
    public static func makeTables(
        at address: String, access: Access = .owner, timeout: Duration = .seconds(30)
    ) throws(StrataError) -> (before: Int, now: Int) {
        do throws(SharedLogFailure) {
            let deadline = ContinuousClock.now + timeout
            while true {
                let connection = try PostgresConnection(address, deadline: deadline)
                do throws(SharedLogFailure) {
                    return try makeTables(connection, access, deadline)
                } catch {
                    // This ends: each round, the other connection has made at least one thing more.
                    guard let code = connection.lastRefusal, .now < deadline else { throw error }
                    switch code {
                    case isInUse: Thread.sleep(forTimeInterval: 0.3)
                    case _ where madeByAnother.contains(code): continue
                    default: throw error
                    }
                }
            }
        } catch {
            if case .refused(let refusal) = error { throw refusal }
            throw StrataError(
                .logUnavailable, "The tables could not be made in \(PostgresLog.name(of: address)): \(error).",
                cause: error)
        }
    }

    /// PostgreSQL's error codes for two connections that make the same things at once, because `if not exists` does not
    /// wait: an existing key, schema, table or role, and transactions that block each other.
    private static let madeByAnother: Set = ["23505", "42P06", "42P07", "42710", "40001", "40P01"]

    /// PostgreSQL's error codes for a table that others held for longer than `lock_timeout`.
    private static let isInUse = "55P03"

    private static func makeTables(
        _ connection: PostgresConnection, _ access: Access, _ deadline: ContinuousClock.Instant
    ) throws(SharedLogFailure) -> (before: Int, now: Int) {
        func run(_ statement: String) throws(SharedLogFailure) {
            _ = try connection.run(statement, deadline: deadline)
        }
        try run("set client_min_messages = warning")
        try run("begin")
        // While this waits for a lock, every later request for the table waits behind it. So it waits a second at most.
        try run("set local lock_timeout = '1s'")
        for statement in PostgresTables.preparation { try run(statement) }
        try run("lock table strata.versions in exclusive mode")
        let rows = try connection.run("select coalesce(max(version), 0) from strata.versions", deadline: deadline)
        let version = rows.integer(0, 0) ?? 0
        guard version <= PostgresTables.version else {
            throw .refused(PostgresLog.newer(version))
        }
        for (index, step) in PostgresTables.steps.enumerated() where index >= Int(version) {
            for statement in step { try run(statement) }
            try run("insert into strata.versions(version) values (\(index + 1))")
        }
        let isGranted = try connection.run(PostgresTables.hasGrants, deadline: deadline).integer(0, 0) == 1
        if access == .roles || isGranted {
            if access == .roles { try run(PostgresTables.roles) }
            for statement in PostgresTables.grants { try run(statement) }
        }
        try run("commit")
        return (Int(version), Int(PostgresTables.version))
    }
}
