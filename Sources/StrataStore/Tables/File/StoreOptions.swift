package import Foundation

/// Where a store lives.
package enum StoreLocation: Sendable, Hashable {
    /// The store's own directory, such as `…/BowTies.strata`; made when it is missing.
    case directory(URL)
    /// A directory under the system's temporary one whose files lose their names at once: the same semantics as on
    /// disk, and nothing left behind however the process ends.
    case inMemory
}

/// What a returned save survives.
package enum StoreDurability: String, Sendable, Hashable, CaseIterable {
    /// Power loss.
    case full
    /// Power loss may take the last saves; the file stays sound.
    case relaxed
    /// The end of the process only; for stores that may be thrown away.
    case disposable
}

/// How a store is opened.
package struct StoreOptions: Sendable {
    package var durability = StoreDurability.full
    package var isReadOnly = false
    package var createsIfMissing = true
    /// How long a save waits for writers of other processes before `persistentStoreTimeout`.
    package var writerLockTimeout = Duration.seconds(30)
    /// How long a save that others kept overtaking may hold the turn while they wait.
    package var turnLimit = Duration.seconds(5)
    /// Address space for the map; nil is LMDB's layer's default. It costs no disk.
    package var mapSizeInBytes: Int?
    /// Where commit times come from; they never go back whatever it says.
    package var clock: @Sendable () -> Date = { Date() }
    /// Row numbers taken at a time.
    package var rowLeaseSize: UInt64 = 1 << 20
    /// Whether a network or user-space file system is accepted.
    package var acceptsNetworkFileSystem = false
    /// Whether a store that others may write to is accepted.
    package var acceptsSharedOwnership = false
    /// When entries of links and indexes gather before they go where they belong.
    package var bufferLimits = BufferLimits()
    /// What may be done when the model is another than the store's.
    package var migration = MigrationOptions()

    package init() {}
}
