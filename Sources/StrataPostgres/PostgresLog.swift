import Foundation
import Locking
import StrataModel
import StrataStore

/// A shared log in a PostgreSQL database: one row says where it ends, and an append locks it.
///
/// It has two connections. One asks, a question at a time. The other waits for notifications (`PostgresNews`) and sends
/// those about this process's appends.
final class PostgresLog: SharedLog {
    private let address: String
    private let lineage: String
    private let timeout: Duration
    /// The connection for questions; nil before the first and after it broke.
    private let connection = Locked<Slot>(Slot())
    private let news: PostgresNews
    private let isClosed = Locked(false)

    private struct Slot {
        var connection: PostgresConnection?
        /// Whether the version of the tables was checked.
        var isChecked = false
    }

    /// - Parameter timeout: for one question.
    init(_ address: String, lineage: String, timeout: Duration) {
        self.address = address
        self.lineage = lineage
        self.timeout = timeout
        news = PostgresNews(address, lineage: lineage, timeout: timeout)
    }

    /// The address without its password, for messages.
    static func name(of address: String) -> String {
        if let scheme = address.firstRange(of: "://") {
            let rest = address[scheme.upperBound...].prefix { $0 != "?" }
            let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
            return "postgresql://\(place)"
        }
        let parts = address.split(separator: " ").filter { part in
            ["host=", "port=", "dbname=", "service="].contains { part.hasPrefix($0) }
        }
        return "postgresql: " + parts.joined(separator: " ")
    }

    static func newer(_ version: UInt64) -> StrataError {
        StrataError(
            .logUnavailable,
            "The database has tables of version \(version) for shared logs, and this version of Strata knows "
                + "\(PostgresTables.version). Use a newer version of Strata.")
    }

    // MARK: Asking

    /// Asks on the connection. If it had been open and is closed by now, asks once more on a new one: servers and
    /// proxies end idle connections. Every question can be asked twice without harm.
    func ask<R>(
        _ body: (PostgresConnection, ContinuousClock.Instant) throws(SharedLogFailure) -> R
    ) throws(SharedLogFailure) -> R {
        try connection.withLock { slot throws(SharedLogFailure) in
            guard !isClosed.withLock({ $0 }) else { throw .unreachable("the log is closed") }
            let deadline = ContinuousClock.now + timeout
            let wasOpen = slot.connection != nil
            do throws(SharedLogFailure) {
                return try attempt(&slot, deadline, body)
            } catch {
                if case .refused = error { throw error }
                guard wasOpen, ContinuousClock.now < deadline else { throw error }
                return try again(&slot, deadline, after: error, body)
            }
        }
    }

    private func attempt<R>(
        _ slot: inout Slot, _ deadline: ContinuousClock.Instant,
        _ body: (PostgresConnection, ContinuousClock.Instant) throws(SharedLogFailure) -> R
    ) throws(SharedLogFailure) -> R {
        do throws(SharedLogFailure) {
            return try body(try connected(&slot, deadline), deadline)
        } catch {
            // After a refusal the connection can still be used.
            if case .refused = error { throw slot.connection.map { explained(error, $0, deadline) } ?? error }
            slot.connection = nil
            throw error
        }
    }

    /// The error that the tables have another version by now, if that is why something is missing there.
    private func explained(
        _ refusal: SharedLogFailure, _ connection: PostgresConnection, _ deadline: ContinuousClock.Instant
    ) -> SharedLogFailure {
        guard let code = connection.lastRefusal, PostgresConnection.missing.contains(code) else { return refusal }
        do throws(SharedLogFailure) { try Self.checkVersion(connection, deadline) } catch {
            if case .refused = error { return error }
        }
        return refusal
    }

    private func again<R>(
        _ slot: inout Slot, _ deadline: ContinuousClock.Instant, after first: SharedLogFailure,
        _ body: (PostgresConnection, ContinuousClock.Instant) throws(SharedLogFailure) -> R
    ) throws(SharedLogFailure) -> R {
        do throws(SharedLogFailure) {
            return try attempt(&slot, deadline, body)
        } catch {
            // The first question may have been carried out.
            if case .answerLost = first, case .unreachable = error { throw first }
            throw error
        }
    }

