package import Foundation
import LMDB
import Logging
package import StrataModel

// Installs a model and migrates the objects, in one commit or in several behind a `MigrationMark`; plans a migration
// without making it.

extension Store {
    /// Installs `model` if the store's newest model is another; nil keeps the store's model.
    func adopt(_ model: ManagedObjectModel?) throws {
        guard let model else {
            guard file.histories.newest != nil else {
                throw StrataError(.invalidModel, "The store has no model yet.", context: .init(path: path))
            }
            return
        }
        if try keeps(model) { return }
        if isReadOnly {
            // Without the views that the model declares, everything else can be read.
            if file.histories.newest?.model.entities == model.entities { return }
            throw different("The store has another model version, and is open for reading only.")
        }
        try installOnWriter { transaction, histories in
            if let mark = try self.file.migrationMark(transaction) {
                try self.refuseOther(model, mark, transaction)
                return nil
            }
            let kept = try self.keptViews(model, histories, transaction)
            let next = try self.nextSchema(kept?.model ?? model, histories, transaction)
            if next != nil { try self.checkReplaced(histories) }
            return next.map { ($0, kept?.changes ?? []) }
        }
    }

    /// - Throws: `modelChanged` if the model to be installed was made from another one than the store has.
    private func checkReplaced(_ histories: SchemaHistory) throws {
        guard let expected = file.options.replacedModel, let newest = histories.newest, newest.version != expected
        else {
            return
        }
        throw StrataError(
            .modelChanged,
            "Another process has changed the store's model meanwhile, from version \(expected.rawValue) to "
                + "\(newest.version.rawValue). Try again.", context: .init(path: path))
    }

    /// Whether nothing needs to change for a model; for nil, whether the store has one of its own.
    func keeps(_ model: ManagedObjectModel?) throws -> Bool {
        guard let newest = file.histories.newest else { return false }
        guard let model else { return true }
        return try newest.model.isKept(like: keptViews(model, file.histories)?.model ?? model)
    }

    /// Installs a model that another store has had, with the same numbers for entities and properties.
    func adopt(recovered schema: Schema) throws {
        try installOnWriter { _, histories in
            let version = ModelVersion(rawValue: (histories.newest?.version.rawValue ?? 0) + 1)
            return (try Schema(version: version, model: schema.model, assignment: schema.assignment), [])
        }
    }

    /// A schema, and the changes of the views that the store keeps.
    private typealias NextSchema =
        @Sendable (WriteTransaction, SchemaHistory) throws
        -> (schema: Schema, views: [SchemaDifference.Change])?

    /// - Parameter next: the schema to install; nil for none.
    private func installOnWriter(_ next: @escaping NextSchema) throws {
        try onWriter { [self] in
            do {
                try install(next)
                while try goOn() {}
                try file.read { _, _, _ in }
            } catch {
                throw file.publicError(error, during: "installing a model")
            }
        }
    }

    /// A model that was asked for, with the views that the store keeps beside it; nil if it keeps none.
    ///
    /// - Parameter transaction: nil if only a model with the same entities matters.
    private func keptViews(
        _ model: ManagedObjectModel, _ histories: SchemaHistory, _ transaction: ReadTransaction? = nil
    ) throws -> KeptViews? {
        guard file.options.keepsOwnViews, let newest = histories.newest,
            newest.model.views.contains(where: \.isOfStore)
        else { return nil }
        let isSame = newest.model.entities == model.entities
        return try KeptViews(
            model, from: newest, earlier: isSame ? [] : try Self.earlier(histories, newest),
            filled: isSame ? [] : try transaction.map { try filledEntities(histories, $0) } ?? [])
    }

    /// The models before the newest one, newest first.
    ///
    /// - Throws: `corrupt` if a record cannot be decoded: without it, the new model would lose what that one had.
    private static func earlier(_ histories: SchemaHistory, _ newest: Schema) throws -> [Schema] {
        try histories.schemas(histories.versions.filter { $0 < newest.version }).reversed()
    }

