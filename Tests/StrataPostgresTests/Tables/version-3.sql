-- The tables of version 3 for shared logs, with the roles, as they were made before logs could be cut.
-- For the tests of bringing them up to date. Runs with psql as well.

create schema if not exists strata;

create table if not exists strata.versions(
    version bigint primary key, made timestamptz not null default now());

create table strata.logs(
    lineage text primary key, identifier uuid not null, course uuid not null, created bigint not null,
    number bigint not null default 0, event bigint not null default 0, digest bytea not null,
    next_row bigint not null default 1) with (fillfactor = 50);

create table strata.transactions(
    lineage text not null, number bigint not null, id uuid not null, first_event bigint not null,
    events bigint not null, digest bytea not null, bytes bytea not null,
    primary key (lineage, number), unique (lineage, id));

alter table strata.transactions alter column bytes set storage external;

create table strata.blobs(
    lineage text not null, digest bytea not null, bytes bytea not null, primary key (lineage, digest));

alter table strata.blobs alter column bytes set storage external;

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
end $$;

create function strata.read_after(log text, known bigint, most_bytes bigint)
returns table(number bigint, id uuid, first_event bigint, events bigint, digest bytea, bytes bytea)
language sql stable security definer set search_path = '' as $$
    select s.number, s.id, s.first_event, s.events, s.digest, s.bytes
    from (select c.*, sum(octet_length(c.bytes)) over (order by c.number) - octet_length(c.bytes) as before
          from (select * from strata.transactions t where t.lineage = log and t.number > known
                order by t.number limit 8192) c) s
    where s.before < most_bytes order by s.number
$$;

create function strata.begin(log text, new_identifier uuid, new_course uuid, new_created bigint, start bytea)
returns table(identifier uuid, course uuid, created bigint, number bigint, event bigint, digest bytea)
language plpgsql volatile security definer set search_path = '' as $$
#variable_conflict use_column
begin
    insert into strata.logs(lineage, identifier, course, created, digest)
        values (log, new_identifier, new_course, new_created, start) on conflict do nothing;
    return query select l.identifier, l.course, l.created, l.number, l.event, l.digest
        from strata.logs l where l.lineage = log;
end $$;

create function strata.lease_rows(log text, amount bigint) returns bigint
language sql volatile security definer set search_path = '' as $$
    update strata.logs set next_row = next_row + amount where lineage = log returning next_row - amount
$$;

create function strata.put_blob(log text, key bytea, contents bytea) returns bigint
language sql volatile security definer set search_path = '' as $$
    insert into strata.blobs(lineage, digest, bytes) values (log, key, contents) on conflict do nothing;
    select 1::bigint
$$;

insert into strata.versions(version) values (1);

create function strata.rewrite(log text, numbers bigint[], digests bytea[], contents bytea[]) returns bigint
language sql volatile security definer set search_path = '' as $$
    with rewritten as (
        update strata.transactions t set bytes = contents[n]
        from generate_series(1, cardinality(numbers)) n
        where t.lineage = log and t.number = numbers[n] and t.digest = digests[n] and t.bytes <> contents[n]
        returning 1)
    select count(*) from rewritten
$$;

insert into strata.versions(version) values (2);

create table strata.leases(
    lineage text not null, name text not null, holder uuid not null, fence bigint not null,
    until timestamptz not null, seen bigint, primary key (lineage, name)) with (fillfactor = 50);

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
end $$;

create function strata.note_lease(log text, key text, mine uuid, number bigint, reached bigint) returns bigint
language sql volatile security definer set search_path = '' as $$
    with noted as (
        update strata.leases l set seen = greatest(coalesce(l.seen, reached), reached)
        where l.lineage = log and l.name = key and l.holder = mine and l.fence = number returning 1)
    select count(*) from noted
$$;

create function strata.end_lease(log text, key text, mine uuid, number bigint) returns bigint
language sql volatile security definer set search_path = '' as $$
    with ended as (
        update strata.leases l set until = clock_timestamp()
        where l.lineage = log and l.name = key and l.holder = mine and l.fence = number returning 1)
    select count(*) from ended
$$;

create function strata.list_leases(log text, prefix text)
returns table(name text, holder uuid, fence bigint, seen bigint, remaining bigint)
language sql stable security definer set search_path = '' as $$
    select l.name, l.holder, l.fence, l.seen,
        (extract(epoch from l.until - clock_timestamp()) * 1000000)::bigint
    from strata.leases l where l.lineage = log and starts_with(l.name, prefix) order by l.name
$$;

create function strata.remove_lease(log text, key text) returns bigint
language sql volatile security definer set search_path = '' as $$
    with removed as (delete from strata.leases l where l.lineage = log and l.name = key returning 1)
    select count(*) from removed
$$;

insert into strata.versions(version) values (3);

do $$ begin
    if not exists (select from pg_roles where rolname = 'strata_append') then
        create role strata_append;
    end if;
    if not exists (select from pg_roles where rolname = 'strata_maintain') then
        create role strata_maintain;
    end if;
end $$;

revoke all on all functions in schema strata from public;

grant usage on schema strata to strata_append, strata_maintain;

grant select on all tables in schema strata to strata_append;

grant execute on all functions in schema strata to strata_append, strata_maintain;

revoke execute on function strata.rewrite(text, bigint[], bytea[], bytea[]) from strata_append;

grant all on all tables in schema strata to strata_maintain;
