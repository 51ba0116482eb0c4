import Foundation
import LMDB
import StrataModel

/// How many pages a save will touch, told before its first put (STORE-RULES 11).
///
/// A bound from the number of events alone settles nearly every save. Only where it is too large the tables are looked
/// at: keys at random among P pages touch P * (1 - e^(-keys/P)) of them (the expected number of occupied cells, W. Feller,
/// "An Introduction to Probability Theory", 1968, IV.2); rows, which are changed in the order of their ids, as many as
/// they have pages of their entity.
struct WriteEstimate {
    private static let pageSize = 4096
    /// Short entries of an index or of links that go into one new page, at least.
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

    /// - Returns: nil when the save is within the limit.
    func pages(above limit: Int) throws -> Int? {
        let bound = try roughBound()
        guard bound > limit else { return nil }
        let estimate = min(bound, try refined())
        return estimate > limit ? estimate : nil
    }

    /// Holds whatever the events are.
    private func roughBound() throws -> Int {
        let indexPages = try snapshot.tables.indexes.leafPageCount(snapshot.transaction)
        let rowPages = try snapshot.transaction.statistics(snapshot.tables.objects).leafPageCount
        let linkPages = try snapshot.tables.links.leafPageCount(snapshot.transaction)
        return logPages + min(eventCount * 4, indexPages + linkPages + eventCount / Self.entriesPerPage)
            + min(eventCount, rowPages)
    }

    private func refined() throws -> Int {
        let runs = alikeUpdates()
        return try logPages + rowPages() + indexPages(runs) + linkPages(runs)
    }

    // MARK: Rows

    /// Pages of the rows that are there already.
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

    /// In order, and so those of an entity together.
    private var changedIDs: [ObjectID] {
        var ids = changes.updates.map(\.id) + changes.deletions.map(\.id)
        // Contexts give both lists in order, and most saves have one of them.
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

    /// How many of `count` equal parts of the span the ids, which are in order, fall into.
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
        for insertion in changes.insertions { keys += snapshot.plan.rowLinks(of: insertion.id.entityID).count }
        for deletion in changes.deletions { keys += snapshot.plan.rowLinks(of: deletion.id.entityID).count }
        for run in runs {
            let links = snapshot.plan.rowLinks(of: run.entity.id)
            keys += 2 * run.count * links.count { Projector.touches($0, run.changed, run.entity) }
        }
        var pages = 0
        for table in [snapshot.tables.links.main, snapshot.tables.counts, snapshot.tables.pairs] {
            let statistics = try snapshot.transaction.statistics(table)
            pages += Self.touched(by: keys, share: statistics.entryCount, of: statistics)
        }
        let tombstones = try snapshot.transaction.statistics(snapshot.tables.tombstones)
        return pages + Self.touched(by: changes.deletions.count, share: tombstones.entryCount, of: tombstones)
    }

    /// Updates in a row that change the same properties of one entity, as most of a large save do, and how many they are.
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

    /// Pages that keys at random touch in the part of a table that `share` of its entries take, and new ones.
    private static func touched(by keys: Int, share: Int, of table: TableStatistics) -> Int {
        let growth = keys / entriesPerPage
        guard keys > 0, table.entryCount > 0 else { return growth }
        let pages = max(1, Double(table.leafPageCount) * min(1, Double(share) / Double(table.entryCount)))
        return Int(pages * (1 - exp(-Double(keys) / pages))) + growth
    }
}
