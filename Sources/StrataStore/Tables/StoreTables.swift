// The tables of a store. Keys are ordered bytewise; numbers are big-endian in keys, little-endian in values:
//
//   table         key                                         value
//   meta          "header", "head"                            StoreHeader, LogHead
//                 "baseline"                                  LogBaseline.swift
//   state         "rows"                                      UInt64: first row number that is not leased
//                 "tag" or "subscription", a name             Bookmarks.swift
//                 "metadata"                                  StoreMetadata.swift
//                 "log"                                       UTF-8: the shared log without which nothing is written
//                 "node"                                      16-byte id among stores with this log, UInt64 XXH64 of the place
//                 "statistics", UInt32 index                  StatisticsRecord.swift
//                 "fold ", "links" or "indexes"               the entry that left its buffer last
//                 "erasing", and "erased", UInt64 event       ErasureMark.swift
//                 "thinned", UInt16 entity                    ThinnedEntities.swift
//                 "packed"                                    LogPacking.swift
//                 "view", UInt32 view                         ViewProgress.swift
//   events        UInt64 event number                         EventRecord.swift
//                 of the first event in a block               EventBlock.swift
//   transactions  UInt64 transaction number                   TransactionRecord.swift
//   -- views: functions of the two above, dropped and rebuilt at will --
//   transactionIDs  16-byte id, ordered by creation (UUID 7)  UInt64 transaction number
//   models        UInt64 model version                        schema record (JSON)
//   objects       UInt64 object id                            StoredRow: checksum, revision, row image
//   tombstones    UInt64 object id                            UInt64 number of the deleted event
//   links         UInt32 relationship, UInt64 owner,          empty
//                 [position: Int64, sign flipped,] UInt64 member
//   pairs         UInt32 relationship, UInt64 source,         UInt64 number of the newest event,
//                 UInt64 target                               Int64 position in source, Int64 position in target
//   indexes       UInt32 index, key elements, UInt64 object   empty
//   counts        UInt16 entity                               UInt64 objects
//                 UInt32 relationship, UInt64 owner           UInt64 members in the main table of `links`
//   blobs         32-byte digest                              UInt64 events that name it
//   linksBuffer, indexesBuffer                                recent entries of `links` and `indexes`
//   linksRemovals, indexesRemovals                            keys of recently removed entries of these two
//   -- only in stores whose model has declared views, or had some --
//   viewGroups    UInt32 view, key elements                   GroupState.swift
//   viewValues    UInt32 view, key elements, UInt8 aggregate, UInt64 objects with this value, which the group's
//                 value as in a key                           record does not have (KeptValues.swift)
//   viewOrders    UInt32 view, UInt8 order, values of columns UInt16 bytes of the columns
//                 as in a key, rest of the group's key
//   -- only in stores whose model has a full text, or had one --
//   viewTexts     UInt32 view, UInt8 kind, and more           TextPostings.swift
//
// The elements of a group's key are as in an index (KeyEncoding.swift), but never cut. If key and view take more than
// 224 bytes, the first 192 are followed by the SHA-256 of all of them, and the group's record ends with the whole key.
// A value of more than 286 bytes is shortened in the same way. The values of `max` and `last` are complemented, and so
// are descending columns of an order. A value of `first` or `last` is that of its order, then the UInt64 object id.
//
// An entry of `links` or `indexes` is either in the main table or in its buffer, never in both. A key in the table
// of removals cancels the entry in the main table. Waiting changes may be moved to the main table at any time without
// changing what the view says.
//
// A relationship's links are under the number of the to-many. The links of a to-one without inverse, and of a
// one-to-one that the assignment of numbers marks as filed, are under its hidden inverse (`PropertyID.hiddenInverse`).
// No table uses LMDB's sorted duplicates.

import LMDB
import StrataModel

/// The open tables of one store.
struct StoreTables: Sendable {
    /// The tables that a `WriteBatch` writes, in the order in which they are flushed.
    enum Projected: Int, CaseIterable, Sendable {
        case transactionIDs, models, objects, tombstones, pairs, links, indexes
    }

