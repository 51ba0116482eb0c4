import Foundation
import LMDB
import StrataModel

/// Turns events into views. Saving, rebuilding and importing all use `apply`; there is no other way.
///
/// Writes are collected, and `flush` writes them to the tables in key order. The views are a function of the events
/// alone, and do not depend on how events are grouped into batches (invariant V).
struct Projector: ~Copyable {
    /// Whether several events of one batch may concern one row.
    enum Tracking {
        /// At most one event for each row and batch, as in one save: rows are looked up in the tables only.
        case independent
        /// Rows written earlier in the batch are found in the batch.
        case overlapping
    }

    let tables: StoreTables
    var histories: SchemaHistory { didSet { entities = ProjectedEntities(histories.newest) } }
    var links: LinkMap
    var batch: WriteBatch
    var tracking: Tracking
    /// Whether installing a model fills its indexes and links at once; a migration of a large store does it in steps.
    var fillsAtOnce = true
    var declared = ProjectedViews()
    var observer: (any PriorStateObserver)?
    private var writtenRows = WrittenRows()
    var writtenPairs: [PairKey: PairState?] = [:]
    private var keyWriter = ByteWriter()
    /// The new row of an update, and the properties that it changes.
    private var rowWriter = ByteWriter()
    private var changedProperties: [PropertyID] = []
    private var indexPlan: IndexMap?
    private var entities: ProjectedEntities

    init(tables: StoreTables, histories: SchemaHistory, tracking: Tracking) {
        self.tables = tables
        self.histories = histories
        self.tracking = tracking
        links = histories.newest?.links ?? .empty
        entities = ProjectedEntities(histories.newest)
        batch = WriteBatch(tables: tables)
    }

    /// Applies one event; events come in the order of the log.
    ///
    /// - Parameter before: the image of the row that the event changes or removes, if the caller has just read it.
    mutating func apply(
        _ event: EventView, _ eventNumber: EventNumber, _ transaction: WriteTransaction,
        before: UnsafeRawBufferPointer? = nil
    ) throws {
        let id = event.header.object
        switch event.header.kind {
        case .inserted: try insert(id, event.payload, eventNumber, event.header.previous)
        case .updated: try update(id, event, eventNumber, try currentRow(id, transaction, before))
        case .deleted: try delete(id, event, eventNumber, try currentRow(id, transaction, before))
        case .linked: try link(try event.pair(), eventNumber, transaction)
        case .unlinked: try unlink(try event.pair(), eventNumber, transaction)
        case .moved: try move(try event.pair(), eventNumber, transaction)
        case .modelInstalled: try install(event, eventNumber, transaction)
        case .maintenance: break
        }
    }

    /// Writes what was collected.
    mutating func flush(_ transaction: WriteTransaction) throws {
        try batch.flush(into: transaction)
        forgetWritten()
    }

    /// Swaps the collected writes into `other`, for the caller to write first, and continues with an empty batch.
    mutating func handOver(_ other: inout WriteBatch) {
        swap(&batch, &other)
        forgetWritten()
    }

    /// Drops the changes collected since the last flush.
    mutating func discard() {
        batch.discard()
        forgetWritten()
    }

    private mutating func forgetWritten() {
        writtenRows.removeAll()
        writtenPairs.removeAll(keepingCapacity: true)
    }

    /// Enters a transaction under its id.
    mutating func enter(_ record: TransactionRecord) {
        withUnsafeBytes(of: record.id.uuid) { key in
            withUnsafeBytes(of: record.number.rawValue.littleEndian) {
                batch.put(.transactionIDs, key: key, value: $0)
            }
        }
    }

    /// Adopts a model that was installed since this projector was made.
    mutating func adopt(_ histories: SchemaHistory) {
        guard histories !== self.histories else { return }
        self.histories = histories
        links = histories.newest?.links ?? .empty
    }

    // MARK: Rows

    private func newest() throws -> Schema {
        guard let schema = histories.newest else {
            throw StrataError(.corrupt, "The log has an event before the first model.")
        }
        return schema
    }

    mutating func indexes() throws -> IndexMap {
        let schema = try newest()
        if let indexPlan, indexPlan.schema === schema { return indexPlan }
        let made = IndexMap.of(schema)
        indexPlan = made
        return made
    }

    private mutating func entity(_ id: ObjectID) throws -> ProjectedEntity {
        guard let entity = try entities[id.entityID] else {
            throw StrataError(
                .corrupt, "An event names an entity that no model has.", context: histories.context(of: id))
        }
        return entity
    }

    private mutating func insert(
        _ id: ObjectID, _ image: UnsafeRawBufferPointer, _ eventNumber: EventNumber, _ previous: EventNumber
    ) throws {
        let entity = try entity(id)
        let layout = try histories.layout(of: image, id: id)
        let reader = try RowReader(image, layout: layout)
        writeRow(id, image, eventNumber)
        if previous != .zero { batch.remove(.tombstones, key: id.rawValue) }
        batch.add(1, to: .entity(id.entityID))
        // By index: copying elements would count references, several for each row.
        for index in entity.links.indices {
            try addLink(entity.links[index], of: id, reader, layout, entity.schema)
        }
        for index in entity.indexes.indices {
            try addEntry(entity.indexes[index].index, of: entity.schema, reader, layout, id, entity.plan)
        }
        if !entity.views.isEmpty { try changeGroups(entity, reader, layout, id, 1) }
        if let text = entity.text { try insertText(text, id, reader, layout, entity) }
        if entity.isWatched { try watch(id, before: nil, entity) }
        try countBlobs(reader, layout)
    }

