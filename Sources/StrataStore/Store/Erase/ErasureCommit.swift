import Foundation
import LMDB
import Locking
import StrataModel

/// One commit of an erasure.
struct ErasureCommit: ~Copyable {
    let file: StoreFile
    let transaction: WriteTransaction
    let tables: StoreTables
    let erased: ErasedProperties
    /// The event that recorded the erasure, if it was made in another log: later events stay.
    private let recordedAt: EventNumber?
    var projector: Projector
    private var head: LogHead
    private(set) var eventCount = 0
    private(set) var changedTransactions: [ErasureRecord.ChangedTransaction] = []
    private var touched: Set<TransactionNumber> = []
    /// The transactions that have lost values, if others share them.
    private(set) var unshared: Set<TransactionNumber> = []
    /// The objects whose events were changed.
    private var changedObjects: Set<ObjectID> = []
    private var texts: Set<String> = []
    private var fillers: [EntityID: [PropertyID: AttributeValue]] = [:]

    init(
        _ file: StoreFile, _ transaction: WriteTransaction, properties: Set<PropertyID>?,
        recordedAt: EventNumber? = nil
    ) throws {
        let head = try file.readHead(transaction)
        let histories = try file.histories(for: head, transaction)
        // Nothing waits that holds a value.
        var tables = file.tables
        tables.bufferLimits.fewestPages = .max
        var projector = Projector(tables: tables, histories: histories, tracking: .independent)
        try projector.noteBuildingViews(at: head.event, transaction)
        try projector.checkTables(transaction)
        self.file = file
        self.transaction = transaction
        self.tables = tables
        self.head = head
        self.recordedAt = recordedAt
        erased = ErasedProperties(properties: properties, histories: histories)
        self.projector = projector
    }

    private var isShared: Bool { file.gate.withLock { $0 != nil } }

    private var reader: LogReader { LogReader(transaction, tables, projector.histories) }

    /// The objects that the log has, whether they exist or not, and those that it may have had before it was truncated:
    /// copies elsewhere may have them.
    func known(_ ids: [ObjectID]) throws -> [ObjectID] {
        try ids.filter { try newestEvent(of: $0) != nil || mayBeDropped($0) }
    }

    private func mayBeDropped(_ id: ObjectID) throws -> Bool {
        guard head.firstKeptEvent > EventNumber(rawValue: 1),
            try id.row < RowLease.firstUnleased(transaction, tables.state)
        else { return false }
        let entities = Set(try projector.histories.schemas.flatMap(\.entities).filter { !$0.isAbstract }.map(\.id))
        // A row number is given once, whatever the entity.
        return try entities.contains(id.entityID)
            && entities.allSatisfy { try newestEvent(of: ObjectID(entity: $0, row: id.row)) == nil }
    }

    /// Whether the log has events of the object.
    func isThere(_ id: ObjectID) throws -> Bool { try newestEvent(of: id) != nil }

    private func newestEvent(of id: ObjectID) throws -> EventNumber? {
        if let row = try transaction.get(tables.objects, id.rawValue) { return try StoredRow(row).revision }
        guard let tombstone = try transaction.get(tables.tombstones, id.rawValue) else { return nil }
        return try Tombstone.eventNumber(tombstone)
    }

    private mutating func fillers(of entity: EntityID) throws -> [PropertyID: AttributeValue] {
        if let known = fillers[entity] { return known }
        let made = try erased.fillers(of: entity)
        fillers[entity] = made
        return made
    }

    // MARK: The present

