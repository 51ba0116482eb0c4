package import StrataModel

/// What may be done when a store is opened with another model than it has.
package struct MigrationOptions: Sendable {
    /// Whether the store may be brought to another model at all.
    package var isAllowed = true
    /// Values that the types do not say.
    package var values: [MigrationRule] = []
    /// Written with the transaction that installs the model.
    package var metadata: [String: String] = [:]
    package var limits = MigrationLimits()
    /// Told of every scan and rewrite, and of a rebuild that is finished.
    package var progress: ProgressHandler?

    package init() {}

    /// Tells sets of rules apart by the attributes they are for; 0 for none. Low half of XXH64 over "Entity.property",
    /// sorted, each followed by a zero byte.
    var valuesDigest: UInt32 {
        if values.isEmpty { return 0 }
        let names = Set(values.map { "\($0.entityName).\($0.propertyName)" }).sorted()
        let bytes = Array((names.joined(separator: "\0") + "\0").utf8)
        return max(1, UInt32(truncatingIfNeeded: bytes.withUnsafeBytes { XXH64.hash($0) }))
    }
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
