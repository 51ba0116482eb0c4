// Options for opening a store: location, durability, checks, migration, history and limits.

public import Foundation
public import StrataModel
package import StrataStore

/// The location of a container's store.
public enum PersistentStoreLocation: Sendable, Hashable {
    /// The directory `<name>.strata` in `PersistentContainer.defaultDirectoryURL(for:)`.
    case defaultDirectory
    /// A directory for the store alone.
    case url(URL)
    /// A store that is gone when it is closed or the process ends, and behaves like one on disk until then.
    case inMemory
}

/// The failures that a finished save survives.
public enum PersistentStoreDurability: Sendable, Hashable, CaseIterable {
    /// A save survives power loss.
    case full
    /// A save survives power loss, as with `full`. It is synced in a journal beside the store's file, which takes one short
    /// sync instead of two long ones, and once a second the file itself is. The first container with it makes the journal;
    /// from then on every process keeps it, also with `full`. After power loss, open the store where it lies before you
    /// copy its files.
    case journaled
    /// Power loss may undo the last commit, which saves of several contexts may share; the store stays consistent.
    case relaxed
    /// A save survives the end of the process. Power loss may destroy the store, which is to be removed then.
    case disposable
}

/// The response to damage that a read or a save meets, besides the error that the caller gets.
public enum DamageResponse: Sendable, Hashable, CaseIterable {
    /// Nothing.
    case report
    /// The views are rebuilt from the log in the background, if the log is sound. A rebuild that changes nothing or fails
    /// is not tried again before the store is closed. Saves wait for a rebuild; reads of a store with more than 200,000
    /// events throw `persistentStoreTimeout` until it has ended.
    case rebuildViews
}

/// The speed and interval at which all pages of a store are read in the background, to find damage early.
public struct PersistentStoreScrubbing: Sendable, Hashable {
    /// The most that is read in a second, in millions of bytes.
    public var megabytesPerSecond: Double
    /// The time from the end of one look at all pages to the beginning of the next.
    public var interval: Duration

    /// Makes a pace; by default 4 million bytes a second, once a day.
    public init(megabytesPerSecond: Double = 4, interval: Duration = .seconds(24 * 60 * 60)) {
        self.megabytesPerSecond = megabytesPerSecond
        self.interval = interval
    }
}

/// Options for opening a store.
public struct PersistentStoreOptions: Sendable {
    /// The failures that a finished save survives.
    public var durability = PersistentStoreDurability.full
    /// Whether saving throws `readOnly`. A missing store is not made, and one with another model is not migrated:
    /// loading throws `persistentStoreOpen` or `persistentStoreIncompatibleVersionHash`.
    public var isReadOnly = false
    /// The time that a save waits for writers of other processes before it throws `persistentStoreTimeout`.
    public var timeout = Duration.seconds(30)
    /// The way in which loading migrates a store that has another model.
    public var migration = PersistentStoreMigration.automatic
    /// Rules by which a migration computes values: conversions and defaults.
    public var migrationRules: [MigrationRule] = []
    /// The work and memory allowed to a request that has no budget of its own.
    public var requestBudget = RequestBudget.standard
    /// Whether a store that has moved on to a newer model may go back to the container's older one. Otherwise loading
    /// throws `modelDowngrade`, which names what going back would hide.
    ///
    /// Hidden values stay in the log. When a property comes back, its objects have their last values again.
    public var allowsModelDowngrade = false

    /// The response to damage that a read or a save meets.
    public var onDamage = DamageResponse.report
    /// Gets each error of damage that a read, a save or a check of the pages meets, on the thread that meets it.
    public var damageHandler: (@Sendable (StrataError) -> Void)?
    /// Has all pages read in the background, again and again; nil for never.
    public var scrubbing: PersistentStoreScrubbing?

    /// The part of the history that is kept. The rest is truncated in the background: when the store is opened, and
    /// every minute as long as it is open.
    public var historyRetention = HistoryRetention.everything

    /// The keys of encrypted attributes. Without them everything else can be read and saved.
    public var encryption: StoreEncryption?

    /// The log that the store shares with stores on other machines; nil for a log of its own.
    ///
    /// The store is then a copy of the log with its views, and can be made again from it at any time. A save is
    /// acknowledged when the log has it.
    public var log: PersistentStoreLog?

    /// Gets each save, fetch and read of faults with its duration, and the progress of views that catch up. Without an
    /// observer nothing is timed.
    public var observer: (any ContainerObserver)?

    /// Reports the scans and rewrites of a migration, for tools.
    package var migrationProgress: ProgressHandler?

    /// Makes options, each with its default.
    public init(
        durability: PersistentStoreDurability = .full, isReadOnly: Bool = false, timeout: Duration = .seconds(30),
        migration: PersistentStoreMigration = .automatic, migrationRules: [MigrationRule] = [],
        requestBudget: RequestBudget = .standard, allowsModelDowngrade: Bool = false, log: PersistentStoreLog? = nil
    ) {
        self.log = log
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
            case .journaled: .journaled
            case .relaxed: .relaxed
            case .disposable: .disposable
            }
        options.isReadOnly = isReadOnly
        options.writerLockTimeout = timeout
        if case .none = migration { options.migration.isAllowed = false }
        options.migration.values = migrationRules
        options.migration.progress = migrationProgress
        options.migration.allowsDowngrade = allowsModelDowngrade
        options.sharedLog = log?.connection
        options.encryptionKeys = encryption?.keys
        options.subjectKeys = encryption?.subjectKeys?.source
        options.mendsViews = onDamage == .rebuildViews
        options.damageHandler = damageHandler
        if let observer { options.viewObserver = { observer.viewMoved(ViewMeasurement($0, $1)) } }
        if historyRetention != .everything { options.retention = historyRetention.store }
        options.scrubbing = scrubbing.map {
            StoreScrubbing(
                bytesPerSecond: PersistentContainer.bytesPerSecond($0.megabytesPerSecond), interval: $0.interval)
        }
        return options
    }
}