    /// Deletes the objects that exist, or replaces the values.
    ///
    /// - Parameter isFromList: whether values of objects that stay go even if the rules of the model want them.
    /// - Returns: the objects that were deleted.
    mutating func leave(
        _ ids: [ObjectID], _ note: MaintenanceNote, _ blobs: BlobStore, isFromList: Bool
    ) throws -> [ObjectID] {
        guard let schema = projector.histories.newest else { return [] }
        let snapshot = Snapshot(
            eventNumber: head.event, schema: schema, transaction: transaction, tables: tables,
            histories: projector.histories, layers: [])
        var changes = ChangeSet(
            base: head.event, modelVersion: schema.version, author: note.author, metadata: note.metadata)
        if erased.properties == nil {
            try BatchDeletion(of: ids, in: snapshot).add(to: &changes)
            try addDeparted(ids, schema, snapshot, to: &changes)
        } else {
            if !isFromList {
                for entity in Set(ids.map(\.entityID)) { try erased.checkMayBeErasedAlone(in: entity) }
            }
            for id in ids { try addUpdate(of: id, schema, snapshot, to: &changes) }
            if !isFromList { try checkRules(changes.updates, schema, snapshot) }
        }
        guard !changes.isEmpty else { return [] }
        let deleted = changes.deletions.map(\.id)
        let check = SaveCheck(changes, snapshot: snapshot, head: head, blobs: blobs)
        switch try check.run(TransactionNumber(rawValue: head.transaction.rawValue + 1)) {
        case .stale:
            throw StrataError(.merge, "Objects that are to be erased cannot be deleted: others point at them.")
        case .events(let events, let touched, _):
            guard events.count > 0 else { return deleted }
            if try WriteEstimate(changes, events, snapshot).pages(above: Committer.dirtyPageLimit) != nil {
                throw StrataError(.saveTooLarge, "The erasure would delete too much at once. Erase in smaller steps.")
            }
            let description = TransactionDescription(
                id: changes.transactionID, author: note.author, metadata: note.metadata, touched: touched)
            _ = try LogWriter.append(events, description, after: &head, file, transaction, &projector)
        }
        return deleted
    }

    /// Adds the deletions of objects whose entity has left the model. No delete rule concerns them: the model has no link
    /// to them.
    private func addDeparted(
        _ ids: [ObjectID], _ schema: Schema, _ snapshot: Snapshot, to changes: inout ChangeSet
    ) throws {
        let count = changes.deletions.count
        for id in ids where schema.entity(id.entityID) == nil {
            guard let row = try snapshot.row(id) else { continue }
            changes.deletions.append(.init(id: id, baseRevision: row.revision))
        }
        if changes.deletions.count > count { changes.deletions.sort { $0.id < $1.id } }
    }

    private mutating func addUpdate(
        of id: ObjectID, _ schema: Schema, _ snapshot: Snapshot, to changes: inout ChangeSet
    ) throws {
        guard let entity = schema.entity(id.entityID), let row = try snapshot.row(id) else { return }
        let fillers = try fillers(of: id.entityID)
        let derived = try erased.derived(in: id.entityID)
        let before = try row.converted(to: entity)
        var builder = try RowBuilder(before, layout: entity.layout)
        var slots: [Int] = []
        try before.bytes.withUnsafeBytes { bytes in
            let reader = try RowReader(bytes, layout: entity.layout)
            for property in entity.properties where property.storage != nil && !derived.contains(property.id) {
                guard let filler = fillers[property.id],
                    try !reader.value(property.slot).isIdentical(to: filler)
                else { continue }
                try builder.set(property.slot, filler)
                slots.append(property.slot)
            }
        }
        guard !slots.isEmpty else { return }
        let image = try builder.finish()
        changes.updates.append(.init(id: id, baseRevision: row.revision, image: image, changedSlots: slots))
    }

    private func checkRules(_ updates: [ChangeSet.Update], _ schema: Schema, _ snapshot: Snapshot) throws {
        for update in updates {
            guard let entity = schema.entity(update.id.entityID) else { continue }
            try StrataError.throwTogether(
                try RowRules(entity, schema).failures(of: update.image, update.id, snapshot))
        }
    }

    // MARK: The past

