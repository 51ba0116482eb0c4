package import Foundation
package import StrataModel

/// Applies a `UniquenessPolicy`: turns insertions that would break a uniqueness constraint into updates of the objects
/// that have the values, or drops them.
///
/// It runs at the head, in the write transaction, so no other save can intervene. Its result is checked like every
/// other save. Insertions are handled in their order, so a later one can clash with one before it.
package struct UpsertResolution {
    /// An object of the store that insertions are merged into.
    private struct Merged {
        let revision: EventNumber
        let base: RowImage
        var image: RowImage
    }

    private let policy: UniquenessPolicy
    private let snapshot: Snapshot
    private let uniqueness: UniquenessCheck
    private let deletions: Set<ObjectID>
    /// Nil in a write transaction, where no files are written.
    private let files: LargeValueFiles?
    private var inserted: [ObjectID: ChangeSet.Insertion] = [:]
    private var order: [ObjectID] = []
    private var merged: [ObjectID: Merged] = [:]
    /// The objects of this save by their keys, and the keys of each.
    private var holders: [UniqueKey: ObjectID] = [:]
    private var keys: [ObjectID: [UniqueKey]] = [:]
    private var outcome = UpsertOutcome()

    private init(_ changes: ChangeSet, _ snapshot: Snapshot, _ files: LargeValueFiles?) {
        self.files = files
        policy = changes.uniquenessPolicy
        self.snapshot = snapshot
        uniqueness = UniquenessCheck(schema: snapshot.schema, snapshot: snapshot)
        deletions = Set(changes.deletions.map(\.id))
    }

    /// - Throws: `constraintMerge` when a new object has the unique values of several others, or those of an object of
    ///   another entity; validation errors of insertions that stay new objects.
    static func resolve(
        _ changes: inout ChangeSet, _ snapshot: Snapshot, _ files: LargeValueFiles? = nil
    ) throws -> UpsertOutcome {
        guard changes.uniquenessPolicy != .reject else { return UpsertOutcome() }
        var resolution = UpsertResolution(changes, snapshot, files)
        for insertion in changes.insertions { try resolution.add(insertion) }
        try resolution.throwFailures()
        try resolution.judgeInsertions()
        changes.insertions = resolution.order.compactMap { resolution.inserted[$0] }
        changes.updates += try resolution.updates()
        return resolution.outcome
    }

    /// Decides before the save which object each row becomes, and makes a save that accepts no clash.
    ///
    /// If another save intervenes, this one becomes stale or breaks a uniqueness constraint; then it must be made
    /// again.
    ///
    /// - Parameter files: for large values that are encrypted; those of an insertion are for that object alone.
    package static func settle(
        _ changes: inout ChangeSet, _ snapshot: Snapshot, _ files: LargeValueFiles
    ) throws -> UpsertOutcome {
        let outcome = try resolve(&changes, snapshot, files)
        changes.uniquenessPolicy = .reject
        return outcome
    }

    private mutating func add(_ insertion: ChangeSet.Insertion) throws {
        let wanted = try uniqueness.keys(of: insertion.id, insertion.image)
        var found: [ObjectID] = []
        for (index, key) in wanted {
            if let own = holders[key] {
                if !found.contains(own) { found.append(own) }
                continue
            }
            for holder in try uniqueness.holdersInStore(of: key, index)
            where !deletions.contains(holder) && merged[holder] == nil && !found.contains(holder) {
                found.append(holder)
            }
        }
        guard let holder = found.first else {
            inserted[insertion.id] = insertion
            order.append(insertion.id)
            return claim(insertion.id, wanted.map(\.key))
        }
        guard found.count == 1 else {
            throw clash(insertion, "Several objects have its unique values", found)
        }
        outcome.holders[insertion.id] = holder
        guard policy != .keep else { return outcome.keptCount += 1 }
        guard holder.entityID == insertion.id.entityID else {
            throw clash(insertion, "An object of another entity has its unique values", found)
        }
        outcome.mergedCount += 1
        try merge(insertion, into: holder)
    }

    private mutating func merge(_ insertion: ChangeSet.Insertion, into holder: ObjectID) throws {
        let entity = try entity(of: holder)
        let slots = slots(of: insertion, entity)
        if var other = inserted[holder] {
            other.image = try combined(other.image, of: holder, insertion, slots, entity)
            other.givenSlots.formUnion(insertion.givenSlots)
            other.failures.removeAll { failure in insertion.givenSlots.contains(failure.slot) }
            inserted[holder] = other
            return claim(holder, try uniqueness.keys(of: holder, other.image).map(\.key))
        }
        var state: Merged
        if let known = merged[holder] {
            state = known
        } else {
            guard let row = try snapshot.row(holder) else { return }
            let image = try row.converted(to: entity)
            state = Merged(revision: row.revision, base: image, image: image)
        }
        state.image = try combined(state.image, of: holder, insertion, slots, entity)
        merged[holder] = state
        claim(holder, try uniqueness.keys(of: holder, state.image).map(\.key))
    }

    private mutating func claim(_ id: ObjectID, _ wanted: [UniqueKey]) {
        for key in keys[id] ?? [] where holders[key] == id { holders[key] = nil }
        keys[id] = wanted
        for key in wanted { holders[key] = id }
    }

    /// The slots that an insertion changes in the object that it is merged into.
    private func slots(of insertion: ChangeSet.Insertion, _ entity: EntitySchema) -> SlotSet {
        var slots = insertion.givenSlots
        guard policy == .replace else { return slots }
        slots.formUnion(entity.properties.filter { $0.attribute != nil && $0.storage != nil }.map(\.slot))
        return slots
    }

    private func combined(
        _ base: RowImage, of holder: ObjectID, _ insertion: ChangeSet.Insertion, _ slots: SlotSet,
        _ entity: EntitySchema
    ) throws -> RowImage {
        let new = insertion.image
        var builder = try RowBuilder(base, layout: entity.layout)
        for slot in slots.slots {
            let value = try given(slot, entity, insertion, to: holder)
            try builder.set(slot, value)
            // An object that gets another owner takes the position of the insertion; otherwise it keeps its own.
            let property = entity.properties[slot]
            guard property.isSlotLink, let position = property.relationship?.positionSlot, !slots.contains(position),
                try self.value(slot, in: base, entity) != value
            else { continue }
            try builder.set(position, try self.value(position, in: new, entity))
        }
        let image = try builder.finish()
        guard let ring = SchemaKeys.of(snapshot.schema).ring, let subjects = SubjectAttributes(entity, ring) else {
            return image
        }
        return try subjects.sealed(image, of: holder, changed: slots, blob: encryptedBytes) { value, slot in
            try stored(value, entity.layout.slots[slot])
        }?.image ?? image
    }

    /// A value of an insertion as one of the object that it is merged into. An encrypted one can only be decrypted as that
    /// of the object for which it was encrypted, and so is encrypted again.
    private func given(
        _ slot: Int, _ entity: EntitySchema, _ insertion: ChangeSet.Insertion, to holder: ObjectID
    ) throws -> AttributeValue {
        let value = try value(slot, in: insertion.image, entity)
        guard let cipher = SchemaKeys.of(snapshot.schema).ring?.cipher(entity.properties[slot]) else { return value }
        let encrypted: EncryptedValue
        switch value {
        case .encrypted(let value): encrypted = value
        case .blob(let reference): encrypted = EncryptedValue(stored: try encryptedBytes(reference))
        default: return value
        }
        let plain = try cipher.decrypt(encrypted, of: insertion.id)
        return try stored(cipher.encrypt(plain, of: holder), entity.layout.slots[slot])
    }

    private func encryptedBytes(_ reference: BlobReference) throws -> Data {
        guard let files else { throw reference.unreadable }
        return try files.read(reference)
    }

    private func stored(_ value: EncryptedValue, _ slot: RowLayout.Slot) throws -> AttributeValue {
        guard let files, slot.allowsExternalStorage, value.stored.count >= files.threshold else {
            return .encrypted(value)
        }
        return .blob(try files.write(value.stored))
    }

    private func value(_ slot: Int, in image: RowImage, _ entity: EntitySchema) throws -> AttributeValue {
        try image.withReader(entity.layout) { reader throws(CorruptRecord) in try reader.value(slot) }
    }

    private func updates() throws -> [ChangeSet.Update] {
        var updates: [ChangeSet.Update] = []
        for (id, state) in merged.sorted(by: { $0.key < $1.key }) where state.image != state.base {
            let entity = try entity(of: id)
            let changed = try state.image.withReader(entity.layout) { after throws(CorruptRecord) in
                try state.base.withReader(entity.layout) { before throws(CorruptRecord) in
                    var changed: [Int] = []
                    for slot in entity.properties.indices where entity.properties[slot].storage != nil {
                        if try !before.value(slot).isIdentical(to: after.value(slot)) { changed.append(slot) }
                    }
                    return changed
                }
            }
            try StrataError.throwTogether(try RowRules(entity, snapshot.schema).failures(of: state.image, id, snapshot))
            updates.append(.init(id: id, baseRevision: state.revision, image: state.image, changedSlots: changed))
        }
        return updates
    }

    // MARK: Errors

    private func throwFailures() throws {
        try StrataError.throwTogether(order.flatMap { inserted[$0]?.failures.map(\.error) ?? [] })
    }

    /// Checks the rules over whole objects of insertions that stay new; `updates` checks the merged objects.
    private func judgeInsertions() throws {
        var rules: [EntityID: RowRules] = [:]
        var errors: [StrataError] = []
        for id in order {
            guard let insertion = inserted[id] else { continue }
            let known = try rules[id.entityID] ?? RowRules(try entity(of: id), snapshot.schema)
            rules[id.entityID] = known
            errors += try known.failures(of: insertion.image, id, snapshot)
        }
        try StrataError.throwTogether(errors)
    }

    private func entity(of id: ObjectID) throws -> EntitySchema {
        guard let entity = snapshot.schema.entity(id.entityID) else {
            throw StrataError(.unknownEntity, "The store does not have this entity.", context: .init(objectID: id))
        }
        return entity
    }

    private func clash(_ insertion: ChangeSet.Insertion, _ sentence: String, _ found: [ObjectID]) -> StrataError {
        let names = found.map { snapshot.schema.name(of: $0) }.joined(separator: ", ")
        return StrataError(
            .constraintMerge, "\(sentence): \(names).",
            context: .init(
                entityName: snapshot.schema.entity(insertion.id.entityID)?.name, objectID: insertion.id,
                conflictingObjectIDs: found))
    }
}

/// The files of large values, as far as an upsert needs them.
package struct LargeValueFiles {
    /// Values of fewer bytes stay in rows.
    let threshold: Int
    let read: (BlobReference) throws -> Data
    let write: (Data) throws -> BlobReference

    package init(
        threshold: Int, read: @escaping (BlobReference) throws -> Data, write: @escaping (Data) throws -> BlobReference
    ) {
        self.threshold = threshold
        self.read = read
        self.write = write
    }
}

extension BlobReference {
    /// The error for an insertion with such a value: which object it becomes is settled before the write.
    fileprivate var unreadable: StrataError {
        StrataError(
            .invalidRequest, "A large encrypted value cannot become a value of another object.")
    }
}
