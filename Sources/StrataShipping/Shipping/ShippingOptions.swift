/// Options for shipping a store to a target.
public struct ShippingOptions: Sendable, Hashable {
    /// The number of snapshots that the target keeps. Files that only an older snapshot needs are removed. Nil keeps
    /// everything, so that every transaction can be restored.
    public var keptSnapshots: Int?
    /// The least number of bytes of transactions between two snapshots. A snapshot saves a restore from replaying them.
    /// It is also not made before they are as many as the bytes of the last snapshot.
    public var snapshotInterval: Int
    /// The time for which transactions are gathered before they are shipped, when a store is followed.
    public var gathering: Duration

    /// Makes options, each with its default: everything is kept, 256 MB between snapshots, a quarter of a second.
    public init(
        keptSnapshots: Int? = nil, snapshotInterval: Int = 256_000_000, gathering: Duration = .milliseconds(250)
    ) {
        self.keptSnapshots = keptSnapshots
        self.snapshotInterval = snapshotInterval
        self.gathering = gathering
    }
}
