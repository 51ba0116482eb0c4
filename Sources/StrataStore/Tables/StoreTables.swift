// The tables of a store, keys ordered bytewise, all numbers in keys big-endian, in values little-endian:
//
//   table         key                                         value
//   meta          "header", "head"                            StoreHeader, LogHead
//   state         "rows"                                      UInt64: first row number not leased to anybody
//                 "tag" or "subscription", a name             Bookmarks.swift
//                 "statistics", UInt32 index                  StatisticsRecord.swift
//                 "fold ", "links" or "indexes"               the entry that left its buffer last
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
//                 UInt32 relationship, UInt64 owner           UInt64 members, as `links` has them
//   blobs         32-byte digest                              UInt64 events that name it
//   linksBuffer, indexesBuffer                                entries of `links` and `indexes` that were made lately
//   linksRemovals, indexesRemovals                            keys of entries of these two that were removed lately
//
// An entry of `links` or `indexes` stands in the table, unless its removal waits, or in its buffer, never in both. What
// waits may be carried out at any time: views are the same when the entries that stand are.
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
    private(set) var links: BufferedTable
    private(set) var indexes: BufferedTable
    private var projected: [BufferedTable]
    /// When entries gather in a buffer.
    var bufferLimits = BufferLimits()
    /// Whether an owner's counter leaves out the entries that wait: it says how many the main table of `links` has.
    var countsWait = true

    static let names = [
        "meta", "state", "events", "transactions", "transactionIDs", "models", "objects", "tombstones", "pairs",
        "links", "indexes", "counts", "blobs",
    ]
    /// Not in stores that were made before there were buffers.
    static let bufferNames = ["linksBuffer", "indexesBuffer"]
    /// Not in stores that were made before removals waited.
    static let removalNames = ["linksRemovals", "indexesRemovals"]
    /// Named in the order of `viewTables`.
    static let viewNames = [
        "transactionIDs", "models", "objects", "tombstones", "pairs", "links", "indexes", "counts", "blobs",
    ]

    /// Opens the tables of an environment, and makes those that are missing where it may write.
    ///
    /// - Throws: `LMDBError` with `notFound` when it has not those of a store.
    init(opening environment: Environment) throws {
        // What a store lacks that was made before and is only read goes first, the newest before the older.
        var optional = [Self.bufferNames, Self.removalNames]
        while true {
            do {
                let names = Self.names + optional.flatMap { $0 }
                let tables = try environment.openTables(names)
                self = try Self(Dictionary(zip(names, tables), uniquingKeysWith: { first, _ in first }))
                return
            } catch let error as LMDBError
                where error.code == .notFound && environment.options.access == .readOnly && !optional.isEmpty
            {
                optional.removeLast()
            }
        }
    }

    private init(_ tables: [String: Table]) throws(StoreFormatError) {
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
        links = BufferedTable(
            try table("links"), buffer: tables["linksBuffer"], removals: tables["linksRemovals"])
        indexes = BufferedTable(
            try table("indexes"), buffer: tables["indexesBuffer"], removals: tables["indexesRemovals"])
        projected = [
            BufferedTable(try table("transactionIDs")), BufferedTable(try table("models")), BufferedTable(objects),
            BufferedTable(try table("tombstones")), BufferedTable(try table("pairs")), links, indexes,
        ]
    }

    /// The same, with all entries where they belong.
    var withoutBuffers: StoreTables { mapped { BufferedTable($0.main) } }

    /// The same, with entries removed where they are.
    var withoutRemovals: StoreTables { mapped { BufferedTable($0.main, buffer: $0.buffer) } }

    private func mapped(_ change: (BufferedTable) -> BufferedTable) -> StoreTables {
        var other = self
        other.links = change(links)
        other.indexes = change(indexes)
        other.projected = projected.map(change)
        return other
    }

    /// Those that may have buffers.
    var buffered: [BufferedTable] { [links, indexes] }

    func table(_ table: Projected) -> BufferedTable { projected[table.rawValue] }

    var transactionIDs: Table { projected[Projected.transactionIDs.rawValue].main }
    var models: Table { projected[Projected.models.rawValue].main }
    var tombstones: Table { projected[Projected.tombstones.rawValue].main }
    var pairs: Table { projected[Projected.pairs.rawValue].main }

    /// Every table that a rebuild drops and fills again, with its name.
    var viewTables: [(name: String, table: BufferedTable)] {
        Array(zip(Self.viewNames, projected + [BufferedTable(counts), BufferedTable(blobs)]))
    }

    /// What waits in `links` and is in no counter.
    var uncounted: BufferedTable? { countsWait && links.buffer != nil ? links : nil }
}

/// A file that is LMDB's but not a sound store.
enum StoreFormatError: Error, Sendable {
    case missingTable(String)
}
