/// The functions that append to a shared log and read it.
///
/// A log that was cut has no transactions up to `cut`; those that are still in the table are about to be dropped.
/// `ST001` tells a client that what it asks for was cut off, `ST003` that it is too old for the tables.
enum PostgresAppend {
    /// Outcomes: 0 appended, 1 appended by an earlier call, 2 overtaken (with the missing transactions), 3 another
    /// history, 4 no such log, 5 large values are lacking (their digests).
    static let append = """
        create function strata.append(
            log text, expected bigint, expected_digest bytea, ids uuid[], first_events bigint[], counts bigint[],
            digests bytea[], contents bytea[], needed bytea[])
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
                if cardinality(needed) > 0 then
                    return query select 5::bigint, 0::bigint, null::uuid, 0::bigint, 0::bigint, n.digest, null::bytea
                        from unnest(needed) as n(digest)
                        where not exists (
                            select from strata.blobs b where b.lineage = log and b.digest = n.digest);
                    if found then
                        return;
                    end if;
                end if;
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
            known := strata.digest_of(log, expected);
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

    /// The functions of stores before version 4, which did not say which large values a transaction needs. If such a
    /// store still runs, its saves are refused with the reason.
    static let refusal = """
        create or replace function strata.append(
            log text, expected bigint, expected_digest bytea, ids uuid[], first_events bigint[], counts bigint[],
            digests bytea[], contents bytea[])
        returns table(
            outcome bigint, number bigint, id uuid, first_event bigint, events bigint, digest bytea, bytes bytea)
        language plpgsql volatile security definer set search_path = '' as $$
        begin
            raise exception 'the tables of the shared log were brought up to date, and this program has an older '
                'version of Strata: update it' using errcode = 'ST003';
        end $$
        """

    static let readAfter = """
        create or replace function strata.read_after(log text, known bigint, most_bytes bigint)
        returns table(number bigint, id uuid, first_event bigint, events bigint, digest bytea, bytes bytea)
        language plpgsql stable security definer set search_path = '' as $$
        #variable_conflict use_column
        declare
            begun bigint;
        begin
            select l.cut into begun from strata.logs l where l.lineage = log;
            if known < begun then
                raise exception 'the log begins after transaction %', begun using errcode = 'ST001';
            end if;
            return query select s.number, s.id, s.first_event, s.events, s.digest, s.bytes
                from (select c.*, sum(octet_length(c.bytes)) over (order by c.number) - octet_length(c.bytes) as before
                      from (select * from strata.transactions t where t.lineage = log and t.number > known
                            order by t.number limit 8192) c) s
                where s.before < most_bytes order by s.number;
        end $$
        """

    static let digestOf = """
        create function strata.digest_of(log text, place bigint) returns bytea
        language plpgsql stable security definer set search_path = '' as $$
        declare
            begun record;
        begin
            select l.cut, l.cut_digest into begun from strata.logs l where l.lineage = log;
            if place < begun.cut then
                raise exception 'the log begins after transaction %', begun.cut using errcode = 'ST001';
            end if;
            if place = begun.cut and place > 0 then
                return begun.cut_digest;
            end if;
            return (select t.digest from strata.transactions t where t.lineage = log and t.number = place);
        end $$
        """
}