    private func different(_ message: String) -> StrataError {
        StrataError(.persistentStoreIncompatibleVersionHash, message, context: .init(path: path))
    }

    /// Checks everything before the first byte is written, on the writer's thread. Then one transaction installs the
    /// model, and migrates all objects if they are few; otherwise it leaves a mark, and `goOn` does the rest.
    private func install(_ next: NextSchema) throws {
        try file.write { transaction in
            var head = try file.readHead(transaction)
            let histories = try file.histories(for: head, transaction)
            guard let (schema, views) = try next(transaction, histories) else { return }
            var run: MigrationRun?
            if let old = histories.newest {
                run = try prepare(from: old, to: schema, histories, head, transaction)
            }
            for change in views where change.kind == .viewRemoved { StoreLogger.shared.notice("\(change.sentence)") }
            let count = try run?.migration.objectCount(transaction, file.tables) ?? 0
            let isSmall = count <= file.options.migration.limits.objectsInOneCommit
            let lastOfOld = head.event
            try append(schema, isSmall, histories, &head, transaction)
            var progress = run?.start
            while let here = progress, let run, isSmall {
                progress = try run.step(here, &head, fillsWithModel: true, transaction)
            }
            guard let progress, let run else { return }
            let mark = MigrationMark(
                head: head, from: run.migration.old.version, to: schema.version, lastOfOld: lastOfOld,
                valuesDigest: file.options.migration.valuesDigest, progress: progress)
            try file.writeMark(mark, transaction)
        }
    }

    /// Nil if the store has the model.
    private func nextSchema(
        _ model: ManagedObjectModel, _ histories: SchemaHistory, _ transaction: ReadTransaction
    ) throws -> Schema? {
        let newest = histories.newest
        if let newest, newest.model.isKept(like: model) { return nil }
        let schema = try successor(of: histories, model, transaction)
        if let newest, SchemaDifference(from: newest, to: schema).isSame { return nil }
        return schema
    }

    /// The model with the numbers that follow those of the store's models.
    func successor(
        of histories: SchemaHistory, _ model: ManagedObjectModel, _ transaction: ReadTransaction
    ) throws -> Schema {
        guard let newest = histories.newest else {
            return try Schema(
                version: ModelVersion(rawValue: 1), model: model,
                assignment: try ModelAssignment().extended(for: model, from: nil))
        }
        return try Schema(
            version: ModelVersion(rawValue: newest.version.rawValue + 1), model: model,
            assignment: try newest.assignment.extended(
                for: model, from: newest, earlier: try Self.earlier(histories, newest),
                filled: try filledEntities(histories, transaction)))
    }

    /// The entities that have objects, though the newest model does not have the entities.
    private func filledEntities(_ histories: SchemaHistory, _ transaction: ReadTransaction) throws -> Set<EntityID> {
        guard let newest = histories.newest else { return [] }
        let earlier = try Self.earlier(histories, newest).flatMap { $0.entities.map(\.id) }
        return try Set(earlier).filter {
            try newest.entity($0) == nil && Migration.objectCount($0, transaction, file.tables) > 0
        }
    }

    private func prepare(
        from old: Schema, to new: Schema, _ histories: SchemaHistory, _ head: LogHead, _ transaction: WriteTransaction
    ) throws -> MigrationRun {
        let options = file.options.migration
        // Views are made without a change of objects.
        guard options.isAllowed || old.model.entities == new.model.entities else {
            throw different("The store has another model version, and migration is not allowed.")
        }
        let snapshot = Snapshot(
            eventNumber: head.event, schema: old, transaction: transaction, tables: file.tables, histories: histories,
            layers: [])
        if !options.allowsDowngrade, let downgrade = try Downgrade(to: new.model, histories) {
            let plan = try migrationPlan(to: new, isDowngrade: true, snapshot)
            let installation = try LogReader(transaction, file.tables, histories)
                .lastTransaction(upTo: head.transaction) { $0.modelVersion < old.version }
            throw downgrade.refusal(plan, installation: installation, path: path)
        }
        let plan = try migrationPlan(
            to: new, isDowngrade: false, snapshot, countsUpTo: options.limits.objectsInOneCommit)
        if !plan.isConstantTime || plan.steps.contains(where: { $0.hiddenValueCount > 0 }) {
            StoreLogger.shared.notice("migrating \(path) to model \(new.version.rawValue): \(plan.summary)")
            for step in plan.steps { StoreLogger.shared.debug("migrating: \(step.description)") }
        }
        let migration = try Migration(
            from: old, to: new, LogReader(transaction, file.tables, histories), head.transaction,
            values: options.values, blobs: blobs, keys: keyRing)
        try migration.check(snapshot, histories, path: path, options.progress)
        return MigrationRun(
            file: file, migration: migration, histories: histories.adding(new), lastOfOld: head.event,
            limits: options.limits)
    }

