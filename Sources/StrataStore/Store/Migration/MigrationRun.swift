import Foundation
import LMDB
import StrataModel

/// Runs the passes of one migration, a step at a time, on the writer's thread.
struct MigrationRun {
    let file: StoreFile
    let migration: Migration
    /// With the new model as the newest.
    let histories: SchemaHistory
    /// The last event under the old model.
    let lastOfOld: EventNumber
    let limits: MigrationLimits

    /// The events that a step makes of its objects.
    private struct StepOutput: ~Copyable {
        var events: EventList
        var touched = TouchedSet()
        var payload = ByteWriter()
        var count = 0
        /// The pairs that it links.
        var linked: Set<PairKey> = []
        /// The pairs that it unlinks.
        var unlinked: Set<PairKey> = []
        /// The object at which the pass continues; nil at its end.
        var next: ObjectID?

        init(_ transaction: TransactionNumber) { events = EventList(transaction: transaction) }
    }

    private static let author = "strata"
    private static let contextName = "migration"
    private static func metadata(_ version: ModelVersion) -> [String: String] { ["model": String(version.rawValue)] }

    /// Whether a transaction is a step of the migration to a model.
    static func isStep(_ record: TransactionRecord, to version: ModelVersion) -> Bool {
        isStep(record) && record.metadata == metadata(version)
    }

    /// Whether a transaction is a step of a migration.
    static func isStep(_ record: TransactionRecord) -> Bool {
        record.author == author && record.contextName == contextName
    }

    /// The first object that a pass goes through; nil if there is nothing to do.
    var start: MigrationMark.Progress? { progress(at: 0) }

    private func progress(at pass: Int) -> MigrationMark.Progress? {
        guard pass < migration.passes.count else { return nil }
        return MigrationMark.Progress(pass: pass, next: ObjectID(entity: migration.passes[pass].entity.id, row: 0))
    }

    /// Goes through about as many objects as a step has, from a position on.
    ///
    /// - Parameters:
    ///   - head: moves if the step writes events.
    ///   - fillsWithModel: whether installing the model has filled its indexes and links already.
    /// - Returns: the next position; nil when the migration is done.
    func step(
        _ progress: MigrationMark.Progress, _ head: inout LogHead, fillsWithModel: Bool, _ transaction: WriteTransaction
    ) throws -> MigrationMark.Progress? {
        guard migration.passes.indices.contains(progress.pass) else {
            throw StrataError(
                .corrupt, "The mark of a migration is beyond its last pass.", context: .init(path: file.path))
        }
        let pass = migration.passes[progress.pass]
        let next: ObjectID?
        switch pass {
        case .fillLinks(let entity):
            next = fillsWithModel ? nil : try fill(migration.filling.linksOnly, entity, progress.next, transaction)
        case .fillIndexes(let entity):
            next = fillsWithModel ? nil : try fill(migration.filling.indexesOnly, entity, progress.next, transaction)
        case .link(let property, let entity):
            next = try write(entity, progress.next, &head, transaction) { id, row, snapshot, step in
                try link(property, of: id, row, snapshot, &step)
            }
        case .unlink(let entity):
            let links = migration.links.lostPairs(of: entity)
            next = try write(entity, progress.next, &head, transaction) { id, _, snapshot, step in
                try unlink(migration.links.lostPairs(of: id, links, snapshot), snapshot, &step)
            }
        case .regain(let entity):
            next = try write(entity, progress.next, &head, transaction) { id, _, snapshot, step in
                try append(migration.regainedPairs(of: id, snapshot).map { ($0.key, $0.positions) }, snapshot, &step)
            }
        case .rewrite(let migration):
            next = try write(migration.entity, progress.next, &head, transaction) { id, row, snapshot, step in
                try rewrite(id, migration, row, snapshot, &step)
            }
        case .leave(let entity):
            next = try write(entity, progress.next, &head, transaction) { id, _, snapshot, step in
                try unlink(migration.links.leftPairs(of: id, snapshot), snapshot, &step)
            }
        case .derive(let entity): next = try derive(entity, progress.next, &head, transaction)
        }
        return next.map { MigrationMark.Progress(pass: progress.pass, next: $0) }
            ?? self.progress(at: progress.pass + 1)
    }

    private func fill(
        _ filling: ModelFilling, _ entity: EntitySchema, _ start: ObjectID, _ transaction: WriteTransaction
    ) throws -> ObjectID? {
        var projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
        return try projector.fill(filling, of: entity, from: start, limit: limits.objectsInStep, transaction)
    }

