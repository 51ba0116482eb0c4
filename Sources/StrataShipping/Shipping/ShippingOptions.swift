/// How a store is shipped to a target.
public struct ShippingOptions: Sendable, Hashable {
    /// How many snapshots the target keeps. What only an older snapshot needs is removed. Nil keeps everything, so that
    /// every transaction can be restored.
    public var keptSnapshots: Int?
    /// How many bytes of transactions come between two snapshots, at least. A snapshot saves a restore from replaying
    /// them. It is also not made before they are as many as the bytes of the last snapshot.
    public var snapshotInterval: Int
    /// How long transactions are gathered before they are shipped, when a store is followed.
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
