import Foundation
import LMDB
import StrataModel

/// Checks one save at the head, and turns it into events.
///
/// It only reads, through the write transaction, and so sees earlier saves of its group. Uniqueness and delete rules
/// are checked on the net result: two objects may swap unique values in one save.
struct SaveCheck: ~Copyable {
    private(set) var changes: ChangeSet
    let schema: Schema
    let head: LogHead
    let snapshot: Snapshot
    let blobs: BlobStore
    private(set) var staleness: Staleness
    /// The indices of objects in `changes.updates`; empty if no check needs them.
    private var updates: [ObjectID: Int] = [:]
    private var deletions: Set<ObjectID> = []
    /// The rows of `changes.updates` and `changes.deletions` at the head, valid until something is written.
    private(set) var updatedRows: [SnapshotRow?] = []
    private(set) var deletedRows: [SnapshotRow?] = []
    var touched = TouchedSet()
    /// The entity of the last change; consecutive changes are mostly of one entity.
    private var lastEntity: CheckedEntity?

    init(_ changes: ChangeSet, snapshot: Snapshot, head: LogHead, blobs: BlobStore) {
        self.blobs = blobs
        self.changes = changes
        self.snapshot = snapshot
        self.head = head
        schema = snapshot.schema
        staleness = Staleness(head: head.event)
    }

    /// The events to write, or why the save must be merged first.
    enum Verdict: ~Copyable {
        case stale(Staleness)
        /// The third value holds the new rows of objects whose derived values differ from those in the change set.
        case events(EventList, [TransactionRecord.Touched], [ObjectID: RowImage])
    }

    /// - Throws: `modelChanged`, `constraintMerge` with a detail for each clash, `invalidRequest`.
    consuming func run(_ transaction: TransactionNumber) throws -> Verdict {
        guard changes.modelVersion == schema.version else { throw modelChanged() }
        try checkExpectations()
        if !changes.deletions.isEmpty || schema.indexes.contains(where: \.isUnique) {
            for index in changes.updates.indices { updates[changes.updates[index].id] = index }
        }
        deletions = Set(changes.deletions.map(\.id))
        try checkRevisions()
        try checkTargets()
        let pairs = try pairsOfDeletedObjects()
        try checkMembersLeftBehind()
        guard staleness.isEmpty else { return .stale(staleness) }
        let derived = try deriveAttributes(pairs)
        try checkUniqueness()
        var events = EventList(
            transaction: transaction, count: changes.eventCount,
            sizeInBytes: changes.payloadSizeInBytes + deletedRows.reduce(0) { $0 + ($1?.image.count ?? 0) })
        try writeInsertions(to: &events)
        try writeUpdates(to: &events)
        try writePairs(pairs, to: &events)
        try writeDeletions(to: &events)
        return .events(events, touched.records, derived)
    }

    private mutating func deriveAttributes(_ gonePairs: [PairKey]) throws -> [ObjectID: RowImage] {
        guard !DerivationMap.of(schema).isEmpty else { return [:] }
        var rows: [ObjectID: SnapshotRow] = [:]
        for (update, row) in zip(changes.updates, updatedRows) { rows[update.id] = row }
        for (deletion, row) in zip(changes.deletions, deletedRows) { rows[deletion.id] = row }
        let count = changes.updates.count
        let result = try SaveDerivation.run(changes, rows: rows, gonePairs: gonePairs, snapshot)
        changes = result.changes
        for index in count..<changes.updates.count {
            let id = changes.updates[index].id
            updates[id] = index
            updatedRows.append(result.rows[id])
        }
        return result.derived
    }

    func modelChanged() -> StrataError {
        StrataError(
            .modelChanged,
            "The store has model version \(schema.version.rawValue), the save was prepared under "
                + "\(changes.modelVersion.rawValue). Open the store again.")
    }

    // MARK: Revisions and targets

