import Foundation
import LMDB
import StrataModel

/// Estimates how many pages a save will touch, before its first write (rule 11 of CONTRIBUTING.md).
///
/// A bound from the number of events alone settles nearly every save. Only if it is too large, or views are declared,
/// are the tables examined:
/// random keys among P pages touch P * (1 - e^(-keys/P)) of them (the expected number of occupied cells, W. Feller, "An
/// Introduction to Probability Theory", 1968, IV.2). Rows are changed in the order of their ids, and touch at most the
/// pages that the ids span.
struct WriteEstimate {
    private static let pageSize = 4096
    /// The least number of short index or link entries on a new page.
    private static let entriesPerPage = 20
    private let changes: ChangeSet
    private let snapshot: Snapshot
    /// Pages of the log and of new rows.
    private let logPages: Int
    private let eventCount: Int

    init(_ changes: ChangeSet, _ events: borrowing EventList, _ snapshot: Snapshot) {
        self.changes = changes
        self.snapshot = snapshot
        logPages = (events.sizeInBytes / Self.pageSize + 1) * 2
        eventCount = events.count
    }

    /// - Returns: nil if the save is within the limit.
    func pages(above limit: Int) throws -> Int? {
        if logPages + 5 * eventCount <= limit, try !changesDeclaredViews() { return nil }
        let bound = try roughBound()
        guard bound > limit else { return nil }
        let estimate = min(bound, try refined())
        return estimate > limit ? estimate : nil
    }

    /// A bound that holds whatever the events are.
    private func roughBound() throws -> Int {
        let indexPages = try snapshot.tables.indexes.leafPageCount(snapshot.transaction)
        let rowPages = try snapshot.transaction.statistics(snapshot.tables.objects).leafPageCount
        let linkPages = try snapshot.tables.links.leafPageCount(snapshot.transaction)
        return try logPages + min(eventCount * 4, indexPages + linkPages + eventCount / Self.entriesPerPage)
            + min(eventCount, rowPages) + viewPages()
    }

    private func refined() throws -> Int {
        let runs = alikeUpdates()
        return try logPages + rowPages() + indexPages(runs) + linkPages(runs) + viewPages()
    }

    private func changesDeclaredViews() throws -> Bool {
        guard snapshot.tables.views != nil else { return false }
        let map = IndexMap.of(snapshot.schema)
        return try !map.views.inline.isEmpty || !map.texts.texts.isEmpty
    }

    // MARK: Rows

    /// Pages of existing rows.
    private func rowPages() throws -> Int {
        let table = try snapshot.transaction.statistics(snapshot.tables.objects)
        guard table.entryCount > 0 else { return 0 }
        let ids = changedIDs
        var pages = 0
        var start = 0
        while start < ids.count {
            let entity = ids[start].entityID
            let end = ids[start...].firstIndex { $0.entityID != entity } ?? ids.count
            let count = try snapshot.counter(.entity(entity))
            let own = max(1, table.leafPageCount * count / table.entryCount)
            pages += min(own, try Self.cells(of: ids[start..<end], span: span(of: entity), count: own))
            start = end
        }
        return pages
    }

    /// Sorted, so that ids of an entity are together.
    private var changedIDs: [ObjectID] {
        var ids = changes.updates.map(\.id) + changes.deletions.map(\.id)
        // Contexts sort both lists, and most saves have only one of them.
        if zip(ids, ids.dropFirst()).contains(where: { $1 < $0 }) { ids.sort() }
        return ids
    }

    /// The smallest and the largest id of an entity.
    private func span(of entity: EntityID) throws -> ClosedRange<UInt64> {
        let least = ObjectID(entity: entity, row: 0).rawValue
        let end = ObjectID(entity: entity, row: ObjectID.maximumRow).rawValue
        return try snapshot.transaction.withCursor(snapshot.tables.objects) { cursor in
            guard try cursor.seek(atOrAfter: least) else { return least...end }
            let first = StoreKey.objectID(cursor.key, at: 0).rawValue
            guard first <= end, try cursor.seek(before: end) else { return least...end }
            return first...max(first, StoreKey.objectID(cursor.key, at: 0).rawValue)
        }
    }

