import Foundation
import LMDB
import StrataModel

/// Encodes the events of a save that has passed the check.
extension SaveCheck {
    mutating func writeInsertions(to events: inout EventList) throws {
        let mayExist = try idsThatMayExist()
        let insertions = changes.insertions
        for index in insertions.indices {
            let id = insertions[index].id
            let image = insertions[index].image.unsafeBytes
            let entity = try checkedEntity(of: id)
            var previous = EventNumber.zero
            if !mayExist.isEmpty, mayExist.contains(id.entityID) {
                guard try !snapshot.exists(id) else {
                    throw StrataError(
                        .invalidRequest, "The save inserts an object that exists already.",
                        context: .init(entityName: entity.schema.name, objectID: id))
                }
                previous = try tombstone(of: id)
            }
            guard try RowHeader(image).version == schema.version else { throw modelChanged() }
            if !entity.externalSlots.isEmpty { try checkBlobs(id, image, entity, entity.externalSlots) }
            if !entity.subjectSlots.isEmpty { try checkSubjects(id, image, entity, entity.subjectSlots) }
            events.append(.inserted, id, previous: previous, image)
            touched.add(id.entityID, .inserted)
        }
    }

    /// Entities of insertions that have, or had, an object with an id at least as large; only these insertions are
    /// looked up.
    private func idsThatMayExist() throws -> Set<EntityID> {
        var found: Set<EntityID> = []
        var least: ObjectID?
        // Insertions are sorted by id, so the first of an entity is nearly always the smallest.
        for index in changes.insertions.indices {
            let id = changes.insertions[index].id
            if let least, least.entityID == id.entityID, least < id { continue }
            least = id
            for table in [snapshot.tables.objects, snapshot.tables.tombstones] {
                let hasLarger = try snapshot.transaction.withCursor(table) { cursor in
                    try cursor.seek(atOrAfter: id.rawValue)
                        && StoreKey.objectID(cursor.key, at: 0).entityID == id.entityID
                }
                if hasLarger { found.insert(id.entityID) }
            }
        }
        return found
    }

    private func tombstone(of id: ObjectID) throws -> EventNumber {
        guard let value = try snapshot.transaction.get(snapshot.tables.tombstones, id.rawValue) else { return .zero }
        do throws(CorruptRecord) {
            return try Tombstone.eventNumber(value)
        } catch {
            throw StrataError.corrupt(error, "tombstones", snapshot.histories.context(of: id))
        }
    }

    mutating func writeUpdates(to events: inout EventList) throws {
        var payload = ByteWriter()
        let (updates, rows) = (changes.updates, updatedRows)
        for index in updates.indices {
            guard let row = rows[index] else { continue }
            let id = updates[index].id
            let entity = try checkedEntity(of: id)
            if !entity.externalSlots.isDisjoint(with: updates[index].changedSlots) {
                try checkBlobs(id, updates[index].image.unsafeBytes, entity, updates[index].changedSlots)
            }
            if !entity.subjectSlots.isDisjoint(with: updates[index].changedSlots) {
                try checkSubjects(id, updates[index].image.unsafeBytes, entity, updates[index].changedSlots)
            }
            guard
                try writeDifferences(
                    updates[index].image.unsafeBytes, updates[index].changedSlots, row, entity, to: &payload)
            else { continue }
            events.append(.updated, id, previous: row.revision, payload, before: row.imageInMap)
        }
    }

    /// A file may have been swept since it was written, if no lease was held.
    private func checkBlobs(
        _ id: ObjectID, _ image: UnsafeRawBufferPointer, _ entity: CheckedEntity, _ slots: SlotSet
    ) throws {
        for slot in slots where entity.externalSlots.contains(slot) {
            let reader = try RowReader(image, layout: entity.layout)
            guard let reference = try reader.blob(slot), !blobs.exists(reference) else { continue }
            throw StrataError(
                .missingBlob, "The save names a large value whose file is missing.",
                context: .init(
                    entityName: entity.schema.name, objectID: id, key: entity.schema.properties[slot].name,
                    path: blobs.path(of: reference)))
        }
    }

    /// A value that is only under the store's key would outlive the key of its subject.
    private func checkSubjects(
        _ id: ObjectID, _ image: UnsafeRawBufferPointer, _ entity: CheckedEntity, _ slots: SlotSet
    ) throws {
        for slot in slots where entity.subjectSlots.contains(slot) {
            let reader = try RowReader(image, layout: entity.layout)
            guard let bytes = try reader.bytes(slot), bytes.first == EncryptedValue.format else { continue }
            throw StrataError(
                .invalidRequest, "The save has a value that is not encrypted under the key of its subject.",
                context: .init(
                    entityName: entity.schema.name, objectID: id, key: entity.schema.properties[slot].name))
        }
    }

