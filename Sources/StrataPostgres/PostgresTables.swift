import StrataModel

/// The tables of shared logs in a database, and the functions by which stores use them.
///
/// All are in the schema `strata`. `version` is raised with each step that is added to `steps`. The functions run with
/// the rights of their owner, so a role that may call them needs no rights to write to the tables.
enum PostgresTables {
    /// The version that this code makes and uses.
    static var version: UInt64 { UInt64(steps.count) }

    /// The statements that upgrade the tables from each version to the next.
    static let steps: [[String]] = [first, [rewrite], PostgresLeases.tables, PostgresUpkeepTables.tables]

    /// Before the first step.
    static let preparation = [
        "create schema if not exists strata",
        """
        create table if not exists strata.versions(
            version bigint primary key, made timestamptz not null default now())
        """,
    ]

    private static let first = [
        // The row of a log orders its transactions: an append locks it. Digest and numbers are of the last transaction.
        """
        create table strata.logs(
            lineage text primary key, identifier uuid not null, course uuid not null, created bigint not null,
            number bigint not null default 0, event bigint not null default 0, digest bytea not null,
            next_row bigint not null default 1) with (fillfactor = 50)
        """,
        """
        create table strata.transactions(
            lineage text not null, number bigint not null, id uuid not null, first_event bigint not null,
            events bigint not null, digest bytea not null, bytes bytea not null,
            primary key (lineage, number), unique (lineage, id))
        """,
        // Events are small and many; compressing them would cost more than it saves.
        "alter table strata.transactions alter column bytes set storage external",
        """
        create table strata.blobs(
            lineage text not null, digest bytea not null, bytes bytea not null, primary key (lineage, digest))
        """,
        "alter table strata.blobs alter column bytes set storage external",
        // The functions that read and append are made by a later step.
        begin, leaseRows, putBlob,
    ]

    /// Creates a log unless it exists, and returns its identity and its end in either case.
    private static let begin = """
        create function strata.begin(log text, new_identifier uuid, new_course uuid, new_created bigint, start bytea)
        returns table(identifier uuid, course uuid, created bigint, number bigint, event bigint, digest bytea)
        language plpgsql volatile security definer set search_path = '' as $$
        #variable_conflict use_column
        begin
            insert into strata.logs(lineage, identifier, course, created, digest)
                values (log, new_identifier, new_course, new_created, start) on conflict do nothing;
            return query select l.identifier, l.course, l.created, l.number, l.event, l.digest
                from strata.logs l where l.lineage = log;
        end $$
        """

    private static let leaseRows = """
        create function strata.lease_rows(log text, amount bigint) returns bigint
        language sql volatile security definer set search_path = '' as $$
            update strata.logs set next_row = next_row + amount where lineage = log returning next_row - amount
        $$
        """

    private static let putBlob = """
        create function strata.put_blob(log text, key bytea, contents bytea) returns bigint
        language sql volatile security definer set search_path = '' as $$
            insert into strata.blobs(lineage, digest, bytes) values (log, key, contents) on conflict do nothing;
            select 1::bigint
        $$
        """

    /// Replaces bytes with erased values by bytes without them, after an erasure. Digests stay.
    private static let rewrite = """
        create function strata.rewrite(log text, numbers bigint[], digests bytea[], contents bytea[]) returns bigint
        language sql volatile security definer set search_path = '' as $$
            with rewritten as (
                update strata.transactions t set bytes = contents[n]
                from generate_series(1, cardinality(numbers)) n
                where t.lineage = log and t.number = numbers[n] and t.digest = digests[n] and t.bytes <> contents[n]
                returning 1)
            select count(*) from rewritten
        $$
        """

    /// Two roles, unless they are there. `strata_append` may read logs and append to them, `strata_maintain` may do
    /// everything with the tables.
    static let roles = """
        do $$ begin
            if not exists (select from pg_roles where rolname = 'strata_append') then
                create role strata_append;
            end if;
            if not exists (select from pg_roles where rolname = 'strata_maintain') then
                create role strata_maintain;
            end if;
        end $$
        """

    /// The functions that only `strata_maintain` may call.
    private static let maintaining = [
        "rewrite(text, bigint[], bytea[], bytea[])", "remove_blobs(text, bytea[], bigint)",
        "put_piece(text, uuid, bigint, bytea)",
        "publish_snapshot(text, uuid, bigint, bigint, bytea, bigint, bigint, bytea)",
        "cut(text, bigint, bytea)", "drop_cut(text, bigint)",
    ]

    static let grants =
        [
            "revoke all on all functions in schema strata from public",
            "grant usage on schema strata to strata_append, strata_maintain",
            "grant select on all tables in schema strata to strata_append",
            "grant execute on all functions in schema strata to strata_append, strata_maintain",
        ] + maintaining.map { "revoke execute on function strata.\($0) from strata_append" }
        + ["grant all on all tables in schema strata to strata_maintain"]

    /// Whether the roles may use the tables, so that they must be granted what is made again.
    static let hasGrants = """
        select coalesce(bool_or(has_schema_privilege(oid, 'strata', 'usage')), false)::int
        from pg_roles where rolname = 'strata_append'
        """
}