    /// Counts those of `count` equal parts of the span that contain one of the sorted ids.
    private static func cells(of ids: ArraySlice<ObjectID>, span: ClosedRange<UInt64>, count: Int) -> Int {
        let width = max(1, (span.upperBound - span.lowerBound) / UInt64(count))
        var (cells, last): (Int, UInt64?) = (0, nil)
        for id in ids {
            let cell = id.rawValue < span.lowerBound ? 0 : (id.rawValue - span.lowerBound) / width
            if cell != last { cells += 1 }
            last = cell
        }
        return cells
    }

    // MARK: Entries

    private func indexPages(_ runs: [AlikeUpdates]) throws -> Int {
        let table = try snapshot.transaction.statistics(snapshot.tables.indexes.main)
        var keys: [IndexID: Int] = [:]
        let plan = IndexMap.of(snapshot.schema)
        for insertion in changes.insertions {
            for index in try plan.indexes(of: insertion.id.entityID) { keys[index.index.id, default: 0] += 1 }
        }
        for run in runs {
            for index in try plan.indexes(of: run.entity.id) where Projector.touches(index.index, run.changed) {
                keys[index.index.id, default: 0] += 2 * run.count
            }
        }
        for deletion in changes.deletions {
            for index in try plan.indexes(of: deletion.id.entityID) { keys[index.index.id, default: 0] += 1 }
        }
        var pages = 0
        for index in snapshot.schema.indexes {
            guard let count = keys[index.id], let entity = snapshot.schema.entity(index.entityID) else { continue }
            let entries = try entity.concreteEntityIDs.reduce(0) { try $0 + snapshot.counter(.entity($1)) }
            pages += Self.touched(by: count, share: entries, of: table)
        }
        return pages
    }

    private func linkPages(_ runs: [AlikeUpdates]) throws -> Int {
        var keys = 2 * max(0, eventCount - changes.insertions.count - changes.updates.count - changes.deletions.count)
        for insertion in changes.insertions { keys += snapshot.schema.links.rowLinks(of: insertion.id.entityID).count }
        for deletion in changes.deletions { keys += snapshot.schema.links.rowLinks(of: deletion.id.entityID).count }
        for run in runs {
            let links = snapshot.schema.links.rowLinks(of: run.entity.id)
            keys += 2 * run.count * links.count { $0.isTouched(by: run.changed) }
        }
        var pages = 0
        for table in [snapshot.tables.links.main, snapshot.tables.counts, snapshot.tables.pairs] {
            let statistics = try snapshot.transaction.statistics(table)
            pages += Self.touched(by: keys, share: statistics.entryCount, of: statistics)
        }
        let tombstones = try snapshot.transaction.statistics(snapshot.tables.tombstones)
        return pages + Self.touched(by: changes.deletions.count, share: tombstones.entryCount, of: tombstones)
    }

    /// Pages of declared views.
    private func viewPages() throws -> Int {
        guard let tables = snapshot.tables.views else { return 0 }
        let views = try IndexMap.of(snapshot.schema).views.inline
        var keys = [0, 0, 0]
        for view in views {
            let reach = try reach(of: view)
            keys[0] += reach
            keys[1] += reach * view.aggregates.count { $0.kind == .distinct || $0.kind.extremeCount > 0 }
            keys[2] += 2 * reach * view.orders.count
        }
        if try areValuesInGroups(keys[0], tables) { keys[1] = 0 }
        var pages = 0
        for (table, keys) in zip([tables.groups, tables.values, tables.orders], keys) {
            let statistics = try snapshot.transaction.statistics(table)
            let most = statistics.leafPageCount + eventCount
            pages += min(most, Self.touched(by: keys, share: statistics.entryCount, of: statistics))
        }
        return try pages + textPages()
    }