    /// Encodes the payload of an update.
    ///
    /// - Returns: false if nothing has changed.
    private mutating func writeDifferences(
        _ image: UnsafeRawBufferPointer, _ changedSlots: SlotSet, _ row: SnapshotRow, _ entity: CheckedEntity,
        to payload: inout ByteWriter
    ) throws -> Bool {
        let after = try RowReader(image, layout: entity.layout)
        let before = try row.reader
        let isSameLayout = row.isIn(entity.layout)
        var count: UInt16 = 0
        payload.reset()
        payload.append(littleEndian: count)
        for slot in changedSlots where entity.layout.entries[slot].kind != .absent {
            let property = entity.schema.properties[slot].id
            let start = payload.count
            payload.append(littleEndian: property.rawValue)
            if isSameLayout, let old = FixedValue(slot, of: before), let new = FixedValue(slot, of: after) {
                guard !old.isIdentical(to: new) else {
                    payload.truncate(to: start)
                    continue
                }
                old.append(to: &payload)
                new.append(to: &payload)
            } else {
                let old = try snapshot.value(slot, of: row, before, entity.schema)
                let new = try after.value(slot)
                guard !old.isIdentical(to: new) else {
                    payload.truncate(to: start)
                    continue
                }
                try ValueCodec.encode(old.asBeforeImage, into: &payload)
                try ValueCodec.encode(new, into: &payload)
            }
            count += 1
            touched.add(entity.schema.id, .updated, property)
        }
        payload.overwrite(littleEndian: count, at: 0)
        return count > 0
    }

    mutating func writePairs(_ gone: [PairKey], to events: inout EventList) throws {
        var payload = ByteWriter()
        for key in gone { try writePair(key, .unlink, &payload, to: &events) }
        for change in changes.pairs {
            try writePair(change.key, change.kind, &payload, to: &events)
        }
    }

    /// Linking a linked pair, or unlinking an unlinked one, is no change: two contexts may have done the same.
    private mutating func writePair(
        _ key: PairKey, _ kind: ChangeSet.PairChange.Kind, _ payload: inout ByteWriter, to events: inout EventList
    ) throws {
        let state = try StoreKey.withPair(key) { bytes in
            try snapshot.transaction.get(snapshot.tables.pairs, bytes).map { value throws(CorruptRecord) in
                try PairState(value)
            }
        }
        payload.reset()
        let event: EventKind
        switch (kind, state) {
        case (.link(let positions), nil):
            event = .linked
            payload.append(pair: PairEvent(key: key, positions: positions))
        case (.unlink, let state?):
            event = .unlinked
            payload.append(pair: PairEvent(key: key, positions: state.positions))
        case (.move(let positions), let state?), (.link(let positions), let state?):
            guard positions != state.positions else { return }
            event = .moved
            payload.append(pair: PairEvent(key: key, positions: positions, positionsBefore: state.positions))
        case (.unlink, nil), (.move, nil): return
        }
        events.append(event, key.source, previous: state?.revision ?? .zero, payload)
        touched.add(key.source.entityID, event, key.property)
        touched.add(key.target.entityID, event, key.property)
    }

    mutating func writeDeletions(to events: inout EventList) throws {
        var payload = ByteWriter()
        for (deletion, row) in zip(changes.deletions, deletedRows) {
            guard let row else { continue }
            payload.reset()
            try payload.append(lastRow: row)
            events.append(.deleted, deletion.id, previous: row.revision, payload, before: row.imageInMap)
            touched.add(deletion.id.entityID, .deleted)
        }
    }
}

extension AttributeValue {
    /// The value as a before-image; large values are not repeated, since the chain of events has them.
    var asBeforeImage: RecordedValue { isLarge ? .previous : .value(self) }

    private var isLarge: Bool {
        switch self {
        case .string(let text): text.utf8.count > EventHeader.largeValueLimit
        case .data(let data): data.count > EventHeader.largeValueLimit
        case .encrypted(let value): value.stored.count > EventHeader.largeValueLimit
        case .url(let url): url.absoluteString.utf8.count > EventHeader.largeValueLimit
        case .composite(let elements): elements.values.contains(where: \.isLarge) || elements.count > 64
        default: false
        }
    }
}

extension ByteWriter {
    /// Encodes the payload of a `deleted` event: the row as it is, or value by value if some are large.
    mutating func append(lastRow row: SnapshotRow) throws {
        let variableSize = row.image.count - row.layout.fixedSize
        guard variableSize > EventHeader.largeValueLimit else {
            append(UInt8(0))
            return append(row.image)
        }
        let reader = try row.reader
        var values: [(property: PropertyID, value: RecordedValue)] = []
        for (slot, description) in row.layout.slots.enumerated() where description.storage != nil {
            values.append((description.propertyID, try reader.value(slot).asBeforeImage))
        }
        try append(lastValues: values)
    }
}