    /// Runs one statement.
    func ask(_ statement: String, _ values: [PostgresValue]) throws(SharedLogFailure) -> PostgresRows {
        try ask { connection, deadline throws(SharedLogFailure) in
            try connection.run(statement, values, deadline: deadline)
        }
    }

    private func connected(
        _ slot: inout Slot, _ deadline: ContinuousClock.Instant
    ) throws(SharedLogFailure) -> PostgresConnection {
        if let connection = slot.connection { return connection }
        let made = try PostgresConnection(address, deadline: deadline)
        if !slot.isChecked {
            try Self.checkVersion(made, deadline)
            slot.isChecked = true
        }
        slot.connection = made
        return made
    }

    /// - Throws: `refused` if the tables are not of the version that this code uses.
    private static func checkVersion(
        _ connection: PostgresConnection, _ deadline: ContinuousClock.Instant
    ) throws(SharedLogFailure) {
        do throws(SharedLogFailure) {
            let rows = try connection.run("select coalesce(max(version), 0) from strata.versions", deadline: deadline)
            let version = rows.integer(0, 0) ?? 0
            if version > PostgresTables.version { throw .refused(newer(version)) }
            if version < PostgresTables.version { throw .refused(older(version)) }
        } catch {
            // Nothing but a question was asked.
            if case .answerLost(let reason) = error { throw .unreachable(reason) }
            throw error
        }
    }

    private static func older(_ version: UInt64) -> StrataError {
        StrataError(
            .logUnavailable,
            "The database has tables of version \(version) for shared logs, and this version of Strata needs "
                + "\(PostgresTables.version). Run 'strata shared init'.")
    }

    private var log: PostgresValue { .text(lineage) }

    func open(
        founder: SharedLogIdentity?
    ) throws(SharedLogFailure) -> (identity: SharedLogIdentity, end: SharedLogEnd) {
        try ask { connection, deadline throws(SharedLogFailure) in
            let rows: PostgresRows
            if let founder {
                try checkName()
                rows = try connection.run(
                    "select * from strata.begin($1, $2, $3, $4, $5)",
                    [
                        log, .uuid(founder.identifier), .uuid(founder.lineage), .integer(founder.createdMicroseconds),
                        .bytes(SharedLogEnd.start.digest),
                    ], deadline: deadline)
            } else {
                rows = try connection.run(
                    "select identifier, course, created, number, event, digest from strata.logs where lineage = $1",
                    [log], deadline: deadline)
                if rows.count == 0 { throw .refused(.missingLog(lineage)) }
            }
            guard let identifier = rows.uuid(0, 0), let course = rows.uuid(0, 1), let created = rows.integer(0, 2),
                let number = rows.integer(0, 3), let event = rows.integer(0, 4), let digest = rows.data(0, 5)
            else { throw Self.unreadable }
            return (
                SharedLogIdentity(
                    identifier: identifier, lineage: course, createdMicroseconds: Int64(bitPattern: created)),
                SharedLogEnd(
                    transaction: TransactionNumber(rawValue: number), event: EventNumber(rawValue: event),
                    digest: Array(digest))
            )
        }
    }

    /// - Throws: `refused` if the log that the founder would begin has no proper name.
    private func checkName() throws(SharedLogFailure) {
        guard let complaint = GivenName.complaint(about: lineage) else { return }
        throw .refused(StrataError(.invalidRequest, "'\(lineage)' is no name for a shared log: \(complaint)."))
    }

