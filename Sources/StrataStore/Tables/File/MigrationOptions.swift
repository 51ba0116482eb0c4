import Foundation
package import StrataModel

/// Options for opening a store with a model that differs from its own.
package struct MigrationOptions: Sendable {
    /// Whether the store may be migrated at all.
    package var isAllowed = true
    /// Whether the store may go back to a model that it has left behind.
    package var allowsDowngrade = false
    /// Rules for values that the types alone do not determine.
    package var values: [MigrationRule] = []
    /// Recorded with the transaction that installs the model.
    package var metadata: [String: String] = [:]
    /// The key in the metadata for the name of the program that installs the model.
    package static let programKey = "strata.program"
    package var limits = MigrationLimits()
    /// Reports each scan and rewrite, and a rebuild that is finished at opening.
    package var progress: ProgressHandler?

    package init() {}

    /// `metadata`, with the name of the program.
    var recordedMetadata: [String: String] {
        metadata.merging([Self.programKey: ProcessInfo.processInfo.processName]) { given, _ in given }
    }

    /// Distinguishes sets of rules by the attributes that they are for; 0 for no rules. The low half of XXH64 over
    /// "Entity.property", sorted, each followed by a zero byte.
    var valuesDigest: UInt32 {
        let values = values.filter { !$0.deletesMisfits }
        if values.isEmpty { return 0 }
        let names = Set(values.map { "\($0.entityName).\($0.propertyName)" }).sorted()
        let bytes = Array((names.joined(separator: "\0") + "\0").utf8)
        return max(1, UInt32(truncatingIfNeeded: bytes.withUnsafeBytes { XXH64.hash($0) }))
    }
}

/// When a migration takes several commits, and how large they are.
package struct MigrationLimits: Sendable {
    /// Up to this many objects are migrated in one commit, so that no reader sees a state in between.
    package var objectsInOneCommit = 200_000
    /// Objects in each of several commits.
    package var objectsInStep = 20_000
    /// Bytes of events after which a step ends early.
    package var bytesInStep = 32 << 20

    package init() {}
}
