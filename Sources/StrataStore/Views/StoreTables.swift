// The tables of a store, keys ordered bytewise, all numbers in keys big-endian, in values little-endian:
//
//   table         key                                         value
//   meta          "header", "head"                            StoreHeader, LogHead
//   state         "rows"                                      UInt64: first row number not leased to anybody
//                 "tag" or "subscription", a name             Bookmarks.swift
//                 "statistics", UInt32 index                  StatisticsRecord.swift
//   events        UInt64 sequence                             EventRecord.swift
//   transactions  UInt64 sequence                             TransactionRecord.swift
//   -- views: functions of the two above, dropped and rebuilt at will --
//   transactionIDs  16-byte id, by its making (UUID 7)        UInt64 transaction sequence
//   models        UInt64 model version                        schema record (JSON)
//   objects       UInt64 object id                            StoredRow: checksum, revision, row image
//   tombstones    UInt64 object id                            UInt64 sequence of the deleted event
//   links         UInt32 relationship, UInt64 owner,          empty
//                 [place: Int64, sign flipped,] UInt64 member
//   pairs         UInt32 relationship, UInt64 source,         UInt64 sequence of the newest event,
//                 UInt64 target                               Int64 place in source, Int64 place in target
//   indexes       UInt32 index, key elements, UInt64 object   empty
//   counts        UInt16 entity                               UInt64 objects
//                 UInt32 relationship, UInt64 owner           UInt64 members
//   blobs         32-byte digest                              UInt64 events that name it
//
// A relationship's links stand under the to-many's number; those of a to-one without inverse, and of a
// one-to-one that the assignment of numbers calls filed, under its hidden inverse (`PropertyID.hiddenInverse`). Nothing
// here uses LMDB's duplicate-sorted tables.

import LMDB

/// The open tables of one store.
struct StoreTables: Sendable {
    /// Tables written through a `WriteBatch`, in the order in which they are flushed.
    enum Projected: Int, CaseIterable, Sendable {
        case transactionIDs, models, objects, tombstones, pairs, links, indexes
    }

    let meta: Table
    let state: Table
    let events: Table
    let transactions: Table
    let counts: Table
    let blobs: Table
    // The three that every read goes through stand for themselves, so that nobody looks into the list for them.
    let objects: Table
    let links: Table
    let indexes: Table
    private let projected: [Table]

    static let names = [
        "meta", "state", "events", "transactions", "transactionIDs", "models", "objects", "tombstones", "pairs",
        "links", "indexes", "counts", "blobs",
    ]
    /// Named in the order of `viewTables`.
    static let viewNames = [
        "transactionIDs", "models", "objects", "tombstones", "pairs", "links", "indexes", "counts", "blobs",
    ]

    init(_ tables: [String: Table]) throws(StoreFormatError) {
        func table(_ name: String) throws(StoreFormatError) -> Table {
            guard let table = tables[name] else { throw StoreFormatError.missingTable(name) }
            return table
        }
        meta = try table("meta")
        state = try table("state")
        events = try table("events")
        transactions = try table("transactions")
        counts = try table("counts")
        blobs = try table("blobs")
        objects = try table("objects")
        links = try table("links")
        indexes = try table("indexes")
        projected = [
            try table("transactionIDs"), try table("models"), objects, try table("tombstones"), try table("pairs"),
            links, indexes,
        ]
    }

    func table(_ table: Projected) -> Table { projected[table.rawValue] }

    var transactionIDs: Table { projected[Projected.transactionIDs.rawValue] }
    var models: Table { projected[Projected.models.rawValue] }
    var tombstones: Table { projected[Projected.tombstones.rawValue] }
    var pairs: Table { projected[Projected.pairs.rawValue] }

    /// Every table that a rebuild drops and fills again, with its name.
    var viewTables: [(name: String, table: Table)] {
        Array(zip(Self.viewNames, projected + [counts, blobs]))
    }
}

/// A file that is LMDB's but not a sound store.
enum StoreFormatError: Error, Sendable {
    case missingTable(String)
}