    /// - Throws: `persistentStoreSaveConflicts` with the objects whose revisions differ from those expected.
    private func checkExpectations() throws {
        guard !changes.expectedRevisions.isEmpty else { return }
        try snapshot.check(changes.expectedRevisions)
    }

    private mutating func checkRevisions() throws {
        let (updates, deletions) = (changes.updates, changes.deletions)
        updatedRows.reserveCapacity(updates.count)
        deletedRows.reserveCapacity(deletions.count)
        try snapshot.findRows(updates.count + deletions.count) { rows in
            // By index, because copying a change would retain its row.
            for index in updates.indices {
                updatedRows.append(try checkedRow(updates[index].id, updates[index].baseRevision, &rows))
            }
            for deletion in deletions {
                deletedRows.append(try checkedRow(deletion.id, deletion.baseRevision, &rows))
            }
        }
    }

    /// The row at the head; notes it as stale if it is not the revision that the save is based on.
    private mutating func checkedRow(
        _ id: ObjectID, _ base: EventNumber, _ rows: inout Snapshot.RowFinder
    ) throws -> SnapshotRow? {
        guard let row = try rows.row(id) else {
            staleness.objects.append(.init(id: id, theirs: nil, revision: .zero))
            return nil
        }
        guard row.revision != base, let entity = schema.entity(id.entityID) else { return row }
        let theirs = try row.converted(to: entity)
        staleness.objects.append(.init(id: id, theirs: theirs, revision: row.revision))
        return row
    }

    /// Finds links of the save to objects that will not exist.
    private mutating func checkTargets() throws {
        let targets = try self.targets()
        let missing = try missingObjects(among: targets.map(\.target))
        guard !missing.isEmpty else { return }
        staleness.missingTargets += targets.filter { missing.contains($0.target) }
    }

    /// The targets of new and changed rows and of new pairs.
    private mutating func targets() throws -> [Staleness.MissingTarget] {
        var targets: [Staleness.MissingTarget] = []
        let (insertions, updates) = (changes.insertions, changes.updates)
        targets.reserveCapacity(insertions.count)
        for index in insertions.indices {
            let id = insertions[index].id
            let entity = try checkedEntity(of: id)
            for link in entity.links {
                try Self.addTarget(of: id, insertions[index].image.unsafeBytes, link, entity, to: &targets)
            }
        }
        for index in updates.indices {
            let id = updates[index].id
            let entity = try checkedEntity(of: id)
            if updates[index].changedSlots.isDisjoint(with: entity.linkSlots) { continue }
            for link in entity.links where updates[index].changedSlots.contains(link.slot) {
                try Self.addTarget(of: id, updates[index].image.unsafeBytes, link, entity, to: &targets)
            }
        }
        for pair in changes.pairs {
            guard case .link = pair.kind else { continue }
            let (key, property) = (pair.key, pair.key.property)
            targets.append(.init(source: key.target, property: property, target: key.source))
            targets.append(.init(source: key.source, property: property, target: key.target))
        }
        return targets
    }

    private static func addTarget(
        of id: ObjectID, _ image: UnsafeRawBufferPointer, _ link: CheckedEntity.ToOne, _ entity: CheckedEntity,
        to targets: inout [Staleness.MissingTarget]
    ) throws {
        let target = try RowReader(image, layout: entity.layout).reference(link.slot)
        guard !target.isNil else { return }
        targets.append(.init(source: id, property: link.property, target: target))
    }

    /// The objects that will not exist after this save. They are looked up in the order of their ids, so that each is
    /// found from the one before.
    private func missingObjects(among ids: [ObjectID]) throws -> Set<ObjectID> {
        var missing: Set<ObjectID> = []
        var last: ObjectID?
        try snapshot.findRows(ids.count) { rows in
            for id in ids.sorted() where id != last {
                last = id
                if try deletions.contains(id) || !isInserted(id) && !rows.contains(id) { missing.insert(id) }
            }
        }
        return missing
    }

