import Foundation
import StrataModel
import StrataStore

/// Takes a store through the stages of a staged migration, from where an earlier run stopped.
///
/// The log determines how far the store is: by its newest model, by the label in the metadata of the transaction that
/// installed it, and by a transaction for each handler that ran, whose id is made of store, model version and stage.
struct StageRun {
    let container: PersistentContainer
    let location: StoreLocation
    let stages: [MigrationStage]

    private static let labelKey = "strata.stage"

    func run() throws {
        // A new store is created with the container's model.
        guard let url = container.storeURL,
            FileManager.default.fileExists(atPath: url.appending(path: "data.mdb").path),
            !container.options.isReadOnly
        else { return }
        guard stages.last?.model.entities == container.managedObjectModel.entities else {
            throw StrataError(.migration, "The last stage of a migration must lead to the container's model.")
        }
        var next = try finishNewest()
        let model = container.managedObjectModel
        // Stages that do not know the store's model are of an older app if the store has had their last model.
        if next == 0, try withStore(model: nil, label: nil, { try $0.migrationPlan(to: model).isDowngrade }) {
            return try withStore(model: model, label: nil) { _ in }
        }
        while next < stages.count {
            // The app knows the model that the store has: a stage that leads back from it is its decision.
            try run(stages[next], allowsDowngrade: next > 0)
            next += 1
        }
    }

    /// Finishes the stage that led to the store's newest model, if a crash interrupted it.
    ///
    /// - Returns: the index of the next stage.
    private func finishNewest() throws -> Int {
        try withStore(model: nil, label: nil) { store in
            guard let newest = stages.lastIndex(where: { $0.model.entities == store.schema.model.entities }) else {
                return 0
            }
            try finish(stages[newest], store)
            return newest + 1
        }
    }

    private func run(_ stage: MigrationStage, allowsDowngrade: Bool) throws {
        try withStore(model: nil, label: nil) { store in
            guard let willMigrate = stage.willMigrate else { return }
            let id = store.onceID("will/\(store.schema.version.rawValue)/\(stage.label)")
            try once(id, stage, store) { try willMigrate($0) }
        }
        try withStore(model: stage.model, label: stage.label, allowsDowngrade: allowsDowngrade) { store in
            try finish(stage, store)
        }
    }

    /// Runs the handler after a stage, if that stage installed the store's newest model.
    private func finish(_ stage: MigrationStage, _ store: Store) throws {
        guard let didMigrate = stage.didMigrate else { return }
        let (record, lastOfOld) = try store.newestInstallation()
        guard record?.metadata[Self.labelKey] == stage.label else { return }
        let id = store.onceID("did/\(store.schema.version.rawValue)/\(stage.label)")
        try once(id, stage, store) { context in
            let old = try StoreBinding(
                store: store, schema: try store.schema(at: lastOfOld), classes: container.classes,
                requestBudget: container.options.requestBudget)
            let before = ManagedObjectContext(binding: old, at: lastOfOld, isPast: true)
            try didMigrate(MigrationContexts(after: context, before: before))
        }
    }

    private func once(
        _ id: UUID, _ stage: MigrationStage, _ store: Store, _ handler: (ManagedObjectContext) throws -> Void
    ) throws {
        if try store.hasTransaction(id) { return }
        let binding = try StoreBinding(
            store: store, schema: store.schema, classes: container.classes,
            requestBudget: container.options.requestBudget)
        let context = ManagedObjectContext(binding: binding, at: try store.head())
        context.name = "migration"
        context.transactionMetadata = [Self.labelKey: stage.label]
        context.saving.transactionID = id
        try handler(context)
        if context.hasChanges { try context.save() }
        // Records that the handler ran also if it changed nothing.
        try store.note(id, [Self.labelKey: stage.label])
    }

    private func withStore<R>(
        model: ManagedObjectModel?, label: String?, allowsDowngrade: Bool = false, _ body: (Store) throws -> R
    ) throws -> R {
        var options = container.options.storeOptions
        if allowsDowngrade { options.migration.allowsDowngrade = true }
        if let label { options.migration.metadata = [Self.labelKey: label] }
        let store = try Store.open(location, model: model, options: options)
        defer { store.close() }
        return try body(store)
    }
}

extension StoreBinding {
    /// The binding for a context of the past that shows the model of then: this one if it is that.
    func ofPast(_ eventNumber: EventNumber, _ classes: [String: ManagedObject.Type]) throws -> StoreBinding {
        let then = try store.schema(at: eventNumber)
        guard then.version < schema.version else { return self }
        return try StoreBinding(store: store, schema: then, classes: classes, requestBudget: requestBudget)
    }
}
