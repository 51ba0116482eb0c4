public import Foundation
public import StrataModel
package import StrataStore

/// Where a container keeps its store.
public enum PersistentStoreLocation: Sendable, Hashable {
    /// The directory `<name>.strata` in `PersistentContainer.defaultDirectoryURL(for:)`.
    case defaultDirectory
    /// A directory for the store alone.
    case url(URL)
    /// A store that is gone when it is closed or the process ends, and behaves like one on disk until then.
    case inMemory
}

/// What a finished save survives.
public enum PersistentStoreDurability: Sendable, Hashable, CaseIterable {
    /// A save survives power loss.
    case full
    /// Power loss may undo the last commit, which saves of several contexts may share; the store stays consistent.
    case relaxed
    /// A save survives the end of the process. Power loss may destroy the store, which is to be removed then.
    case disposable
}

/// How a store is opened.
public struct PersistentStoreOptions: Sendable {
    /// What a finished save survives.
    public var durability = PersistentStoreDurability.full
    /// Whether saving throws `readOnly`.
    public var isReadOnly = false
    /// How long a save waits for writers of other processes before it throws `persistentStoreTimeout`.
    public var timeout = Duration.seconds(30)
    /// What loading does when the store has another model.
    public var migration = PersistentStoreMigration.automatic
    /// Rules by which a migration computes values: conversions and defaults.
    public var migrationRules: [MigrationRule] = []
    /// How much work and memory a request may take that has no budget of its own.
    public var requestBudget = RequestBudget.standard
    /// Whether a store that has moved on to a newer model may go back to the container's older one. Otherwise loading
    /// throws `modelDowngrade`, which names what going back would hide.
    ///
    /// What is hidden stays in the log. When a property comes back, its objects have their last values again.
    public var allowsModelDowngrade = false

    /// Reports the scans and rewrites of a migration, for tools.
    package var migrationProgress: ProgressHandler?

    /// Makes options, each with its default.
    public init(
        durability: PersistentStoreDurability = .full, isReadOnly: Bool = false, timeout: Duration = .seconds(30),
        migration: PersistentStoreMigration = .automatic, migrationRules: [MigrationRule] = [],
        requestBudget: RequestBudget = .standard, allowsModelDowngrade: Bool = false
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.timeout = timeout
        self.migration = migration
        self.migrationRules = migrationRules
        self.requestBudget = requestBudget
        self.allowsModelDowngrade = allowsModelDowngrade
    }

    var storeOptions: StoreOptions {
        var options = StoreOptions()
        options.durability =
            switch durability {
            case .full: .full
            case .relaxed: .relaxed
            case .disposable: .disposable
            }
        options.isReadOnly = isReadOnly
        options.writerLockTimeout = timeout
        if case .none = migration { options.migration.isAllowed = false }
        options.migration.values = migrationRules
        options.migration.progress = migrationProgress
        options.migration.allowsDowngrade = allowsModelDowngrade
        return options
    }
}
