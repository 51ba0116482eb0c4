public import StrataModel

/// What is done when a store has another model than its container.
public enum PersistentStoreMigration: Sendable {
    /// The store is brought to the container's model; `PersistentContainer.migrationPlan()` says what that takes.
    case automatic
    /// One model after another, with code of the app's between them. The last stage leads to the container's model.
    case staged([MigrationStage])
    /// Loading throws `persistentStoreIncompatibleVersionHash`.
    case none
}

/// One step of a staged migration: to a model, with code before and after.
///
/// ```swift
/// let split = MigrationStage(label: "addresses", to: modelWithAddresses, didMigrate: { stage in
///     for old in try stage.before.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
///         let address = try stage.context.insertNewObject(forEntityName: "Address")
///         try address.setValue(try old.value(forKey: "city"), forKey: "city")
///     }
/// })
/// ```
///
/// What a handler changes is saved when it returns, together with the note that it ran. After a crash in between it is
/// run again, and finds nothing of what it did; so it must not save by itself. Handlers run where the container is
/// loaded, on that thread.
public struct MigrationStage: Sendable {
    /// Names the stage in the log; unique among the stages.
    public let label: String
    public let model: ManagedObjectModel
    let willMigrate: (@Sendable (ManagedObjectContext) throws -> Void)?
    let didMigrate: (@Sendable (MigratedStage) throws -> Void)?

    /// - Parameters:
    ///   - willMigrate: changes objects under the model that the store has before.
    ///   - didMigrate: changes them under `model`, with the old ones at hand.
    public init(
        label: String, to model: ManagedObjectModel,
        willMigrate: (@Sendable (ManagedObjectContext) throws -> Void)? = nil,
        didMigrate: (@Sendable (MigratedStage) throws -> Void)? = nil
    ) {
        self.label = label
        self.model = model
        self.willMigrate = willMigrate
        self.didMigrate = didMigrate
    }
}

/// A store after one stage of a migration: as it is, and as it was.
public struct MigratedStage {
    /// The objects under the new model.
    public let context: ManagedObjectContext
    /// The objects before the stage, under the old model; it cannot be changed.
    public let before: ManagedObjectContext
}