    private mutating func delete(
        _ id: ObjectID, _ event: EventView, _ eventNumber: EventNumber, _ row: CurrentRow
    ) throws {
        guard let entity = try entities[id.entityID] else {
            return try deleteDeparted(id, event, eventNumber, row)
        }
        try observer?.willApply(event, eventNumber, to: row, entity.schema, histories)
        let reader = try RowReader(row.image, layout: row.layout)
        for link in entity.links { try removeLink(link, of: id, reader, row.layout, entity.schema) }
        for index in entity.indexes {
            try removeEntry(index.index, of: entity.schema, reader, row.layout, id, entity.plan)
        }
        if !entity.views.isEmpty { try changeGroups(entity, reader, row.layout, id, -1) }
        if let text = entity.text { try removeText(text, id, reader, row.layout, entity) }
        if entity.isWatched { try watch(id, before: row, entity) }
        removeRow(id, eventNumber)
    }

    /// Deletes an object whose entity has left the model, as an erasure does. Its links and its part of views and texts
    /// have left with the entity. Its entries in indexes stay as long as the past is kept, under numbers that no later
    /// model has.
    private mutating func deleteDeparted(
        _ id: ObjectID, _ event: EventView, _ eventNumber: EventNumber, _ row: CurrentRow
    ) throws {
        guard let entity = try histories.lastSchema(with: id.entityID)?.entity(id.entityID) else {
            _ = try self.entity(id)
            return
        }
        try observer?.willApply(event, eventNumber, to: row, entity, histories)
        removeRow(id, eventNumber)
    }

    private mutating func removeRow(_ id: ObjectID, _ eventNumber: EventNumber) {
        batch.add(-1, to: .entity(id.entityID))
        batch.remove(.objects, key: id.rawValue)
        if case .overlapping = tracking { writtenRows.note(id, .removed) }
        withUnsafeBytes(of: eventNumber.rawValue.littleEndian) { batch.put(.tombstones, key: id.rawValue, value: $0) }
    }

    private mutating func update(
        _ id: ObjectID, _ event: EventView, _ eventNumber: EventNumber, _ row: CurrentRow
    ) throws {
        let entity = try entity(id)
        try observer?.willApply(event, eventNumber, to: row, entity.schema, histories)
        if try !patch(row, with: event, of: entity) {
            try rewrite(row, with: try event.changes(), of: entity.schema)
        }
        let before = try RowReader(row.image, layout: row.layout)
        let after = try RowReader(rowWriter.bytes, layout: entity.layout)
        for index in entity.links.indices where entity.links[index].isTouched(by: changedProperties) {
            try removeLink(entity.links[index], of: id, before, row.layout, entity.schema)
            try addLink(entity.links[index], of: id, after, entity.layout, entity.schema)
        }
        for index in entity.indexes.indices where entity.indexes[index].isTouched(by: changedProperties) {
            try removeEntry(entity.indexes[index].index, of: entity.schema, before, row.layout, id, entity.plan)
            try addEntry(entity.indexes[index].index, of: entity.schema, after, entity.layout, id, entity.plan)
        }
        if !entity.views.isEmpty {
            try changeGroups(entity, from: before, row.layout, to: after, id, touching: changedProperties)
        }
        if let text = entity.text, text.isTouched(by: changedProperties) {
            try updateText(text, id, from: before, row.layout, to: after, entity)
        }
        if entity.isWatched, try entity.plan.views.isWatching(changedProperties) {
            try watch(id, before: row, entity)
        }
        writeRow(id, rowWriter.bytes, eventNumber)
    }

    /// Makes the new row from the bytes of the old one if all new values have a fixed width; decodes no value.
    private mutating func patch(
        _ row: CurrentRow, with event: EventView, of entity: ProjectedEntity
    ) throws -> Bool {
        guard row.layout === entity.layout else { return false }
        _ = try RowReader(row.image, layout: row.layout)
        rowWriter.reset()
        rowWriter.append(row.image)
        return try event.patch(rowWriter.mutableBytes, of: entity.schema, &changedProperties)
    }

    private mutating func rewrite(_ row: CurrentRow, with changes: [PropertyChange], of entity: EntitySchema) throws {
        let image = try Self.applying(changes, to: row, of: entity, histories)
        rowWriter.reset()
        image.bytes.withUnsafeBytes { rowWriter.append($0) }
        changedProperties = changes.map(\.property)
        for change in changes {
            if case .value(.blob(let reference)) = change.after { batch.add(1, to: CounterKey(blob: reference)) }
        }
    }

