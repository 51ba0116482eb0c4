import LMDB
package import StrataModel

/// The state of the store at one event number that one operation reads: the base tables in a short read transaction,
/// and layers above them.
///
/// **The layer Reading** answers every question about a state. `SnapshotSource` makes snapshots; `Snapshot` gives rows,
/// links, counts and index ranges of the present, the past and unsaved changes alike; `Maps` are tables computed once
/// for a schema (links, indexes, derived attributes); `Query` compiles, plans and runs requests over a snapshot; `Live`
/// says which objects a change can affect. Layers above it use `Snapshot`, `Layer`, `CompiledQuery`, `LiveQuery` and
/// the maps. Nothing here writes.
///
/// A snapshot, and the bytes that it returns, are valid only inside the read that made it.
package final class Snapshot {
    /// The state that it shows.
    package let eventNumber: EventNumber
    /// The model through which everything is read.
    package let schema: Schema
    let transaction: ReadTransaction
    let tables: StoreTables
    let histories: SchemaHistory
    /// Bottom to top.
    let layers: [Layer]
    /// The entities of which this state lacks values, because their history was thinned.
    private let thinned: Set<EntityID>
    /// Counts the rows that a query reads, for its observers.
    var monitor: QueryMonitor?
    /// Counts the work of a read, and ends a read that takes too much.
    @exclusivity(unchecked) var meter = RequestMeter()
    /// Sizes for planning; nil if nothing is planned.
    let statistics: StatisticsCache?
    /// Shapes of requests that were compiled before; nil if each request is compiled.
    let shapes: QueryShapeCache?
    /// Pages whose rows need no second check; nil if each row is checked.
    let verifiedPages: VerifiedPages?
    /// Makes other states of the same transaction; nil if the model has no views.
    let others: OtherStates?
    /// Whether there may be pairs of no object's relationship, which are passed over.
    let hasStrayPairs: Bool

    init(
        eventNumber: EventNumber, schema: Schema, transaction: ReadTransaction, tables: StoreTables,
        histories: SchemaHistory, layers: [Layer], statistics: StatisticsCache? = nil,
        shapes: QueryShapeCache? = nil, verifiedPages: VerifiedPages? = nil, others: OtherStates? = nil,
        hasStrayPairs: Bool = false
    ) {
        self.hasStrayPairs = hasStrayPairs
        self.statistics = statistics
        self.shapes = shapes
        self.verifiedPages = verifiedPages
        self.others = others
        self.eventNumber = eventNumber
        self.schema = schema
        self.transaction = transaction
        self.tables = tables
        self.histories = histories
        self.layers = layers.isEmpty ? layers : layers.filter { !$0.isEmpty }
        thinned = layers.contains { !$0.thinned.isEmpty } ? layers.reduce(into: []) { $0.formUnion($1.thinned) } : []
    }

    /// - Throws: `historyDropped` for an entity of which this state lacks values.
    private func checkKept(_ entities: some Sequence<EntityID>) throws {
        guard let entity = entities.first(where: { thinned.contains($0) }) else { return }
        throw try ThinnedEntities.refusal(eventNumber, entity, LogReader(transaction, tables, histories))
    }

    // MARK: Rows

    /// The object's row, or nil if there is no such object in this state.
    ///
    /// - Throws: `corrupt` if the stored row does not match its checksum; `historyDropped` if values of the entity were
    ///   dropped that this state had.
    /// - Complexity: one lookup, about 1 us from a large store.
    package func row(_ id: ObjectID) throws -> SnapshotRow? {
        if !thinned.isEmpty { try checkKept(CollectionOfOne(id.entityID)) }
        return try row(id, below: layers.count)
    }

    package func exists(_ id: ObjectID) throws -> Bool {
        for layer in layers.reversed() {
            if layer.touches(id) { return !layer.isAbsent(id) }
        }
        return try transaction.get(tables.objects, id.rawValue) != nil
    }

    /// The row in the base and the first `level` layers.
    func row(_ id: ObjectID, below level: Int) throws -> SnapshotRow? {
        var index = level
        while index > 0 {
            index -= 1
            switch try layers[index].state(of: id) {
            case .absent?: return nil
            case .row(let image, let layout, let revision)?:
                return SnapshotRow(image: image, layout: layout, revision: revision, histories: histories)
            case .delta(let delta)?: return try row(id, with: delta, of: index)
            case nil: continue
            }
        }
        return try baseRow(id)
    }

    /// The row that the delta of layer `level` makes of the row below; the layer keeps it.
    private func row(_ id: ObjectID, with delta: Layer.Delta, of level: Int) throws -> SnapshotRow {
        let layer = layers[level]
        guard let entity = layer.schema.entity(id.entityID) else {
            throw StrataError(
                .corrupt, "An object id belongs to no entity of the model.", context: histories.context(of: id))
        }
        let image: RowImage
        if let known = layer.image(of: id) {
            image = known
        } else {
            guard let below = try row(id, below: level) else {
                throw StrataError(
                    .corrupt, "The log names an object that is neither in `objects` nor in `tombstones`.",
                    context: histories.context(of: id))
            }
            image = try delta.applied(to: try below.converted(to: entity), entity)
            layer.keep(image, of: id)
        }
        return SnapshotRow(image: image, layout: entity.layout, revision: delta.revision, histories: histories)
    }

    private func baseRow(_ id: ObjectID) throws -> SnapshotRow? {
        try SnapshotRow(id, in: transaction, tables.objects, histories)
    }

    /// A value of the `objects` table, checked.
    func storedRow(_ bytes: UnsafeRawBufferPointer, _ id: ObjectID) throws -> SnapshotRow {
        try SnapshotRow(stored: bytes, id, histories)
    }

    /// The pair's positions; nil if it is not linked in this state.
    package func pair(_ key: PairKey) throws -> PairPositions? { try pair(key, below: layers.count) }

    /// The pair's positions in the base and the first `level` layers; nil if it is not linked.
    func pair(_ key: PairKey, below level: Int) throws -> PairPositions? {
        var index = level
        while index > 0 {
            index -= 1
            if let positions = layers[index].pairs[key] { return positions }
            if layers[index].isAbsent(key.source) || layers[index].isAbsent(key.target) { return nil }
        }
        return try pairState(key)?.positions
    }

    /// The record of a pair in the base; nil if it is not linked there.
    func pairState(_ key: PairKey) throws -> PairState? {
        try StoreKey.withPair(key) { bytes in
            try transaction.get(tables.pairs, bytes).map { value throws(CorruptRecord) in try PairState(value) }
        }
    }

    // MARK: Entities

    /// The number of objects of exactly this entity: a counter corrected by the layers.
    package func count(of entity: EntityID) throws -> Int {
        var count = try counter(.entity(entity))
        for (level, layer) in layers.enumerated() {
            if let balance = layer.balance(of: entity) {
                count += balance
                continue
            }
            for id in layer.touched(entity) where layer.changesExistence(of: id) {
                count += layer.isAbsent(id) ? 0 : 1
                count -= try row(id, below: level) == nil ? 0 : 1
            }
        }
        return count
    }

    /// Calls `body` with every object of exactly this entity and its row, by id, until it returns false.
    package func scan(_ entity: EntityID, _ body: (ObjectID, SnapshotRow) throws -> Bool) throws {
        if !thinned.isEmpty { try checkKept(CollectionOfOne(entity)) }
        let added = LayeredKeys(layers.map { $0.presentKeys(entity) })
        var (seen, isStopped) = (0, false)
        let lower = ObjectID(entity: entity, row: 0).rawValue
        let upper = ObjectID(entity: entity, row: ObjectID.maximumRow).rawValue
        try withUnsafeBytes(of: lower.bigEndian) { lower in
            try withUnsafeBytes(of: upper.bigEndian) { upper in
                let scan = MergedScan(
                    table: BufferedTable(tables.objects), lower: lower, upper: upper, isUpperIncluded: true,
                    isDescending: false)
                try scan.run(self, added, isHidden: { self.isHidden($0, above: $1) }) { key, value in
                    try spend(rows: 1)
                    let id = StoreKey.lastObjectID(key)
                    if let value {
                        seen += 1
                        isStopped = try !body(id, try storedRow(value, id))
                        return !isStopped
                    }
                    guard let row = try row(id) else { return true }
                    return try body(id, row)
                }
            }
        }
        if layers.isEmpty, !isStopped { try check(seen, of: entity) }
    }

    // MARK: Indexes

    /// Calls `body` with the id and key of every entry of `index` from `lower` up to `upper` (whole keys without the
    /// index number, compared bytewise), in key order or against it, until it returns false.
    package func scan(
        _ index: IndexSchema, lower: [UInt8], upper: [UInt8]?, isDescending: Bool = false,
        _ body: (ObjectID, UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        if !thinned.isEmpty { try checkKept(schema.entity(index.entityID)?.concreteEntityIDs ?? []) }
        let added = LayeredKeys(
            try layers.enumerated().map { try $0.element.addedEntries(index, self, below: $0.offset + 1) })
        try StoreKey.withIndexRange(index.id, lower, upper) { low, high in
            let scan = MergedScan(
                table: tables.indexes, lower: low, upper: high, isUpperIncluded: false, isDescending: isDescending)
            try scan.run(self, added, isHidden: { self.isHidden($0, index, above: $1) }) { key, _ in
                try spend(entries: 1)
                return try body(StoreKey.lastObjectID(key), key)
            }
        }
    }

    /// Appends the ids of entries of `index` in the base from `lower` up to `upper`, at most `limit`; layers are
    /// ignored.
    func appendBaseEntries(
        _ index: IndexSchema, lower: [UInt8], upper: [UInt8]?, atMost limit: Int, to ids: inout [ObjectID]
    ) throws {
        try StoreKey.withIndexRange(index.id, lower, upper) { low, high in
            try tables.indexes.withCursor(transaction) { cursor in
                var left = limit
                var isThere = try cursor.seek(atOrAfter: low)
                while isThere, left > 0, cursor.key.compare(with: high) < 0 {
                    try spend(entries: 1)
                    ids.append(StoreKey.lastObjectID(cursor.key))
                    left -= 1
                    isThere = try cursor.advance()
                }
            }
        }
    }

    /// The number of entries of `index` from `lower` up to `upper`; counting stops at `limit`.
    func countEntries(
        _ index: IndexSchema, lower: [UInt8], upper: [UInt8]?, atMost limit: Int
    ) throws -> Int {
        guard layers.isEmpty else {
            var count = 0
            try scan(index, lower: lower, upper: upper) { _, _ in
                count += 1
                return count < limit
            }
            return count
        }
        return try StoreKey.withIndexRange(index.id, lower, upper) { low, high in
            try tables.indexes.withCursor(transaction) { cursor in
                _ = try cursor.seek(atOrAfter: low)
                let count = try cursor.count(below: high, atMost: limit)
                try spend(values: count / 64)
                return count
            }
        }
    }

    /// Calls `body` with each group of entries of `index` in the base that have the same beginning, from `lower` up to
    /// `upper` in key order: the least id among them and their number. Layers are ignored.
    ///
    /// - Parameter prefixSize: the length of the beginning that a key shares with its group; nil ends the walk.
    /// - Returns: whether the walk came to the end.
    func forEachBaseGroup(
        _ index: IndexSchema, lower: [UInt8], upper: [UInt8]?,
        prefixSize: (UnsafeRawBufferPointer) throws -> Int?, _ body: (ObjectID, Int) -> Void
    ) throws -> Bool {
        try StoreKey.withIndexRange(index.id, lower, upper) { low, high in
            try tables.indexes.withCursors(transaction) { main, buffer in
                var groups = try EntryGroups(main, from: low, below: high)
                guard let buffer else {
                    while let group = try groups.next(prefixSize) { body(group.first, group.count) }
                    return groups.isWhole
                }
                var others = try EntryGroups(MainCursor(buffer), from: low, below: high)
                try groups.merge(&others, prefixSize, body)
                return groups.isWhole && others.isWhole
            }
        }
    }

    /// Whether a layer above `level` covers the object at the end of the key.
    private func isHidden(_ key: UnsafeRawBufferPointer, above level: Int) -> Bool {
        let id = StoreKey.lastObjectID(key)
        var index = layers.count
        while index > level {
            index -= 1
            if layers[index].touches(id) { return true }
        }
        return false
    }

    /// Whether a layer above `level` may change the entry of the object at its end.
    private func isHidden(_ key: UnsafeRawBufferPointer, _ index: IndexSchema, above level: Int) -> Bool {
        let id = StoreKey.lastObjectID(key)
        return layers[level...].contains { $0.touches(id, index) }
    }

    /// The value of a slot of the newest layout. A property that the row is too old to hold has its first default.
    func value(_ slot: Int, of row: SnapshotRow, _ reader: RowReader, _ entity: EntitySchema) throws -> AttributeValue {
        guard let ownSlot = row.layout.slotNumber(slot, of: entity) else {
            return schema.assignment.bornDefaults[entity.properties[slot].id] ?? .null
        }
        let value = try reader.value(ownSlot)
        return row.layout === entity.layout ? value : value.fitting(entity.layout.slots[slot])
    }

    func counter(_ key: CounterKey) throws -> Int {
        try key.withBytes { bytes in
            let counted = try transaction.get(tables.counts, bytes).map { try Int(CounterKey.value($0)) } ?? 0
            guard bytes.count == CounterKey.membersSize, let waiting = tables.uncounted else { return counted }
            return try counted + waiting.balance(of: bytes, transaction)
        }
    }
}