    let meta: Table
    let state: Table
    let events: Table
    let transactions: Table
    let counts: Table
    let blobs: Table
    // The three tables that every read uses have properties of their own, which saves a look-up in the list.
    let objects: Table
    private(set) var links: BufferedTable
    private(set) var indexes: BufferedTable
    private var projected: [BufferedTable]
    /// Shared by all copies of this value.
    private var declared = OpenViewTables()
    /// When changes wait in buffers.
    var bufferLimits = BufferLimits()
    /// When events go into blocks.
    var packing = PackingLimits()
    /// Whether the counter of an owner's members leaves out the entries that wait, and counts only the main table of
    /// `links`.
    var countsWait = true

    static let names = [
        "meta", "state", "events", "transactions", "transactionIDs", "models", "objects", "tombstones", "pairs",
        "links", "indexes", "counts", "blobs",
    ]
    /// Missing in stores that were created before buffers existed.
    static let bufferNames = ["linksBuffer", "indexesBuffer"]
    /// Missing in stores that were created before removals could wait.
    static let removalNames = ["linksRemovals", "indexesRemovals"]
    /// In the order of `viewTables`.
    static let viewNames = [
        "transactionIDs", "models", "objects", "tombstones", "pairs", "links", "indexes", "counts", "blobs",
    ]

    /// The tables of declared views.
    static let declaredViewNames = ["viewGroups", "viewValues", "viewOrders"]
    /// The table of full texts.
    static let textName = "viewTexts"

    /// The tables of declared views; nil in stores that never had one, and before they are open.
    var views: ViewTables? { declared.tables }

    /// Uses these tables of declared views from now on, in all copies of this value.
    func use(_ views: ViewTables) { declared.open(views) }

    /// The same with the tables of declared views that are open now. Another thread may open some at any time.
    var withFixedViews: StoreTables {
        var other = self
        other.declared = OpenViewTables()
        if let views { other.use(views) }
        return other
    }

    /// Opens the tables of an environment, and creates missing ones if it may write.
    ///
    /// - Throws: `LMDBError` with `notFound` if the tables are not those of a store.
    init(opening environment: Environment) throws {
        // When an older store is opened for reading only, the newest kinds of tables are given up first.
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

    /// The same without buffers: changes do not wait.
    var withoutBuffers: StoreTables { mapped { BufferedTable($0.main) } }

    /// The same without waiting removals.
    var withoutRemovals: StoreTables { mapped { BufferedTable($0.main, buffer: $0.buffer) } }

    private func mapped(_ change: (BufferedTable) -> BufferedTable) -> StoreTables {
        var other = self
        other.links = change(links)
        other.indexes = change(indexes)
        other.projected = projected.map(change)
        return other
    }

    /// The tables that may have buffers.
    var buffered: [BufferedTable] { [links, indexes] }

    func table(_ table: Projected) -> BufferedTable { projected[table.rawValue] }

    var transactionIDs: Table { projected[Projected.transactionIDs.rawValue].main }
    var models: Table { projected[Projected.models.rawValue].main }
    var tombstones: Table { projected[Projected.tombstones.rawValue].main }
    var pairs: Table { projected[Projected.pairs.rawValue].main }

    /// Every table that a rebuild drops and fills again, with its name.
    var viewTables: [(name: String, table: BufferedTable)] {
        var all: [(name: String, table: BufferedTable)] = Array(
            zip(Self.viewNames, projected + [BufferedTable(counts), BufferedTable(blobs)]))
        if let views {
            all += zip(Self.declaredViewNames + [Self.textName], views.all).map { ($0, BufferedTable($1)) }
        }
        return all
    }

    /// Every table, with those of entries that wait.
    var all: [Table] {
        [meta, state, events, transactions]
            + viewTables.flatMap { $0.table.parts }
    }

    /// The table whose waiting entries no counter includes; nil if counters include them.
    var uncounted: BufferedTable? { countsWait && links.buffer != nil ? links : nil }
}

/// The file belongs to LMDB but is not a sound store.
enum StoreFormatError: Error, Sendable {
    case missingTable(String)
}