    /// Computes the derived attributes of objects under the new model. Derived attributes never depend on each other,
    /// so it does not matter how far the pass has come.
    private func derive(
        _ entity: EntitySchema, _ start: ObjectID, _ head: inout LogHead, _ transaction: WriteTransaction
    ) throws -> ObjectID? {
        let snapshot = Snapshot(
            eventNumber: head.event, schema: migration.new, transaction: transaction, tables: file.tables,
            histories: histories, layers: [])
        let plan = DerivationMap.of(migration.new)
        let attributes = plan.attributes(of: entity.id).map { plan.attributes[$0] }
        let run = DerivationRun(plan, snapshot, now: Date()) { try snapshot.memberCount(of: $0, owner: $1) }
        return try write(entity, start, snapshot, &head, transaction) { id, row, snapshot, step in
            try row.withNewestReader(id, migration.new) { reader in
                var changes: [PropertyChange] = []
                for attribute in attributes {
                    let before = try reader.value(attribute.slot)
                    // The time of their last change is not known.
                    if case .now = attribute.computation, !before.isNull { continue }
                    let value = try run.value(of: attribute, reader, id)
                    guard !value.isIdentical(to: before) else { continue }
                    changes.append(
                        PropertyChange(property: attribute.property, before: before.asBeforeImage, after: .value(value))
                    )
                }
                try append(changes, id, row.revision, &step)
            }
        }
    }

    private func append(
        _ changes: [PropertyChange], _ id: ObjectID, _ revision: EventNumber, _ step: inout StepOutput
    ) throws {
        guard !changes.isEmpty else { return }
        step.payload.reset()
        try step.payload.append(changes: changes)
        step.events.append(.updated, id, previous: revision, step.payload)
        for change in changes { step.touched.add(id.entityID, .updated, change.property) }
    }

    /// Walks rows that no pass has changed yet, and appends the events that `body` makes of them.
    private func write(
        _ entity: EntitySchema, _ start: ObjectID, _ head: inout LogHead, _ transaction: WriteTransaction,
        _ body: (ObjectID, SnapshotRow, Snapshot, inout StepOutput) throws -> Void
    ) throws -> ObjectID? {
        let snapshot = Snapshot(
            eventNumber: lastOfOld, schema: migration.old, transaction: transaction, tables: file.tables,
            histories: try histories.through(migration.old.version), layers: [])
        return try write(entity, start, snapshot, &head, transaction, body)
    }

    private func write(
        _ entity: EntitySchema, _ start: ObjectID, _ snapshot: Snapshot, _ head: inout LogHead,
        _ transaction: WriteTransaction, _ body: (ObjectID, SnapshotRow, Snapshot, inout StepOutput) throws -> Void
    ) throws -> ObjectID? {
        var step = StepOutput(TransactionNumber(rawValue: head.transaction.rawValue + 1))
        step.next = try transaction.withCursor(file.tables.objects) { cursor in
            var found = try cursor.seek(atOrAfter: start.rawValue)
            while found {
                let id = StoreKey.objectID(cursor.key, at: 0)
                guard id.entityID == entity.id else { return nil }
                if step.count >= limits.objectsInStep || step.events.sizeInBytes >= limits.bytesInStep { return id }
                step.count += 1
                try body(id, try snapshot.storedRow(cursor.value, id), snapshot, &step)
                found = try cursor.next()
            }
            return nil
        }
        guard step.events.count > 0 else { return step.next }
        var projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
        try projector.noteBuildingViews(at: head.event, transaction)
        let description = TransactionDescription(
            id: .ofTransaction(), author: Self.author, contextName: Self.contextName,
            metadata: Self.metadata(migration.new.version), touched: step.touched.records)
        _ = try LogWriter.append(step.events, description, after: &head, file, transaction, &projector)
        return step.next
    }

    private func rewrite(
        _ id: ObjectID, _ migration: EntityMigration, _ row: SnapshotRow, _ snapshot: Snapshot, _ step: inout StepOutput
    ) throws {
        var failures = MigrationFailures()
        let changes = try migration.changes(of: id, row, snapshot, &failures)
        // They fitted when the migration began and have not changed since, so a rule of the app's has given another
        // value.
        try failures.refuse(path: file.path)
        try append(changes, id, row.revision, &step)
    }

    private func link(
        _ property: PropertySchema, of id: ObjectID, _ row: SnapshotRow, _ snapshot: Snapshot, _ step: inout StepOutput
    ) throws {
        try append(
            migration.pairs(of: property, owner: id, row, snapshot).map { ($0.key, $0.positions) }, snapshot, &step)
    }

    /// Links pairs, but for those that are linked: the same one can come from both its ends, and from two models.
    private func append(
        _ pairs: [(key: PairKey, positions: PairPositions)], _ snapshot: Snapshot, _ step: inout StepOutput
    ) throws {
        for (key, positions) in pairs {
            guard try snapshot.pairState(key) == nil, step.linked.insert(key).inserted else { continue }
            step.payload.reset()
            step.payload.append(pair: PairEvent(key: key, positions: positions))
            step.events.append(.linked, key.source, previous: .zero, step.payload)
            step.touched.add(key.source.entityID, .linked, key.property)
            step.touched.add(key.target.entityID, .linked, key.property)
        }
    }

    private func unlink(_ keys: [PairKey], _ snapshot: Snapshot, _ step: inout StepOutput) throws {
        for key in keys {
            guard let state = try snapshot.pairState(key), step.unlinked.insert(key).inserted else { continue }
            step.payload.reset()
            step.payload.append(pair: PairEvent(key: key, positions: state.positions))
            step.events.append(.unlinked, key.source, previous: state.revision, step.payload)
            step.touched.add(key.source.entityID, .unlinked, key.property)
            step.touched.add(key.target.entityID, .unlinked, key.property)
        }
    }
}