    /// The row after the changes, in the newest layout.
    static func applying(
        _ changes: [PropertyChange], to row: CurrentRow, of entity: EntitySchema, _ histories: SchemaHistory
    ) throws -> RowImage {
        var builder: RowBuilder
        if row.layout === entity.layout {
            builder = try RowBuilder(row.image, layout: row.layout)
        } else {
            let converted = try histories.converted(row.image, from: row.layout, to: entity)
            builder = try RowBuilder(converted, layout: entity.layout)
        }
        for change in changes {
            guard let slot = entity.slot(of: change.property) else { continue }
            guard case .value(let value) = change.after else {
                throw CorruptRecord("an updated event without a value after", at: 0)
            }
            try builder.set(slot, value)
        }
        return try builder.finish()
    }

    private mutating func writeRow(_ id: ObjectID, _ image: UnsafeRawBufferPointer, _ eventNumber: EventNumber) {
        let size = StoredRow.headerSize + image.count
        let offset = batch.reserve(.objects, key: id.rawValue, size: size) {
            StoredRow.encode(revision: eventNumber, image: image, into: $0)
        }
        if case .overlapping = tracking { writtenRows.note(id, .written(offset: offset, size: size)) }
    }

    /// The row before the event.
    func currentRow(
        _ id: ObjectID, _ transaction: ReadTransaction, _ known: UnsafeRawBufferPointer? = nil
    ) throws -> CurrentRow {
        if let known {
            return CurrentRow(image: known, layout: try histories.layout(of: known, id: id), owner: nil)
        }
        switch writtenRows[id] {
        case .removed?: break
        case .written(let offset, let size)?:
            // Growing moves the batch's bytes, so this row is copied.
            let copy = Array(batch.bytes(at: offset + StoredRow.headerSize, count: size - StoredRow.headerSize))
            let image = RowImage(canonical: copy)
            return CurrentRow(
                image: image.unsafeBytes, layout: try histories.layout(of: image.unsafeBytes, id: id),
                owner: image.bytes)
        case nil:
            guard let bytes = try transaction.get(tables.objects, id.rawValue) else { break }
            let stored = try StoredRow(bytes)
            return CurrentRow(
                image: stored.image, layout: try histories.layout(of: stored.image, id: id), owner: nil)
        }
        throw StrataError(
            .corrupt, "The log changes an object that the views do not have.", context: histories.context(of: id))
    }

    // MARK: Entries

    mutating func addEntry(
        _ index: IndexMap.PreparedIndex, of entity: EntitySchema, _ reader: RowReader, _ layout: RowLayout,
        _ id: ObjectID, _ plan: IndexMap
    ) throws {
        guard try IndexKeys.write(index, of: entity, reader, layout, id, plan, into: &keyWriter) else { return }
        batch.put(.indexes, key: keyWriter.bytes, value: .empty)
    }

    mutating func removeEntry(
        _ index: IndexMap.PreparedIndex, of entity: EntitySchema, _ reader: RowReader, _ layout: RowLayout,
        _ id: ObjectID, _ plan: IndexMap
    ) throws {
        guard try IndexKeys.write(index, of: entity, reader, layout, id, plan, into: &keyWriter) else { return }
        batch.remove(.indexes, key: keyWriter.bytes)
    }

    mutating func addLink(
        _ link: RowLink, of id: ObjectID, _ reader: RowReader, _ layout: RowLayout, _ entity: EntitySchema
    ) throws {
        guard let (owner, position) = Self.end(of: link, reader, layout, entity) else { return }
        StoreKey.withLink(link.link, owner: owner, position: position, member: id) {
            batch.put(.links, key: $0, value: .empty)
        }
        batch.add(1, to: .members(link.link, owner: owner))
    }

    private mutating func removeLink(
        _ link: RowLink, of id: ObjectID, _ reader: RowReader, _ layout: RowLayout, _ entity: EntitySchema
    ) throws {
        guard let (owner, position) = Self.end(of: link, reader, layout, entity) else { return }
        StoreKey.withLink(link.link, owner: owner, position: position, member: id) { batch.remove(.links, key: $0) }
        batch.add(-1, to: .members(link.link, owner: owner))
    }

    /// The owner that the row points at through this link, and its position there.
    static func end(
        of link: RowLink, _ reader: RowReader, _ layout: RowLayout, _ entity: EntitySchema
    ) -> (owner: ObjectID, position: Int64?)? {
        guard let slot = layout.slotNumber(link.slot, of: entity) else { return nil }
        let owner = reader.reference(slot)
        guard !owner.isNil else { return nil }
        guard let positionSlot = link.positionSlot else { return (owner, nil) }
        return (owner, layout.slotNumber(positionSlot, of: entity).flatMap { reader.position($0) } ?? 0)
    }

    /// A large value's counter counts the events that name it. As long as one is kept the file must stay, whatever rows
    /// say.
    private mutating func countBlobs(_ reader: RowReader, _ layout: RowLayout) throws {
        for slot in layout.variableSlots where layout.slots[slot].allowsExternalStorage {
            guard let reference = try reader.blob(slot) else { continue }
            batch.add(1, to: CounterKey(blob: reference))
        }
    }
}
