package import StrataModel

/// The result of a rebuild.
package struct RebuildReport: Sendable {
    /// One view before and after.
    package struct Comparison: Sendable, Hashable {
        /// Nil if an interrupted rebuild had dropped it before.
        package let before: TableDigest?
        package let after: TableDigest

        package var name: String { after.name }
        /// Whether both are the same, byte for byte.
        package var isEqual: Bool { before == after }
        /// Whether the view existed, and the rebuild changed it.
        package var isOther: Bool { before != nil && before != after }
    }

    package let head: EventNumber
    package let eventCount: Int
    package let transactionCount: Int
    package let tables: [Comparison]
    package let duration: Duration

    /// Whether every view that existed came out unchanged.
    package var isUnchanged: Bool { !tables.contains(where: \.isOther) }
    /// Whether this rebuild has continued an interrupted one.
    package var isContinued: Bool { tables.contains { $0.before == nil } }
}
