import Foundation
import StrataModel

/// Sets the derived attributes of every object that a save affects: objects that it writes, and objects whose
/// attributes are derived from changed rows across relationships.
///
/// It runs at the head, in the write transaction, after the save has passed the check for staleness. The state after
/// the save is a snapshot with a layer of the save's changes, which is made only if a derivation crosses a
/// relationship.
struct SaveDerivation {
    private let plan: DerivationMap
    private let head: Snapshot
    private var changes: ChangeSet
    /// The rows at the head of the objects that the save updates and deletes.
    private var rows: [ObjectID: SnapshotRow]
    private let gonePairs: [PairKey]
    /// The attributes of each object to compute.
    private var concerned: [ObjectID: Set<Int>] = [:]
    /// By how much the save changes the member counts of owners.
    private var differences: [PropertyID: [ObjectID: Int]] = [:]
    private var after: Snapshot?
    private var deletions: Set<ObjectID> = []

    /// A change set with its derived values.
    struct Outcome {
        var changes: ChangeSet
        /// The rows at the head of everything that is now updated or deleted.
        var rows: [ObjectID: SnapshotRow]
        /// The new rows of objects whose derived values differ from those given.
        var derived: [ObjectID: RowImage] = [:]
    }

    private init(_ changes: ChangeSet, _ rows: [ObjectID: SnapshotRow], _ gonePairs: [PairKey], _ head: Snapshot) {
        plan = DerivationMap.of(head.schema)
        self.head = head
        self.changes = changes
        self.rows = rows
        self.gonePairs = gonePairs
    }

    /// - Parameters:
    ///   - rows: the rows at the head of the objects that the save updates and deletes.
    ///   - gonePairs: pairs that are unlinked with the objects that it deletes.
    ///   - head: the state before the save; its model has derived attributes.
    /// - Throws: a validation error for a value that its attribute cannot hold.
    static func run(
        _ changes: ChangeSet, rows: [ObjectID: SnapshotRow], gonePairs: [PairKey], _ head: Snapshot
    ) throws -> Outcome {
        var derivation = SaveDerivation(changes, rows, gonePairs, head)
        try derivation.collect()
        return try derivation.compute()
    }

    // MARK: Concerned attributes

    private mutating func collect() throws {
        deletions = Set(changes.deletions.map(\.id))
        for insertion in changes.insertions {
            concerned[insertion.id, default: []].formUnion(plan.attributes(of: insertion.id.entityID))
            try note(insertion.id, changed: nil)
            try count(insertion.id, before: nil, after: insertion.image)
        }
        for update in changes.updates {
            let changed = try properties(update)
            try noteOwn(update.id, changed)
            try note(update.id, changed: changed)
            try count(update.id, before: rows[update.id], after: update.image)
        }
        for deletion in changes.deletions {
            try note(deletion.id, changed: nil)
            try count(deletion.id, before: rows[deletion.id], after: nil)
        }
        for change in changes.pairs { try note(change) }
        for key in gonePairs { try note(key, difference: -1) }
    }

    private func properties(_ update: ChangeSet.Update) throws -> Set<PropertyID> {
        guard let entity = head.schema.entity(update.id.entityID) else { return [] }
        return Set(
            update.changedSlots.filter { entity.properties[$0].storage != nil }.map { entity.properties[$0].id })
    }

    /// Notes attributes of the updated object itself.
    private mutating func noteOwn(_ id: ObjectID, _ changed: Set<PropertyID>) throws {
        let derived = plan.attributes(of: id.entityID)
        guard !derived.isEmpty else { return }
        let own = Set(derived.map { plan.attributes[$0].property })
        let isWritten = !changed.isSubset(of: own)
        for index in derived {
            let attribute = plan.attributes[index]
            if case .now = attribute.computation {
                if isWritten { concerned[id, default: []].insert(index) }
            } else if changed.contains(attribute.property) {
                // The app set a derived attribute; it is computed again.
                concerned[id, default: []].insert(index)
            }
        }
        for reading in plan.readings(of: id.entityID)
        where reading.hops.isEmpty && !reading.properties.isDisjoint(with: changed) {
            concerned[id, default: []].insert(reading.attribute)
        }
    }

    /// Notes attributes of objects that lead to a row.
    ///
    /// - Parameter changed: nil if the object is inserted or deleted.
    private mutating func note(_ id: ObjectID, changed: Set<PropertyID>?) throws {
        for reading in plan.readings(of: id.entityID) where !reading.hops.isEmpty {
            if let changed, reading.properties.isDisjoint(with: changed) { continue }
            try note(reading.attribute, leadingTo: id, through: reading.hops)
        }
    }

    private mutating func note(_ index: Int, leadingTo id: ObjectID, through hops: [LiveHop]) throws {
        let attribute = plan.attributes[index]
        var sources = try head.sources(of: id, through: hops)
        sources.formUnion(try snapshotAfter().sources(of: id, through: hops))
        for source in sources where attribute.entities.contains(source.entityID) {
            concerned[source, default: []].insert(index)
        }
    }

    private mutating func note(_ change: ChangeSet.PairChange) throws {
        guard !plan.pairs(of: change.key.property).isEmpty else { return }
        let isLinked = try head.pair(change.key) != nil
        switch change.kind {
        case .link: try note(change.key, difference: isLinked ? 0 : 1)
        case .unlink: try note(change.key, difference: isLinked ? -1 : 0)
        case .move: return
        }
    }

