package import StrataModel

/// The result of a rebuild.
package struct RebuildReport: Sendable {
    /// One view before and after.
    package struct Comparison: Sendable, Hashable {
        package let before: Before
        package let after: TableDigest

        package var name: String { after.name }
        /// Whether both are the same, byte for byte.
        package var isEqual: Bool { before == .table(after) }
        /// Whether the view existed, and the rebuild changed it.
        package var isOther: Bool { before != .dropped && !isEqual }
    }

    /// A view as the rebuild found it.
    package enum Before: Sendable, Hashable {
        case table(TableDigest)
        /// Its pages are damaged.
        case unreadable
        /// An interrupted rebuild had dropped it.
        case dropped

        /// Nil where there was none to be made.
        package var digest: TableDigest? { if case .table(let digest) = self { digest } else { nil } }
    }

    package let head: EventNumber
    package let eventCount: Int
    package let transactionCount: Int
    package let tables: [Comparison]
    package let duration: Duration

    /// Whether every view that existed came out unchanged.
    package var isUnchanged: Bool { !tables.contains(where: \.isOther) }
    /// Whether this rebuild has continued an interrupted one.
    package var isContinued: Bool { tables.contains { $0.before == .dropped } }
}
