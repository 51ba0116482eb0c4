import LMDB
import StrataModel

extension Snapshot {
    /// Calls `body` with every object of exactly this entity and a reader of its row in the newest layout, by id, until
    /// it returns false.
    func forEachRow(of entity: EntitySchema, _ body: (ObjectID, RowReader) throws -> Bool) throws {
        guard let monitor else { return try walk(entity, body) }
        try walk(entity) { id, row in
            monitor.noteRow()
            return try body(id, row)
        }
    }

    private func walk(_ entity: EntitySchema, _ body: (ObjectID, RowReader) throws -> Bool) throws {
        guard layers.isEmpty else {
            return try scan(entity.id) { id, row in
                try row.withNewestReader(id, schema) { try body(id, $0) }
            }
        }
        var walk = PageWalk(verifiedPages ?? VerifiedPages(), transaction)
        var seen = ScannedRows(before: ObjectID(entity: entity.id, row: 0))
        let isStopped = try transaction.withCursor(tables.objects) { cursor in
            var isThere = try cursor.seek(atOrAfter: ObjectID(entity: entity.id, row: 0).rawValue)
            while isThere {
                let records = cursor.pageRecords()
                cursor.prefetchPageBehind()
                let isVerified = walk.turn(to: records)
                try spend(rows: records.count)
                guard try visit(records, of: entity, isVerified, &seen, body) else { return !seen.isAtEnd }
                isThere = try cursor.move(behind: records)
            }
            return false
        }
        walk.finish()
        if !isStopped { try check(seen.count, of: entity.id) }
    }

    /// Checks that a whole scan has met as many rows as the entity has: a key that is damaged ends a scan before its
    /// time.
    func check(_ scannedCount: Int, of entity: EntityID) throws {
        let count = try counter(.entity(entity))
        guard scannedCount != count else { return }
        throw incompleteScan(scannedCount, count, entity)
    }

    @inline(never)
    private func incompleteScan(_ scannedCount: Int, _ count: Int, _ entity: EntityID) -> StrataError {
        let name = schema.entity(entity)?.name ?? "entity \(entity.rawValue)"
        return StrataError(
            .corrupt,
            "The table 'objects' or its counters are damaged: \(scannedCount) of \(count) objects were found. Rebuild the "
                + "views from the log ('strata rebuild').", context: .init(entityName: name))
    }

    /// - Returns: whether the walk continues after these records.
    @inline(__always)
    private func visit(
        _ records: PageRecords, of entity: EntitySchema, _ isVerified: Bool, _ seen: inout ScannedRows,
        _ body: (ObjectID, RowReader) throws -> Bool
    ) throws -> Bool {
        let layout = entity.layout
        for index in 0..<records.count {
            let record = try records.record(index)
            let id = StoreKey.lastObjectID(record.key)
            guard id.entityID == entity.id else {
                seen.isAtEnd = true
                return false
            }
            guard seen.note(id) else { throw incompleteScan(seen.count, try counter(.entity(entity.id)), entity.id) }
            // A long row has pages of its own.
            let isVerified = isVerified && record.isInPage
            guard try withBaseRow(record.value, id, layout, isVerified: isVerified, { try body(id, $0) }) else {
                return false
            }
        }
        return true
    }

    /// Calls `body` with each existing object among sorted ids and a reader of its row in the newest layout, until it
    /// returns false.
    func forEachRow(of ids: [ObjectID], _ body: (ObjectID, RowReader) throws -> Bool) throws {
        guard let monitor else { return try walk(ids, body) }
        try walk(ids) { id, row in
            monitor.noteRow()
            return try body(id, row)
        }
    }

