// Options for opening a store, as `StrataStore` uses them.

package import Foundation
package import StrataModel

/// The location of a store.
package enum StoreLocation: Sendable, Hashable {
    /// The store's own directory, such as `…/BowTies.strata`; created if it is missing.
    case directory(URL)
    /// A directory under the system's temporary one whose files are unlinked at once: it behaves like a store on disk,
    /// and leaves nothing behind however the process ends.
    case inMemory
}

/// The failures that a save survives once it has returned.
package enum StoreDurability: String, Sendable, Hashable, CaseIterable {
    /// Loss of power.
    case full
    /// A crash of the process. Loss of power may take the last commit, but leaves the file sound.
    case relaxed
    /// Loss of power. A save is synced in a journal beside the file, and once a second the file itself is.
    case journaled
    /// A crash of the process. Loss of power takes the store back to its last checkpoint, some seconds before; for copies
    /// of a shared log, which has the rest.
    case checkpointed
    /// The end of the process only; for stores that can be recreated.
    case disposable

    /// Whether the file itself is synced from time to time only.
    var hasCheckpoints: Bool { self == .checkpointed || self == .journaled }
}

/// The speed and interval at which all pages of a store are checked.
package struct StoreScrubbing: Sendable, Hashable {
    package var bytesPerSecond: Int
    /// The time from the end of one check of all pages to the beginning of the next.
    package var interval: Duration

    package init(bytesPerSecond: Int, interval: Duration) {
        self.bytesPerSecond = bytesPerSecond
        self.interval = interval
    }
}

/// The part of its history that a store keeps, and how often the rest is dropped.
package struct StoreRetention: Sendable, Hashable {
    /// The part that is kept. Tags, subscriptions and contexts of this process may hold more.
    package enum Kept: Sendable, Hashable {
        case everything
        /// The states of so long.
        case duration(Duration)
        /// The states after this number of the newest transactions.
        case transactions(Int)
        /// The part that a tag, a subscription or a context of this process needs.
        case held
    }

    package var kept: Kept
    /// The part of the history of some entities that is kept, by their names, where that is less.
    package var entities: [String: Kept]
    /// The time from the end of one truncation to the beginning of the next.
    package var interval: Duration

    package init(_ kept: Kept, entities: [String: Kept] = [:], interval: Duration = .seconds(60)) {
        self.kept = kept
        self.entities = entities.filter { $0.value != .everything }
        self.interval = interval
    }

    /// Whether anything is dropped.
    var dropsHistory: Bool { kept != .everything || !entities.isEmpty }
}

/// Options for opening a store.
package struct StoreOptions: Sendable {
    package var durability = StoreDurability.full
    /// With `checkpointed` durability, the time until a commit survives a power cut; with `journaled`, it bounds the
    /// work that is repeated after one.
    package var checkpointInterval = Duration.seconds(1)
    package var isReadOnly = false
    /// Whether no lock is taken, for reading only: the caller makes sure that no other process opens the store
    /// meanwhile.
    package var isAlone = false
    package var createsIfMissing = true
    /// The model from which the one to be installed was made. If the store has another one by then, opening throws
    /// `modelChanged`; nil installs it whatever the store has.
    package var replacedModel: ModelVersion?
    /// Whether the store takes over transactions of another one; saving throws `readOnly`. A standby can only be opened
    /// for writing with it.
    package var receivesOnly = false
    /// The time that a save waits for writers of other processes before it fails with `persistentStoreTimeout`.
    package var writerLockTimeout = Duration.seconds(30)
    /// The time for which a save that found newer saves twice may hold the exclusive turn while others wait.
    package var turnLimit = Duration.seconds(5)
    /// Address space for the map; nil is the default of the LMDB layer. It takes no disk space.
    package var mapSizeInBytes: Int?
    /// The source of commit times. A commit time is never before the previous one, whatever this returns.
    package var clock: @Sendable () -> Date = { Date() }
    /// The number of row numbers that are leased at a time.
    package var rowLeaseSize: UInt64 = 1 << 20
    /// Whether the store may be on a network or user-space file system.
    package var acceptsNetworkFileSystem = false
    /// Whether a store that other users may write to is accepted.
    package var acceptsSharedOwnership = false
    /// When changes of links and indexes wait in buffers.
    package var bufferLimits = BufferLimits()
    /// When events go into blocks.
    package var packing = PackingLimits()
    /// Whether damage that is met has the views rebuilt.
    package var mendsViews = false
    /// Gets the damage that a read, a save or a check of the pages meets, on the thread that meets it.
    package var damageHandler: (@Sendable (StrataError) -> Void)?
    /// Whether all pages are looked at in the background.
    package var scrubbing: StoreScrubbing?
    /// The part of the history that is kept; nil for all of it.
    package var retention: StoreRetention?
    /// Whether views that catch up are updated in the background or by hand.
    package var viewKeeping = ViewKeeping.background
    /// The limits of a step of a view that catches up.
    package var viewStepLimits = ViewStepLimits()
    /// Gets the name and the state of a view that catches up, after each step that this process makes.
    package var viewObserver: (@Sendable (String, ViewUpkeepState) -> Void)?
    /// The least number of events in a part of the past that many moments share; nil if each moment makes its own layers.
    /// With parts, a moment near another one that was read costs little, and every read of the past a little more.
    package var pastPartSize: UInt64?
    /// The steps that the store may take when the model differs from its own.
    package var migration = MigrationOptions()
    /// Gives the keys of encrypted attributes, the newest first; nil to open without keys. Asked once, when the store is
    /// opened, if it has such attributes.
    package var encryptionKeys: (@Sendable () throws -> [Data])?
    /// The keys of subjects; nil to open without.
    package var subjectKeys: SubjectKeySource?
    /// The log that the store shares with other machines; nil for one of its own.
    package var sharedLog: SharedLogConnection?
    /// The identity that a new store with a shared log takes from it; nil if the log has not answered.
    var identity: SharedLogIdentity?
    /// Whether the store begins with the snapshot in its shared log.
    var beginsWithSnapshot = false
    /// Whether views of the store stay that the model does not declare.
    package var keepsOwnViews = true

    package init() {}
}
