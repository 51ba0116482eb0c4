package import StrataModel

/// What may be done when a store is opened with another model than it has.
package struct MigrationOptions: Sendable {
    /// Whether the store may be brought to another model at all.
    package var isAllowed = true
    /// Values that the types do not say.
    package var values: [MigratedValue] = []
    /// Written with the transaction that installs the model.
    package var metadata: [String: String] = [:]
    package var limits = MigrationLimits()
    /// Told of every scan and rewrite.
    package var progress: ProgressHandler?

    package init() {}
}

/// When a migration goes in several commits, and how large these are.
package struct MigrationLimits: Sendable {
    /// With no more objects to look at than this it is one commit, and nobody sees anything in between.
    package var objectsInOneCommit = 200_000
    /// Objects in each commit when there are several.
    package var objectsInStep = 20_000
    /// Bytes of events after which a step ends early.
    package var bytesInStep = 32 << 20

    package init() {}
}