    static let unreadable = SharedLogFailure.refused(
        StrataError(.corrupt, "A row of the shared log in PostgreSQL cannot be read."))

    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd
    ) throws(SharedLogFailure) -> SharedAppendAnswer {
        try append(transactions, after: end) {}
    }

    func append(
        _ transactions: [SharedTransaction], after end: SharedLogEnd, meanwhile: () -> Void
    ) throws(SharedLogFailure) -> SharedAppendAnswer {
        let rows = try ask { connection, deadline throws(SharedLogFailure) in
            try connection.run(
                "select * from strata.append($1, $2, $3, $4, $5, $6, $7, $8, $9)", preparedAs: "append",
                [
                    log, .integer(end.transaction.rawValue), .bytes(end.digest), .uuids(transactions.map(\.id)),
                    .integers(transactions.map(\.firstEvent.rawValue)),
                    .integers(transactions.map { UInt64($0.eventCount) }),
                    .byteArrays(transactions.map(\.digest)), .byteArrays(transactions.map(\.bytes)),
                    .byteArrays(transactions.flatMap(\.blobs)),
                ], deadline: deadline, meanwhile: meanwhile)
        }
        switch rows.integer(0, 0) {
        case 0:
            if let last = transactions.last { news.tell(last.number) }
            return .appended
        case 1: return .appended
        case 2: return .overtaken(try Self.transactions(in: rows, from: 1))
        case 3: throw .refused(.diverged(at: end))
        case 5: return .lacking((0..<rows.count).compactMap { rows.data($0, 5) })
        default: throw .refused(Self.missing(lineage))
        }
    }

    private static func missing(_ lineage: String) -> StrataError {
        StrataError(.logUnavailable, "The database has no log named \(lineage) any more.")
    }

    private static func transactions(
        in rows: PostgresRows, from column: Int
    ) throws(SharedLogFailure) -> [SharedTransaction] {
        var transactions: [SharedTransaction] = []
        transactions.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            guard let number = rows.integer(row, column), let id = rows.uuid(row, column + 1),
                let firstEvent = rows.integer(row, column + 2), let events = rows.integer(row, column + 3),
                let digest = rows.data(row, column + 4), let bytes = rows.data(row, column + 5)
            else { throw unreadable }
            transactions.append(
                SharedTransaction(
                    number: TransactionNumber(rawValue: number), id: id, firstEvent: EventNumber(rawValue: firstEvent),
                    eventCount: Int(clamping: events), digest: Array(digest), bytes: bytes))
        }
        return transactions
    }

    func read(after number: TransactionNumber, limitInBytes: Int) throws(SharedLogFailure) -> [SharedTransaction] {
        let rows = try ask { connection, deadline throws(SharedLogFailure) in
            try connection.run(
                "select * from strata.read_after($1, $2, $3)", preparedAs: "read",
                [log, .integer(number.rawValue), .integer(UInt64(limitInBytes))], deadline: deadline)
        }
        return try Self.transactions(in: rows, from: 0)
    }

    func digest(of number: TransactionNumber) throws(SharedLogFailure) -> [UInt8]? {
        try ask("select strata.digest_of($1, $2)", [log, .integer(number.rawValue)]).data(0, 0).map { Array($0) }
    }

    func leaseRows(_ count: UInt64) throws(SharedLogFailure) -> Range<UInt64> {
        try ask { connection, deadline throws(SharedLogFailure) in
            let rows = try connection.run(
                "select strata.lease_rows($1, $2)", [log, .integer(count)], deadline: deadline)
            guard let first = rows.integer(0, 0) else { throw .refused(Self.missing(lineage)) }
            guard first + count < ObjectID.localRowBit else {
                throw .refused(StrataError(.persistentStoreOperation, "The shared log has no row numbers left."))
            }
            return first..<first + count
        }
    }

    func put(blob: Data, digest: Data) throws(SharedLogFailure) {
        _ = try ask("select strata.put_blob($1, $2, $3)", [log, .bytes(digest), .bytes(blob)])
    }

    func blob(digest: Data) throws(SharedLogFailure) -> Data? {
        let rows = try ask(
            "select bytes from strata.blobs where lineage = $1 and digest = $2", [log, .bytes(digest)])
        return rows.count == 0 ? nil : rows.data(0, 0)
    }

    func rewrite(_ transactions: [SharedTransaction]) throws(SharedLogFailure) {
        _ = try ask(
            "select strata.rewrite($1, $2, $3, $4)",
            [
                log, .integers(transactions.map(\.number.rawValue)), .byteArrays(transactions.map(\.digest)),
                .byteArrays(transactions.map(\.bytes)),
            ])
    }

    func wait(after number: TransactionNumber, timeout: Duration) throws(SharedLogFailure) -> TransactionNumber {
        try news.wait(after: number, timeout: timeout)
    }

    var leases: any SharedLeases { PostgresLeases(log: self, lineage: lineage) }
    var upkeep: any SharedLogUpkeep { PostgresUpkeep(log: self, lineage: lineage) }

    func close() {
        isClosed.withLock { $0 = true }
        news.close()
    }
}