    /// Insertions are sorted by id.
    private func isInserted(_ id: ObjectID) -> Bool {
        guard let first = changes.insertions.first?.id, first <= id else { return false }
        let index = changes.insertions.indices.partitionPoint { changes.insertions[$0].id < id }
        return index < changes.insertions.count && changes.insertions[index].id == id
    }

    mutating func checkedEntity(of id: ObjectID) throws -> CheckedEntity {
        if let lastEntity, lastEntity.schema.id == id.entityID { return lastEntity }
        let found = CheckedEntity(try entity(of: id))
        lastEntity = found
        return found
    }

    private func entity(of id: ObjectID) throws -> EntitySchema {
        guard let entity = schema.entity(id.entityID), !entity.isAbstract else {
            throw StrataError(
                .unknownEntity, "The save names an entity this store does not have.", context: .init(objectID: id))
        }
        return entity
    }

    // MARK: Deletes

    /// The pairs to unlink because this save deletes one end.
    private func pairsOfDeletedObjects() throws -> [PairKey] {
        var keys: Set<PairKey> = []
        for deletion in changes.deletions {
            for link in schema.links.links(ofOwners: deletion.id.entityID) where link.isPairs {
                try snapshot.members(of: link.id, owner: deletion.id) { member in
                    if let key = link.pairKey(owner: deletion.id, member: member) { keys.insert(key) }
                    return true
                }
            }
        }
        for pair in changes.pairs { keys.remove(pair.key) }
        return keys.sorted()
    }

    /// Finds objects outside the save that would keep a link to a deleted object.
    private mutating func checkMembersLeftBehind() throws {
        for (deletion, row) in zip(changes.deletions, deletedRows) {
            let id = deletion.id
            for link in schema.links.links(ofOwners: id.entityID) where link.deleteRule != .noAction {
                guard case .rows(let toOne) = link.source else { continue }
                var left: [ObjectID] = []
                try snapshot.members(of: link.id, owner: id) { member in
                    if try stillPoints(member, at: id, by: toOne) { left.append(member) }
                    return true
                }
                for member in left {
                    staleness.members.append(.init(deleted: id, toOne: toOne, member: member))
                }
            }
            if let row { try checkPartners(of: id, row) }
        }
    }

    private mutating func checkPartners(of id: ObjectID, _ row: SnapshotRow) throws {
        for link in schema.links.slotLinks(of: id.entityID) where link.deleteRule != .noAction {
            guard case .toOne(let inverse) = link.inverse,
                let partner = try row.reference(link.property, of: schema, id), partner != id,
                let partnerRow = try snapshot.row(partner),
                try partnerRow.reference(inverse, of: schema, partner) == id,
                try stillPoints(partner, at: id, by: inverse)
            else { continue }
            staleness.members.append(.init(deleted: id, toOne: inverse, member: partner))
        }
    }

    /// Whether a member that points at `owner` now still does after this save.
    private func stillPoints(_ member: ObjectID, at owner: ObjectID, by toOne: PropertyID) throws -> Bool {
        if deletions.contains(member) { return false }
        guard let index = updates[member], let entity = schema.entity(member.entityID),
            let slot = entity.slot(of: toOne)
        else { return true }
        let image = changes.updates[index].image
        return try RowReader(image.unsafeBytes, layout: entity.layout).reference(slot) == owner
    }

    // MARK: Uniqueness

    private func checkUniqueness() throws {
        var check = UniquenessCheck(schema: schema, snapshot: snapshot)
        guard check.hasConstraints else { return }
        for insertion in changes.insertions {
            try check.claim(insertion.id, insertion.image, changedSlots: nil)
        }
        for update in changes.updates {
            try check.claim(update.id, update.image, changedSlots: update.changedSlots)
        }
        try check.settle(deletions: deletions) { id in
            updates[id].map { changes.updates[$0].image }
        }
    }
}