    private func append(
        _ schema: Schema, _ fillsAtOnce: Bool, _ histories: SchemaHistory, _ head: inout LogHead,
        _ transaction: WriteTransaction
    ) throws {
        try file.noteViews(of: schema.model, transaction)
        if schema.hasEncryption { try file.noteEncryption(transaction) }
        var projector = Projector(tables: file.tables, histories: histories, tracking: .independent)
        projector.fillsAtOnce = fillsAtOnce
        projector.declared.mostObjectsAtOnce = file.options.viewStepLimits.objects
        try projector.noteBuildingViews(at: head.event, transaction)
        var events = EventList(transaction: TransactionNumber(rawValue: head.transaction.rawValue + 1))
        var payload = ByteWriter()
        payload.append(littleEndian: schema.version.rawValue)
        try SchemaRecord(schema).encoded().withUnsafeBytes { payload.append($0) }
        events.append(.modelInstalled, ObjectID(rawValue: 0), previous: .zero, payload)
        let description = TransactionDescription(
            id: .ofTransaction(), author: "strata", metadata: file.options.migration.recordedMetadata)
        _ = try LogWriter.append(events, description, after: &head, file, transaction, &projector)
    }

    // MARK: Large migrations

    /// Finishes an interrupted migration before anything is read.
    func resumeMigration(_ model: ManagedObjectModel?) throws {
        guard let mark = try file.environment.read({ try file.migrationMark($0) }) else { return }
        if isReadOnly {
            throw StrataError(
                .persistentStoreOpen,
                "A migration of the store was interrupted; opening it for writing once finishes it.",
                context: .init(path: path))
        }
        StoreLogger.shared.notice("finishing a migration to model \(mark.to.rawValue) that was interrupted")
        try onWriter { [self] in
            do {
                if let model {
                    try file.environment.read { transaction in
                        guard let mark = try file.migrationMark(transaction) else { return }
                        try refuseOther(model, mark, transaction)
                    }
                }
                while try goOn() {}
                try file.read { _, _, _ in }
            } catch {
                throw file.publicError(error, during: "migration")
            }
        }
    }

    private func refuseOther(
        _ model: ManagedObjectModel, _ mark: MigrationMark, _ transaction: ReadTransaction
    ) throws {
        let histories = try StoreFile.readModels(file.tables, transaction)
        let target = try histories.schema(mark.to)
        let asked = try keptViews(model, target.map { try histories.through($0.version) } ?? histories)?.model ?? model
        guard target?.model.isKept(like: asked) != true else { return }
        throw StrataError(
            .migration,
            "A migration of the store to model \(mark.to.rawValue) was interrupted; "
                + "opening it with that model finishes it.",
            context: .init(path: path))
    }