    private func walk(_ ids: [ObjectID], _ body: (ObjectID, RowReader) throws -> Bool) throws {
        guard layers.isEmpty, ids.count > 1 else {
            for id in ids {
                try spend(rows: 1)
                guard let row = try row(id) else { continue }
                guard try row.withNewestReader(id, schema, { try body(id, $0) }) else { return }
            }
            return
        }
        try transaction.withCursor(tables.objects) { cursor in
            var entity: EntitySchema?
            try RowLookup(cursor).forEach(ids.count, id: { ids[$0] }) { _, id, value in
                try spend(rows: 1)
                guard let value else { return true }
                if entity?.id != id.entityID { entity = schema.entity(id.entityID) }
                guard let entity else {
                    return try storedRow(value, id).withNewestReader(id, schema) { try body(id, $0) }
                }
                return try withBaseRow(value, id, entity.layout) { try body(id, $0) }
            }
        }
    }

    /// Checks a value of the `objects` table and reads it in the newest layout, which nearly every row has.
    @inline(__always)
    private func withBaseRow<R>(
        _ bytes: UnsafeRawBufferPointer, _ id: ObjectID, _ layout: RowLayout, isVerified: Bool = false,
        _ body: (RowReader) throws -> R
    ) throws -> R {
        let reader: RowReader?
        do throws(CorruptRecord) {
            let image = try isVerified ? StoredRow(unverified: bytes).image : StoredRow(bytes).image
            reader = RowLayout.header(of: image) == layout.header ? try RowReader(image, layout: layout) : nil
        } catch {
            throw StrataError.corrupt(error, "objects", histories.context(of: id))
        }
        if let reader { return try body(reader) }
        return try storedRow(bytes, id).withNewestReader(id, schema, body)
    }

    /// Finds rows one after another. Ids in ascending order are found without a search from the root for each;
    /// consecutive ids without any search.
    struct RowFinder: ~Copyable {
        private let snapshot: Snapshot
        /// Nil if each row is read through the snapshot.
        private var search: NearbySearch?

        fileprivate init(_ snapshot: Snapshot, _ cursor: Cursor?) {
            self.snapshot = snapshot
            search = cursor.map { NearbySearch($0) }
        }

        mutating func row(_ id: ObjectID) throws -> SnapshotRow? {
            guard search != nil else { return try snapshot.row(id) }
            return try search?.value(of: id.rawValue).map { try snapshot.storedRow($0, id) }
        }

        mutating func contains(_ id: ObjectID) throws -> Bool {
            guard search != nil else { return try snapshot.exists(id) }
            return try search?.value(of: id.rawValue) != nil
        }
    }

    /// - Parameter count: about how many rows will be read.
    func findRows(_ count: Int, _ body: (inout RowFinder) throws -> Void) throws {
        guard layers.isEmpty, count > 4 else {
            var finder = RowFinder(self, nil)
            return try body(&finder)
        }
        try transaction.withCursor(tables.objects) { cursor in
            var finder = RowFinder(self, cursor)
            try body(&finder)
        }
    }

    /// The number of objects of these entities by the counters of the base; an estimate if there are layers.
    func roughCount(of entities: [EntitySchema]) throws -> Int {
        var count = 0
        for entity in entities {
            count += try statistics?.count(of: entity.id, self) ?? counter(.entity(entity.id))
        }
        return count
    }
}

extension RowLayout {
    /// The first eight bytes of a row image, which name its layout; 0, which names none, if the image is shorter.
    fileprivate static func header(of image: UnsafeRawBufferPointer) -> UInt64 {
        image.count < headerSize ? 0 : UInt64(littleEndian: image.loadUnaligned(as: UInt64.self))
    }
}

/// The count and the order of the rows that a scan of one entity has read so far.
private struct ScannedRows {
    private(set) var count = 0
    /// Whether a row of another entity has ended the scan.
    var isAtEnd = false
    private var last: ObjectID

    init(before first: ObjectID) { last = first }

    /// Counts a row.
    ///
    /// - Returns: false if its id is not behind the last one.
    @inline(__always)
    mutating func note(_ id: ObjectID) -> Bool {
        let isInOrder = last < id
        last = id
        count &+= 1
        return isInOrder
    }
}