    /// Whether groups are small and stay small, so that their records have all values (`KeptValues`). A value seldom takes
    /// more than 20 bytes.
    private func areValuesInGroups(_ reach: Int, _ tables: ViewTables) throws -> Bool {
        guard try snapshot.transaction.statistics(tables.values).entryCount == 0 else { return false }
        let groups = try snapshot.transaction.statistics(tables.groups).entryCount
        return reach / max(1, groups) < KeptValues.limit / 20
    }

    /// Pages of full texts. Half of the bytes of rows may be words of five letters, each in a record of its own.
    private func textPages() throws -> Int {
        let texts = try IndexMap.of(snapshot.schema).texts
        guard !texts.texts.isEmpty, let table = snapshot.tables.views?.texts else { return 0 }
        let own = Set(texts.texts.flatMap(\.entities))
        let objects =
            changes.insertions.count { own.contains($0.id.entityID) }
            + changes.updates.count { own.contains($0.id.entityID) }
            + changes.deletions.count { own.contains($0.id.entityID) }
        guard objects > 0 else { return 0 }
        let statistics = try snapshot.transaction.statistics(table)
        let words = logPages * Self.pageSize / 12 + objects * 64
        return min(statistics.leafPageCount + words / Self.entriesPerPage, words)
    }

    /// About how many objects change their groups. An object at the far end of a to-one moves as many as there are for
    /// each such object.
    private func reach(of view: PreparedView) throws -> Int {
        let own = Set(view.entities)
        var reach =
            changes.insertions.count { own.contains($0.id.entityID) }
            + 2 * changes.updates.count { own.contains($0.id.entityID) }
            + changes.deletions.count { own.contains($0.id.entityID) }
        guard view.crossesRelationships else { return reach }
        // Each link may move an object in two groups.
        let rows = changes.insertions.count + changes.updates.count + changes.deletions.count
        if !view.pairs.isEmpty { reach += 2 * max(0, eventCount - rows) }
        let far = Set(view.readings.filter { !$0.hops.isEmpty }.flatMap(\.entities)).subtracting(own)
        let moved =
            changes.updates.count { far.contains($0.id.entityID) }
            + changes.deletions.count { far.contains($0.id.entityID) }
        if moved == 0 { return reach }
        let ownCount = try own.reduce(0) { try $0 + snapshot.counter(.entity($1)) }
        let farCount = try far.reduce(0) { try $0 + snapshot.counter(.entity($1)) }
        return reach + 2 * moved * max(1, ownCount / max(1, farCount))
    }

    /// The number of consecutive updates that change the same properties of one entity, as most updates of a large save
    /// do.
    private typealias AlikeUpdates = (entity: EntitySchema, changed: [PropertyID], count: Int)

    private func alikeUpdates() -> [AlikeUpdates] {
        var runs: [AlikeUpdates] = []
        var start = 0
        while start < changes.updates.count {
            let (id, slots) = (changes.updates[start].id.entityID, changes.updates[start].changedSlots)
            var end = start + 1
            while end < changes.updates.count, changes.updates[end].id.entityID == id,
                changes.updates[end].changedSlots == slots
            {
                end += 1
            }
            if let entity = snapshot.schema.entity(id) {
                runs.append((entity, slots.map { entity.properties[$0].id }, end - start))
            }
            start = end
        }
        return runs
    }

    /// The pages that random keys touch in the part of a table that holds `share` of its entries, and new pages.
    private static func touched(by keys: Int, share: Int, of table: TableStatistics) -> Int {
        let growth = keys / entriesPerPage
        guard keys > 0, table.entryCount > 0 else { return growth }
        let pages = max(1, Double(table.leafPageCount) * min(1, Double(share) / Double(table.entryCount)))
        return Int(pages * (1 - exp(-Double(keys) / pages))) + growth
    }
}
