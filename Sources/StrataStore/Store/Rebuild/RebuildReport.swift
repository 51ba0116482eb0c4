package import StrataModel

/// What a rebuild did.
package struct RebuildReport: Sendable {
    /// One view table before and after.
    package struct Comparison: Sendable, Hashable {
        /// nil when an earlier rebuild, which was cut short, had dropped it already.
        package let before: TableDigest?
        package let after: TableDigest

        package var name: String { after.name }
        /// Byte for byte the same as before.
        package var isEqual: Bool { before == after }
        /// Whether it was there before and came out otherwise: what had been dropped was as sound as anything.
        package var isOther: Bool { before != nil && before != after }
    }

    package let head: EventNumber
    package let eventCount: Int
    package let transactionCount: Int
    package let tables: [Comparison]
    package let duration: Duration

    /// Whether every view that was there came out as it had been.
    package var isUnchanged: Bool { !tables.contains(where: \.isOther) }
    /// Whether an earlier rebuild had begun it.
    package var isContinued: Bool { tables.contains { $0.before == nil } }
}