    /// Makes one commit of several. Its input is read from the store, so two processes that find the mark share the
    /// steps, and each step is done once.
    ///
    /// - Returns: whether there is more to do.
    private func goOn() throws -> Bool {
        try file.write { transaction in
            guard let mark = try file.migrationMark(transaction) else { return false }
            let histories = try StoreFile.readModels(file.tables, transaction)
            guard let old = try histories.schema(mark.from), let new = try histories.schema(mark.to) else {
                throw StrataError(.corrupt, "The mark of a migration names no models.", context: .init(path: path))
            }
            let options = file.options.migration
            guard options.valuesDigest == mark.valuesDigest else {
                throw StrataError(
                    .migration,
                    "A migration of the store was interrupted that had been begun with other rules for values; opening "
                        + "it with those finishes it.",
                    context: .init(path: path))
            }
            let run = MigrationRun(
                file: file,
                migration: try Migration(
                    from: old, to: new, LogReader(transaction, file.tables, histories), mark.head.transaction,
                    values: options.values, blobs: blobs, keys: keyRing),
                histories: histories, lastOfOld: mark.lastOfOld, limits: options.limits)
            var head = mark.head
            let next = try run.step(mark.progress, &head, fillsWithModel: false, transaction)
            options.progress?(
                StoreProgress(phase: "migrating", done: mark.progress.pass, total: run.migration.passes.count))
            guard let next else {
                try file.writeHead(head, transaction)
                return false
            }
            try file.writeMark(
                MigrationMark(
                    head: head, from: mark.from, to: mark.to, lastOfOld: mark.lastOfOld,
                    valuesDigest: mark.valuesDigest, progress: next),
                transaction)
            return true
        }
    }

    // MARK: Notes

    /// The id of a transaction that is to be made once for a store, however many processes try it.
    package func onceID(_ name: String) -> UUID {
        let text = Array("\(identifier.uuidString)/\(name)".utf8)
        let words = text.withUnsafeBytes {
            (XXH64.hash($0), XXH64.hash(UnsafeRawBufferPointer(rebasing: $0.dropFirst())))
        }
        return withUnsafeBytes(of: words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Writes a transaction that changes nothing, with this id and metadata.
    package func note(_ id: UUID, _ metadata: [String: String]) throws {
        var note = MaintenanceNote(author: "strata", metadata: metadata)
        note.id = id
        try appendMaintenance(.note, note)
    }

    /// The transaction that installed the newest model, and the last event before it.
    package func newestInstallation() throws -> (record: TransactionRecord?, lastOfOld: EventNumber) {
        let installed = try file.read { transaction, _, histories in
            try file.installation(of: schema.version, histories, transaction)
        }
        let record = try transaction(containing: installed)
        return (record, EventNumber(rawValue: (record?.firstEvent.rawValue ?? 1) - 1))
    }

    // MARK: Plans

    /// The steps that would migrate the store to a model; writes nothing.
    ///
    /// - Throws: `invalidModel` if the store has no numbers left.
    /// - Complexity: O(objects) if properties are removed, to count their values.
    package func migrationPlan(to model: ManagedObjectModel) throws -> MigrationPlan {
        try checkOpen()
        return try file.read { transaction, head, histories in
            guard let old = histories.newest else { return .empty }
            let snapshot = Snapshot(
                eventNumber: head, schema: old, transaction: transaction, tables: file.tables, histories: histories,
                layers: [])
            let isDowngrade = try Downgrade(to: model, histories) != nil
            let kept = try keptViews(model, histories, transaction)
            return try migrationPlan(
                to: try successor(of: histories, kept?.model ?? model, transaction), isDowngrade: isDowngrade,
                views: kept?.changes ?? [], snapshot)
        }
    }

    /// - Parameters:
    ///   - snapshot: the head, through the newest model.
    ///   - limit: the largest number of objects of an entity whose values are counted.
    private func migrationPlan(
        to new: Schema, isDowngrade: Bool, views: [SchemaDifference.Change] = [], _ snapshot: Snapshot,
        countsUpTo limit: Int = .max
    ) throws -> MigrationPlan {
        let hidden = HiddenValues(old: snapshot.schema, new: new, snapshot: snapshot)
        return try MigrationPlan(
            SchemaDifference(from: snapshot.schema, to: new), views: views, isDowngrade: isDowngrade,
            count: { try Migration.objectCount($0, snapshot.transaction, file.tables) },
            hidden: { change in
                guard let removed = change.removed else { return 0 }
                return try hidden.count(removed, upTo: limit)
            })
    }
}