    private mutating func note(_ key: PairKey, difference: Int) throws {
        guard difference != 0 else { return }
        for (index, pairs) in plan.pairs(of: key.property) {
            for owner in Set(pairs.owners(of: key)) {
                if pairs.hops.isEmpty {
                    if plan.attributes[index].entities.contains(owner.entityID) {
                        concerned[owner, default: []].insert(index)
                    }
                } else {
                    try note(index, leadingTo: owner, through: pairs.hops)
                }
            }
        }
        for (link, pairs) in plan.countedPairs(of: key.property) {
            for owner in Set(pairs.owners(of: key)) { differences[link, default: [:]][owner, default: 0] += difference }
        }
    }

    /// Notes that a member has changed its owner.
    private mutating func count(_ id: ObjectID, before: SnapshotRow?, after: RowImage?) throws {
        for (link, toOne) in plan.countedRows(of: id.entityID) {
            guard let entity = head.schema.entity(id.entityID), let slot = entity.slot(of: toOne) else { continue }
            let old = try before?.reference(toOne, of: head.schema, id)
            var new: ObjectID?
            if let after {
                let target = try after.withReader(entity.layout) { reader throws(CorruptRecord) in
                    reader.reference(slot)
                }
                new = target.isNil ? nil : target
            }
            guard old != new else { continue }
            if let old { differences[link, default: [:]][old, default: 0] -= 1 }
            if let new { differences[link, default: [:]][new, default: 0] += 1 }
        }
    }

    /// The state after the save, without derived values.
    private mutating func snapshotAfter() throws -> Snapshot {
        if let after { return after }
        var layer = Layer.Builder(schema: head.schema)
        for insertion in changes.insertions { layer.setRow(insertion.id, insertion.image, revision: .zero) }
        for update in changes.updates { layer.setRow(update.id, update.image, revision: update.baseRevision) }
        for deletion in changes.deletions { layer.setAbsent(deletion.id) }
        for change in changes.pairs {
            switch change.kind {
            case .link(let positions): layer.setPair(change.key, positions)
            case .unlink: layer.setPair(change.key, nil)
            case .move(let positions):
                if try head.pair(change.key) != nil { layer.setPair(change.key, positions) }
            }
        }
        let snapshot = Snapshot(
            eventNumber: head.eventNumber, schema: head.schema, transaction: head.transaction, tables: head.tables,
            histories: head.histories, layers: [layer.finish()])
        after = snapshot
        return snapshot
    }

    // MARK: Values

    private mutating func compute() throws -> Outcome {
        var result = Outcome(changes: changes, rows: rows)
        guard !concerned.isEmpty else { return result }
        let run = try makeRun()
        var inserted: [ObjectID: Int] = [:]
        var updated: [ObjectID: Int] = [:]
        for (index, insertion) in changes.insertions.enumerated() where concerned[insertion.id] != nil {
            inserted[insertion.id] = index
        }
        for (index, update) in changes.updates.enumerated() where concerned[update.id] != nil {
            updated[update.id] = index
        }
        for (id, attributes) in concerned.sorted(by: { $0.key < $1.key }) where !deletions.contains(id) {
            guard let entity = head.schema.entity(id.entityID) else { continue }
            if let index = inserted[id] {
                let image = changes.insertions[index].image
                guard let derived = try derive(id, image, attributes, entity, run) else { continue }
                result.changes.insertions[index].image = derived.image
                result.derived[id] = derived.image
            } else if let index = updated[id] {
                let update = changes.updates[index]
                guard let derived = try derive(id, update.image, attributes, entity, run) else { continue }
                result.changes.updates[index].image = derived.image
                result.changes.updates[index].changedSlots.formUnion(derived.slots)
                result.derived[id] = derived.image
            } else if let row = try head.row(id) {
                guard let derived = try derive(id, try row.converted(to: entity), attributes, entity, run) else {
                    continue
                }
                result.rows[id] = row
                result.derived[id] = derived.image
                result.changes.updates.append(
                    .init(id: id, baseRevision: row.revision, image: derived.image, changedSlots: derived.slots))
            }
        }
        return result
    }

    private mutating func makeRun() throws -> DerivationRun {
        // Without a path across relationships the attributes are computed from the row at hand.
        let crosses = concerned.values.contains { $0.contains { plan.attributes[$0].crossesRelationships } }
        let snapshot = crosses ? try snapshotAfter() : head
        let (head, differences) = (head, differences)
        return DerivationRun(plan, snapshot, now: Date()) { link, owner in
            try head.memberCount(of: link, owner: owner) + (differences[link]?[owner] ?? 0)
        }
    }

    /// The row with its derived values; nil if it has them already.
    private func derive(
        _ id: ObjectID, _ image: RowImage, _ attributes: Set<Int>, _ entity: EntitySchema, _ run: DerivationRun
    ) throws -> (image: RowImage, slots: [Int])? {
        var values: [(slot: Int, value: AttributeValue)] = []
        try withExtendedLifetime(image) {
            let row = try RowReader(image.unsafeBytes, layout: entity.layout)
            for index in attributes.sorted() {
                let attribute = plan.attributes[index]
                let value = try run.value(of: attribute, row, id)
                if try !row.value(attribute.slot).isIdentical(to: value) { values.append((attribute.slot, value)) }
            }
        }
        guard !values.isEmpty else { return nil }
        var builder = try RowBuilder(image, layout: entity.layout)
        for (slot, value) in values { try builder.set(slot, value) }
        return (try builder.finish(), values.map(\.slot))
    }
}