    /// Takes the values out of the events of an object.
    mutating func erase(_ id: ObjectID) throws {
        texts.formUnion(try erase(try fillers(of: id.entityID), of: id, keeping: try erased.derived(in: id.entityID)))
    }

    /// - Parameter derived: attributes whose newest value stays if the object exists.
    /// - Returns: the texts that were erased.
    private mutating func erase(
        _ fillers: [PropertyID: AttributeValue], of id: ObjectID, keeping derived: Set<PropertyID>
    ) throws -> Set<String> {
        guard let newest = try newestEvent(of: id) else { return [] }
        var eraser = EventEraser(fillers, keeping: derived, projector.histories)
        var changes = EventChanges()
        var isNewest = true
        try reader.chain(from: newest, of: id, .whole) { event, number in
            if let recordedAt, number > recordedAt { return true }
            // Nothing is kept of an object that was deleted by then.
            if isNewest, event.header.kind == .deleted { eraser.kept = [] }
            isNewest = false
            touched.insert(event.header.transaction)
            guard let bytes = try eraser.erased(event) else { return true }
            changes.replace(number.rawValue, with: bytes)
            eventCount += 1
            changedObjects.insert(id)
            if isShared { unshared.insert(event.header.transaction) }
            return true
        }
        try changes.write(tables, transaction)
        for blob in eraser.blobs { projector.batch.add(-1, to: CounterKey(blob: blob)) }
        return eraser.texts
    }

    /// Takes copies of the values out of the events of other objects, which had derived attributes with them.
    private mutating func eraseCopies(of objects: [ObjectID]) throws {
        let copies = try erased.copies(of: Set(objects.map(\.entityID)))
        for copy in copies.sorted(by: { $0.attribute < $1.attribute }) {
            var ids = Set(objects)
            for hop in copy.hops.reversed() {
                ids = try reader.owners(of: hop, leadingTo: ids, through: recordedAt ?? head.event)
            }
            let filler = projector.histories.newest?.assignment.bornDefaults[copy.attribute] ?? .null
            // A model without the attribute derives it no more, so its newest value is a copy like the others.
            let kept: Set<PropertyID> = isInNewestModel(copy) ? [copy.attribute] : []
            for id in ids.sorted() where id.entityID == copy.entity {
                _ = try erase([copy.attribute: filler], of: id, keeping: kept)
            }
        }
    }

    /// Whether views that are no longer kept may have values of the objects.
    func isInOldViews(_ objects: [ObjectID]) throws -> Bool {
        let entities = Set(objects.map(\.entityID))
        let copies = try erased.copies(of: entities)
        // A row that was not written since the attribute left the model has its value still.
        if copies.contains(where: { !isInNewestModel($0) }) { return true }
        if try entities.union(copies.map(\.entity)).contains(where: erased.isInOldViews) { return true }
        for id in objects where try hasHiddenValues(id) { return true }
        return false
    }

    /// Whether the row of an object has a value that is to be erased alone and that the newest model does not show: the
    /// row was not written since.
    private func hasHiddenValues(_ id: ObjectID) throws -> Bool {
        guard erased.properties != nil,
            let row = try SnapshotRow(id, in: transaction, tables.objects, projector.histories)
        else { return false }
        let fillers = try erased.fillers(of: id.entityID)
        let newest = projector.histories.newest?.entity(id.entityID)
        let reader = try row.reader
        for (slot, place) in row.layout.slots.enumerated() where newest?.property(place.propertyID) == nil {
            guard let filler = fillers[place.propertyID], place.storage != nil else { continue }
            if try !reader.value(slot).isIdentical(to: filler.fitting(place)) { return true }
        }
        return false
    }

    private func isInNewestModel(_ copy: ErasedCopy) -> Bool {
        projector.histories.newest?.entity(copy.entity)?.property(copy.attribute) != nil
    }

