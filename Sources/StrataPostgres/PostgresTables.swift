import StrataModel

/// The tables of shared logs in a database, and the functions by which stores use them.
///
/// All are in the schema `strata`. `version` is raised with each step that is added to `steps`. The functions run with
/// the rights of their owner, so a role that may call them needs no rights to write to the tables.
enum PostgresTables {
    /// The version that this code makes and uses.
    static var version: UInt64 { UInt64(steps.count) }

    /// What brings the tables from each version to the next.
    static let steps: [[String]] = [first, [rewrite], PostgresLeases.tables]

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
        append, readAfter, begin, leaseRows, putBlob,
    ]

    /// Outcomes: 0 appended, 1 appended by an earlier call, 2 overtaken (with the missing transactions), 3 another
    /// history, 4 no such log.
    private static let append = """
        create function strata.append(
            log text, expected bigint, expected_digest bytea, ids uuid[], first_events bigint[], counts bigint[],
            digests bytea[], contents bytea[])
        returns table(
            outcome bigint, number bigint, id uuid, first_event bigint, events bigint, digest bytea, bytes bytea)
        language plpgsql volatile security definer set search_path = '' as $$
        #variable_conflict use_column
        declare
            head record;
            added bigint := cardinality(ids);
            known bytea;
        begin
            select l.number, l.digest into head from strata.logs l where l.lineage = log for update;
            if not found then
                outcome := 4;
                return next;
                return;
            end if;
            if head.number = expected and head.digest = expected_digest then
                insert into strata.transactions(lineage, number, id, first_event, events, digest, bytes)
                    select log, expected + n, ids[n], first_events[n], counts[n], digests[n], contents[n]
                    from generate_series(1, added) n;
                update strata.logs l set number = expected + added,
                    event = first_events[added] + counts[added] - 1, digest = digests[added]
                    where l.lineage = log;
                outcome := 0;
                number := expected + added;
                return next;
                return;
            end if;
            if exists (select from strata.transactions t
                       where t.lineage = log and t.id = ids[added] and t.digest = digests[added]) then
                outcome := 1;
                number := head.number;
                return next;
                return;
            end if;
            select t.digest into known from strata.transactions t where t.lineage = log and t.number = expected;
            if head.number <= expected or (expected > 0 and known is distinct from expected_digest) then
                outcome := 3;
                number := head.number;
                return next;
                return;
            end if;
            return query select 2::bigint, r.number, r.id, r.first_event, r.events, r.digest, r.bytes
                from strata.read_after(log, expected, 1048576) r;
        end $$
        """

    private static let readAfter = """
        create function strata.read_after(log text, known bigint, most_bytes bigint)
        returns table(number bigint, id uuid, first_event bigint, events bigint, digest bytea, bytes bytea)
        language sql stable security definer set search_path = '' as $$
            select s.number, s.id, s.first_event, s.events, s.digest, s.bytes
            from (select c.*, sum(octet_length(c.bytes)) over (order by c.number) - octet_length(c.bytes) as before
                  from (select * from strata.transactions t where t.lineage = log and t.number > known
                        order by t.number limit 8192) c) s
            where s.before < most_bytes order by s.number
        $$
        """

    /// Begins a log unless it is there; the answer is what is there then.
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

    /// Puts the bytes without values in the place of those with them, after an erasure. Digests stay.
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

    static let grants = [
        "revoke all on all functions in schema strata from public",
        "grant usage on schema strata to strata_append, strata_maintain",
        "grant select on all tables in schema strata to strata_append",
        "grant execute on all functions in schema strata to strata_append, strata_maintain",
        "revoke execute on function strata.rewrite(text, bigint[], bytea[], bytea[]) from strata_append",
        "grant all on all tables in schema strata to strata_maintain",
    ]
}
