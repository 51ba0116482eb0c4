/// The tables and functions of a database for the upkeep of shared logs.
enum PostgresUpkeepTables {
    static let tables = [
        // `cut` is the last transaction that is gone.
        """
        alter table strata.logs add column cut bigint not null default 0,
            add column cut_event bigint not null default 0, add column cut_digest bytea,
            add column snapshot uuid, add column snapshot_number bigint, add column snapshot_event bigint,
            add column snapshot_digest bytea, add column snapshot_pieces bigint, add column snapshot_bytes bigint,
            add column snapshot_sum bytea
        """,
        """
        create table strata.snapshots(
            lineage text not null, id uuid not null, piece bigint not null, bytes bytea not null,
            primary key (lineage, id, piece))
        """,
        "alter table strata.snapshots alter column bytes set storage external",
        PostgresAppend.refusal, PostgresAppend.digestOf, PostgresAppend.readAfter, PostgresAppend.append,
        removeBlobs, putPiece, publishSnapshot, cut, dropCut,
        // Until `strata shared init --roles` grants them, only their owner may call them.
        "revoke all on function strata.remove_blobs(text, bytea[], bigint) from public",
        "revoke all on function strata.put_piece(text, uuid, bigint, bytea) from public",
        "revoke all on function strata.publish_snapshot(text, uuid, bigint, bigint, bytea, bigint, bigint, bytea) from public",
        "revoke all on function strata.cut(text, bigint, bytea) from public",
        "revoke all on function strata.drop_cut(text, bigint) from public",
    ]

    /// The row of the log is locked, so that no append can name one of them meanwhile.
    private static let removeBlobs = """
        create function strata.remove_blobs(log text, keys bytea[], expected bigint) returns bigint
        language plpgsql volatile security definer set search_path = '' as $$
        declare
            last bigint;
        begin
            select l.number into last from strata.logs l where l.lineage = log for update;
            if last is distinct from expected then
                return 0;
            end if;
            delete from strata.blobs b where b.lineage = log and b.digest = any(keys);
            return 1;
        end $$
        """

    private static let putPiece = """
        create function strata.put_piece(log text, key uuid, place bigint, contents bytea) returns bigint
        language sql volatile security definer set search_path = '' as $$
            insert into strata.snapshots(lineage, id, piece, bytes) values (log, key, place, contents)
                on conflict do nothing;
            select 1::bigint
        $$
        """

    /// 1 if the log's snapshot is this one or a newer one; 0 if pieces are missing, because another one was published.
    private static let publishSnapshot = """
        create function strata.publish_snapshot(
            log text, key uuid, place bigint, place_event bigint, place_digest bytea, pieces bigint, size bigint,
            sum bytea) returns bigint
        language plpgsql volatile security definer set search_path = '' as $$
        declare
            head record;
        begin
            select * into head from strata.logs l where l.lineage = log for update;
            if head.snapshot = key then
                return 1;
            end if;
            if head.snapshot_number >= place then
                delete from strata.snapshots s where s.lineage = log and s.id = key;
                return 1;
            end if;
            if (select count(*) from strata.snapshots s where s.lineage = log and s.id = key) <> pieces then
                return 0;
            end if;
            if strata.digest_of(log, place) is distinct from place_digest then
                raise exception 'transaction % is another one there', place using errcode = 'ST002';
            end if;
            update strata.logs l set snapshot = key, snapshot_number = place, snapshot_event = place_event,
                snapshot_digest = place_digest, snapshot_pieces = pieces, snapshot_bytes = size, snapshot_sum = sum where l.lineage = log;
            delete from strata.snapshots s where s.lineage = log and s.id <> key;
            return 1;
        end $$
        """

    private static let cut = """
        create function strata.cut(log text, place bigint, place_digest bytea) returns bigint
        language plpgsql volatile security definer set search_path = '' as $$
        declare
            head record;
            last record;
        begin
            select * into head from strata.logs l where l.lineage = log for update;
            if place <= head.cut then
                return head.cut;
            end if;
            if coalesce(head.snapshot_number, 0) < place then
                raise exception 'no snapshot has transaction %', place using errcode = 'ST002';
            end if;
            select t.digest, t.first_event + t.events - 1 as event into last
                from strata.transactions t where t.lineage = log and t.number = place;
            if last.digest is distinct from place_digest then
                raise exception 'transaction % is another one there', place using errcode = 'ST002';
            end if;
            update strata.logs l set cut = place, cut_event = last.event, cut_digest = last.digest
                where l.lineage = log;
            return place;
        end $$
        """

    private static let dropCut = """
        create function strata.drop_cut(log text, most bigint) returns bigint
        language sql volatile security definer set search_path = '' as $$
            with gone as (
                delete from strata.transactions t using strata.logs l
                where l.lineage = log and t.lineage = log and t.number <= l.cut
                    and t.number < most + (select min(f.number) from strata.transactions f where f.lineage = log)
                returning 1)
            select count(*) from gone
        $$
        """
}