    /// Clears the other places that have the values.
    mutating func clear(_ objects: [ObjectID]) throws {
        try eraseCopies(of: objects)
        try projector.flush(transaction)
        try BufferFold.settle(changedObjects, in: tables.indexes, tables, transaction)
        try StatisticsRecord.removeAll(transaction, tables)
        // A view that catches up or is being built would go on from erased events, and may hold erased values.
        let progress = try ViewProgress.all(transaction, tables)
        for view in progress.keys.sorted() where progress[view]?.isRetired == true {
            try tables.clear(view, transaction)
        }
        if let schema = projector.histories.newest {
            for view in try IndexMap.of(schema).views.views where progress[view.id] != nil {
                try tables.beginAnew(view, transaction)
            }
        }
        try eraseTexts(of: objects)
    }

    /// Clears the other places that have the values, and records the erasure.
    mutating func finish(_ objects: [ObjectID], _ mark: ErasureMark, id: UUID) throws {
        try clear(objects)
        if objects.isEmpty { return }
        let record = ErasureRecord(
            objects: objects, properties: erased.properties?.sorted() ?? [], eventCount: eventCount,
            transactions: changedTransactions)
        let payload = try MaintenanceRecord.erased(record).encoded()
        var events = EventList(transaction: TransactionNumber(rawValue: head.transaction.rawValue + 1))
        events.append(.maintenance, ObjectID(rawValue: 0), previous: .zero, payload)
        let description = TransactionDescription(id: id, author: mark.author, metadata: mark.metadata)
        let appended = try LogWriter.append(events, description, after: &head, file, transaction, &projector)
        try ErasureList.put(payload.bytes, at: appended.firstEvent, transaction, tables)
        try file.noteErasures(transaction)
        try write(mark)
    }

    /// Leaves the shared log to others.
    mutating func forgetUnshared() { unshared = [] }

    /// Writes the remaining work, with the transactions whose values the shared log is to lose.
    func write(_ mark: ErasureMark) throws {
        var mark = mark
        mark.unshared.formUnion(unshared)
        try mark.write(transaction, tables)
    }

    /// Removes texts from the records of transactions: metadata with an erased text of those that changed the
    /// objects, and the values of merge conflicts in any.
    private mutating func eraseTexts(of objects: [ObjectID]) throws {
        var first = touched.min()
        if let baseline = try reader.baseline() {
            // The events of an object that was deleted before the cut are gone. Conflicts about it may stand behind it.
            let kept = TransactionNumber(rawValue: baseline.transaction.rawValue + 1)
            first = min(first ?? kept, kept)
        }
        guard var number = first else { return }
        let search = ErasedTexts(texts, objects)
        let recorder = try recordedAt.flatMap { number in
            number < head.firstKeptEvent ? nil : try reader.event(number) { $0.header.transaction }
        }
        while number <= recorder ?? head.transaction {
            defer { number = TransactionNumber(rawValue: number.rawValue + 1) }
            guard let bytes = try transaction.get(tables.transactions, number.rawValue),
                touched.contains(number) || search.hasConflicts(bytes)
            else { continue }
            var record = try TransactionRecord(bytes, number: number)
            guard search.removeTexts(from: &record, isTouched: touched.contains(number)) else { continue }
            record.isErased = true
            try write(record)
        }
    }

    private mutating func write(_ record: TransactionRecord) throws {
        let number = TransactionNumber(rawValue: record.number.rawValue - 1)
        let before = try reader.transaction(number)?.digest ?? reader.baseline()?.head.digest
        let encoded = record.encoded()
        var chain = EventDigest.Chain(previous: before ?? LogHead.start.digest)
        encoded.withUnsafeBytes { chain.begin($0) }
        try reader.events(from: record.firstEvent, through: record.lastEvent, .whole) { event, _ in
            chain.add(event.record)
            return true
        }
        changedTransactions.append(.init(number: record.number, digest: chain.finish()))
        if isShared { unshared.insert(record.number) }
        try encoded.withUnsafeBytes { try transaction.put(tables.transactions, record.number.rawValue, $0) }
    }
}
