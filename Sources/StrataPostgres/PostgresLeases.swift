import Foundation
import StrataStore

/// The leases of a shared log, rows of a table beside it. They run out by the clock of the database.
struct PostgresLeases: SharedLeases {
    let log: PostgresLog
    let lineage: String

    static let tables = [
        """
        create table strata.leases(
            lineage text not null, name text not null, holder uuid not null, fence bigint not null,
            until timestamptz not null, seen bigint, primary key (lineage, name)) with (fillfactor = 50)
        """,
        take, note, end, list, remove,
    ]

    /// Takes the lease if it is free, and returns it. A row that another call changes meanwhile is looked at again.
    private static let take = """
        create function strata.take_lease(log text, key text, candidate uuid, span bigint)
        returns table(name text, holder uuid, fence bigint, seen bigint, remaining bigint)
        language plpgsql volatile security definer set search_path = '' as $$
        #variable_conflict use_column
        begin
            insert into strata.leases as l (lineage, name, holder, fence, until)
                values (log, key, candidate, 1, clock_timestamp() + span * interval '1 microsecond')
                on conflict (lineage, name) do update set holder = candidate,
                    fence = case when l.holder = candidate then l.fence else l.fence + 1 end,
                    until = clock_timestamp() + span * interval '1 microsecond'
                where l.holder = candidate or l.until <= clock_timestamp();
            return query select l.name, l.holder, l.fence, l.seen,
                (extract(epoch from l.until - clock_timestamp()) * 1000000)::bigint
                from strata.leases l where l.lineage = log and l.name = key;
        end $$
        """

    private static let note = """
        create function strata.note_lease(log text, key text, mine uuid, number bigint, reached bigint) returns bigint
        language sql volatile security definer set search_path = '' as $$
            with noted as (
                update strata.leases l set seen = greatest(coalesce(l.seen, reached), reached)
                where l.lineage = log and l.name = key and l.holder = mine and l.fence = number returning 1)
            select count(*) from noted
        $$
        """

    private static let end = """
        create function strata.end_lease(log text, key text, mine uuid, number bigint) returns bigint
        language sql volatile security definer set search_path = '' as $$
            with ended as (
                update strata.leases l set until = clock_timestamp()
                where l.lineage = log and l.name = key and l.holder = mine and l.fence = number returning 1)
            select count(*) from ended
        $$
        """

    private static let list = """
        create function strata.list_leases(log text, prefix text)
        returns table(name text, holder uuid, fence bigint, seen bigint, remaining bigint)
        language sql stable security definer set search_path = '' as $$
            select l.name, l.holder, l.fence, l.seen,
                (extract(epoch from l.until - clock_timestamp()) * 1000000)::bigint
            from strata.leases l where l.lineage = log and starts_with(l.name, prefix) order by l.name
        $$
        """

    private static let remove = """
        create function strata.remove_lease(log text, key text) returns bigint
        language sql volatile security definer set search_path = '' as $$
            with removed as (delete from strata.leases l where l.lineage = log and l.name = key returning 1)
            select count(*) from removed
        $$
        """

    // MARK: Asking

    private func ask(_ statement: String, _ values: [PostgresValue]) throws(SharedLogFailure) -> PostgresRows {
        do throws(SharedLogFailure) {
            return try log.ask { connection, deadline throws(SharedLogFailure) in
                try connection.run(statement, [.text(lineage)] + values, deadline: deadline)
            }
        } catch {
            // All these may be asked again.
            if case .answerLost(let reason) = error { throw .unreachable(reason) }
            throw error
        }
    }

    private func lease(_ rows: PostgresRows, _ row: Int) throws(SharedLogFailure) -> SharedLease {
        guard let name = rows.text(row, 0), let holder = rows.uuid(row, 1), let fence = rows.integer(row, 2),
            let remaining = rows.integer(row, 4)
        else { throw PostgresLog.unreadable }
        return SharedLease(
            name: name, holder: holder, fence: fence, position: rows.integer(row, 3),
            remaining: .microseconds(Int64(bitPattern: remaining)))
    }

    func take(_ name: String, for holder: UUID, during time: Duration) throws(SharedLogFailure) -> SharedLease {
        let rows = try ask(
            "select * from strata.take_lease($1, $2, $3, $4)",
            [.text(name), .uuid(holder), .integer(Int64(time / .microseconds(1)))])
        return try lease(rows, 0)
    }

    func note(_ position: UInt64, under lease: SharedLease) throws(SharedLogFailure) -> Bool {
        let rows = try ask(
            "select strata.note_lease($1, $2, $3, $4, $5)",
            [.text(lease.name), .uuid(lease.holder), .integer(lease.fence), .integer(position)])
        return rows.integer(0, 0) == 1
    }

    func end(_ lease: SharedLease) throws(SharedLogFailure) {
        _ = try ask(
            "select strata.end_lease($1, $2, $3, $4)",
            [.text(lease.name), .uuid(lease.holder), .integer(lease.fence)])
    }

    func all(startingWith prefix: String) throws(SharedLogFailure) -> [SharedLease] {
        let rows = try ask("select * from strata.list_leases($1, $2)", [.text(prefix)])
        var leases: [SharedLease] = []
        for row in 0..<rows.count { leases.append(try lease(rows, row)) }
        return leases
    }

    func remove(_ name: String) throws(SharedLogFailure) -> Bool {
        try ask("select strata.remove_lease($1, $2)", [.text(name)]).integer(0, 0) == 1
    }
}
