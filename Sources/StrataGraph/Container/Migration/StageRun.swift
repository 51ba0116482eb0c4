import Foundation
import StrataModel
import StrataStore

/// Takes a store through the stages that it has not been through.
///
/// Where it stands is in the log: the newest model, the label in the metadata of the transaction that installed it, and
/// for each handler that ran a transaction whose id follows from the store, the model version and the stage.
struct StageRun {
    let container: PersistentContainer
    let location: StoreLocation
    let stages: [MigrationStage]

    private static let labelKey = "strata.stage"

    func run() throws {
        // A store that is not there yet begins with the container's model.
        guard let url = container.storeURL,
            FileManager.default.fileExists(atPath: url.appending(path: "data.mdb").path),
            !container.options.isReadOnly
        else { return }
        guard stages.last?.model.entities == container.managedObjectModel.entities else {
            throw StrataError(.migration, "The last stage of a migration must lead to the container's model.")
        }
        var next = try finishNewest()
        while next < stages.count {
            try run(stages[next])
            next += 1
        }
    }

    /// Runs what a stage that was cut short has left.
    ///
    /// - Returns: the first stage that is to be gone through.
    private func finishNewest() throws -> Int {
        try withStore(model: nil, label: nil) { store in
            guard let newest = stages.lastIndex(where: { $0.model.entities == store.schema.model.entities }) else {
                return 0
            }
            try finish(stages[newest], store)
            return newest + 1
        }
    }

    private func run(_ stage: MigrationStage) throws {
        try withStore(model: nil, label: nil) { store in
            guard let willMigrate = stage.willMigrate else { return }
            let id = store.onceID("will/\(store.schema.version.rawValue)/\(stage.label)")
            try once(id, stage, store) { try willMigrate($0) }
        }
        try withStore(model: stage.model, label: stage.label) { store in try finish(stage, store) }
    }

    /// Runs the handler after a stage, if the store came to its model by it.
    private func finish(_ stage: MigrationStage, _ store: Store) throws {
        guard let didMigrate = stage.didMigrate else { return }
        let (record, lastOfOld) = try store.newestInstallation()
        guard record?.metadata[Self.labelKey] == stage.label else { return }
        let id = store.onceID("did/\(store.schema.version.rawValue)/\(stage.label)")
        try once(id, stage, store) { context in
            let old = try StoreBinding(
                store: store, schema: try store.schema(at: lastOfOld), classes: container.classes)
            let before = ManagedObjectContext(binding: old, at: lastOfOld, isPast: true)
            try didMigrate(MigratedStage(context: context, before: before))
        }
    }

    private func once(
        _ id: UUID, _ stage: MigrationStage, _ store: Store, _ handler: (ManagedObjectContext) throws -> Void
    ) throws {
        if try store.hasTransaction(id) { return }
        let binding = try StoreBinding(store: store, schema: store.schema, classes: container.classes)
        let context = ManagedObjectContext(binding: binding, at: try store.head())
        context.name = "migration"
        context.transactionMetadata = [Self.labelKey: stage.label]
        context.savedTransactionID = id
        try handler(context)
        if context.hasChanges { try context.save() }
        // A handler that changed nothing has run, too.
        try store.note(id, [Self.labelKey: stage.label])
    }

    private func withStore<R>(
        model: ManagedObjectModel?, label: String?, _ body: (Store) throws -> R
    ) throws -> R {
        var options = container.options.storeOptions
        if let label { options.migration.metadata = [Self.labelKey: label] }
        let store = try Store.open(location, model: model, options: options)
        defer { store.close() }
        return try body(store)
    }
}

extension StoreBinding {
    /// The binding for a context at a moment of the past: this one, if no value or link of then was rewritten since.
    func ofPast(_ eventNumber: EventNumber, _ classes: [String: ManagedObject.Type]) throws -> StoreBinding {
        let then = try store.schema(at: eventNumber)
        guard then.version < schema.version else { return self }
        let wasRewritten = try store.schemas.contains {
            $0.version > then.version && $0.version <= schema.version && !$0.assignment.replaced.isEmpty
        }
        return wasRewritten ? try StoreBinding(store: store, schema: then, classes: classes) : self
    }
}
