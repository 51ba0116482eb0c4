import Foundation
import StrataModel
import StrataStore

/// Keeps a shared log in PostgreSQL small: stores its snapshots, cuts the log, and removes large values.
struct PostgresUpkeep: SharedLogUpkeep {
    let log: PostgresLog
    let lineage: String

    func blobDigests(after digest: Data?, limit: Int) throws(SharedLogFailure) -> [Data] {
        let rows = try log.ask(
            "select digest from strata.blobs where lineage = $1 and digest > $2 order by digest limit $3",
            [.text(lineage), .bytes(digest ?? Data()), .integer(UInt64(limit))])
        var digests: [Data] = []
        for row in 0..<rows.count {
            guard let digest = rows.data(row, 0) else { throw PostgresLog.unreadable }
            digests.append(digest)
        }
        return digests
    }

    func remove(blobs: [Data], at end: TransactionNumber) throws(SharedLogFailure) -> Bool {
        try log.ask(
            "select strata.remove_blobs($1, $2, $3)", [.text(lineage), .byteArrays(blobs), .integer(end.rawValue)]
        ).integer(0, 0) == 1
    }

    func beginning() throws(SharedLogFailure) -> SharedLogBeginning {
        let rows = try log.ask(
            """
            select cut, cut_event, cut_digest, snapshot, snapshot_number, snapshot_event, snapshot_digest,
                snapshot_pieces, snapshot_bytes, snapshot_sum
            from strata.logs where lineage = $1
            """, [.text(lineage)])
        guard rows.count == 1, let cut = rows.integer(0, 0), let event = rows.integer(0, 1) else {
            throw .refused(.missingLog(lineage))
        }
        var beginning = SharedLogBeginning(cut: .start, snapshot: nil)
        if cut > 0 {
            guard let digest = rows.data(0, 2) else { throw PostgresLog.unreadable }
            beginning.cut = SharedLogEnd(
                transaction: TransactionNumber(rawValue: cut), event: EventNumber(rawValue: event),
                digest: Array(digest))
        }
        guard let id = rows.uuid(0, 3) else { return beginning }
        guard let number = rows.integer(0, 4), let last = rows.integer(0, 5), let digest = rows.data(0, 6),
            let pieces = rows.integer(0, 7), let size = rows.integer(0, 8), let sum = rows.data(0, 9)
        else { throw PostgresLog.unreadable }
        beginning.snapshot = SharedSnapshot(
            id: id,
            end: SharedLogEnd(
                transaction: TransactionNumber(rawValue: number), event: EventNumber(rawValue: last),
                digest: Array(digest)), pieces: Int(clamping: pieces), sizeInBytes: Int(clamping: size), sum: sum)
        return beginning
    }

    func piece(_ index: Int, of snapshot: UUID) throws(SharedLogFailure) -> Data? {
        let rows = try log.ask(
            "select bytes from strata.snapshots where lineage = $1 and id = $2 and piece = $3",
            [.text(lineage), .uuid(snapshot), .integer(UInt64(index))])
        return rows.count == 0 ? nil : rows.data(0, 0)
    }

    func put(piece: Data, at index: Int, of snapshot: UUID) throws(SharedLogFailure) {
        _ = try log.ask(
            "select strata.put_piece($1, $2, $3, $4)",
            [.text(lineage), .uuid(snapshot), .integer(UInt64(index)), .bytes(piece)])
    }

    func publish(_ snapshot: SharedSnapshot) throws(SharedLogFailure) -> Bool {
        try log.ask(
            "select strata.publish_snapshot($1, $2, $3, $4, $5, $6, $7, $8)",
            [
                .text(lineage), .uuid(snapshot.id), .integer(snapshot.end.transaction.rawValue),
                .integer(snapshot.end.event.rawValue), .bytes(snapshot.end.digest), .integer(UInt64(snapshot.pieces)),
                .integer(UInt64(snapshot.sizeInBytes)), .bytes(snapshot.sum),
            ]
        ).integer(0, 0) == 1
    }

    func cut(through end: SharedLogEnd) throws(SharedLogFailure) {
        _ = try log.ask(
            "select strata.cut($1, $2, $3)",
            [.text(lineage), .integer(end.transaction.rawValue), .bytes(end.digest)])
    }

    func dropCut(limit: Int) throws(SharedLogFailure) -> Int {
        Int(
            clamping: try log.ask(
                "select strata.drop_cut($1, $2)", [.text(lineage), .integer(UInt64(limit))]
            ).integer(0, 0) ?? 0)
    }
}
