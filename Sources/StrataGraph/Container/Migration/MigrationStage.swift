// Staged migrations: the settings of a container, and the stages with an app's code.

public import StrataModel

/// The way in which a store that has another model is migrated to the model of its container.
public enum PersistentStoreMigration: Sendable {
    /// In one step; `PersistentContainer.migrationPlan()` lists what it does.
    case automatic
    /// From model to model, with code of the app in between. The last stage leads to the container's model.
    case staged([MigrationStage])
    /// The store is not migrated: loading throws `persistentStoreIncompatibleVersionHash`.
    case none
}

/// One stage of a staged migration: a model, and code that runs before and after the store is migrated to it.
///
/// ```swift
/// let split = MigrationStage(label: "addresses", to: modelWithAddresses, didMigrate: { contexts in
///     for old in try contexts.before.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
///         let address = try contexts.after.insertNewObject(forEntityName: "Address")
///         try address.setValue(try old.value(forKey: "city"), forKey: "city")
///     }
/// })
/// ```
///
/// When a handler returns, its changes are saved in one transaction with a record that it ran. If it crashes before,
/// the next loading runs it again, without any of its changes; so a handler must not save. Handlers run on the thread
/// that loads the container.
public struct MigrationStage: Sendable {
    /// The name of the stage in the log, unique among the stages.
    public let label: String
    /// The model that the stage leads to.
    public let model: ManagedObjectModel
    let willMigrate: (@Sendable (ManagedObjectContext) throws -> Void)?
    let didMigrate: (@Sendable (MigrationContexts) throws -> Void)?

    /// Makes a stage.
    ///
    /// - Parameters:
    ///   - willMigrate: changes objects under the old model.
    ///   - didMigrate: changes objects under `model`, and can read how they were under the old model.
    public init(
        label: String, to model: ManagedObjectModel,
        willMigrate: (@Sendable (ManagedObjectContext) throws -> Void)? = nil,
        didMigrate: (@Sendable (MigrationContexts) throws -> Void)? = nil
    ) {
        self.label = label
        self.model = model
        self.willMigrate = willMigrate
        self.didMigrate = didMigrate
    }
}

/// The two contexts that the handler after a migration stage works with.
public struct MigrationContexts {
    /// The objects under the new model; changes are saved when the handler returns.
    public let after: ManagedObjectContext
    /// The objects as they were before the stage, under the old model; cannot be changed.
    public let before: ManagedObjectContext
}
