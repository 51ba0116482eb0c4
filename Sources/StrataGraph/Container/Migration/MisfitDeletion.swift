import Foundation
import StrataModel
import StrataStore

/// Deletes the objects that do not fit a container's model, as far as its migration rules allow it.
///
/// The deletion is a transaction of its own, under the store's own model, with that model's delete rules. It is only made
/// if the store can be migrated afterwards.
struct MisfitDeletion {
    let container: PersistentContainer
    let location: StoreLocation
    private let entities: Set<String>

    /// Nil if no rule deletes objects, or there is no store that could be written.
    init?(_ container: PersistentContainer, _ location: StoreLocation) {
        entities = Set(container.options.migrationRules.filter(\.deletesMisfits).map(\.entityName))
        self.container = container
        self.location = location
        guard !entities.isEmpty, !container.options.isReadOnly, let url = container.storeURL,
            FileManager.default.fileExists(atPath: url.appending(path: "data.mdb").path)
        else { return nil }
    }

    func run() throws {
        let model = container.managedObjectModel
        let options = container.options.storeOptions
        let store = try Store.open(location, model: nil, options: options)
        defer { store.close() }
        let plan = try store.migrationPlan(to: model)
        if plan.isEmpty || plan.isDowngrade && !options.migration.allowsDowngrade || !options.migration.isAllowed {
            return
        }
        // Deleting an object can make another one fit no longer, such as one that has to lead to it.
        while true {
            let misfits = try store.misfits(of: model, options.migration.values, progress: options.migration.progress)
            // Loading names the objects that would be left.
            guard !misfits.problems.isEmpty, Set(misfits.objects.keys).isSubset(of: entities) else { return }
            try delete(misfits.objects.values.flatMap { $0 }, store)
        }
    }

    private func delete(_ ids: [ObjectID], _ store: Store) throws {
        let binding = try StoreBinding(
            store: store, schema: store.schema, classes: container.classes,
            requestBudget: container.options.requestBudget)
        let context = ManagedObjectContext(binding: binding, at: try store.head())
        context.name = "migration"
        context.transactionMetadata = [HistoryTransaction.reasonKey: "objects that do not fit the new model"]
        for id in ids { context.delete(context.object(with: id)) }
        try context.save()
    }
}
