// The result of `verify`, with its problems and counts.

package import StrataModel

/// The thoroughness of `verify`.
package enum VerificationDepth: String, Sendable, Hashable {
    /// Header and head, every transaction and event with its checksum, the digest chain, and the counts.
    case quick
    /// Everything: also payload digests, object chains, rows, indexes, links and large values, whether replaying the
    /// log gives the same views, and whether events record the state before them as it was.
    case full
}

/// One problem.
package struct VerificationProblem: Sendable, Hashable, CustomStringConvertible {
    /// The kind of record that has the problem.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A page of the file, or how the pages hang together.
        case page
        /// The store's header or its head.
        case head
        /// An event that is missing, damaged or out of place.
        case event
        /// A payload that does not match the digest in its event's header.
        case payload
        /// A transaction record, or the chain of digests.
        case transaction
        /// An event that does not lead to the previous one on the same object or pair.
        case chain
        case row
        /// A row whose newest event differs from its revision.
        case revision
        case index
        case link
        case pair
        case count
        case tombstone
        case model
        case transactionID
        /// A large value's file, or the count of events that name it.
        case blob
        /// A view that differs from a replay of the log, or an event that records another state before it.
        case replay
        /// The counter of row numbers, which is not a view.
        case state
        /// A table that cannot be read to its end.
        case table
    }

    package let kind: Kind
    /// The record, such as `BowTie/p12` or `event 17`.
    package let location: String
    package let message: String

    /// One line.
    package var description: String { "\(kind.rawValue): \(location): \(message)" }
}

/// The result of `verify`.
package struct VerificationReport: Sendable {
    package let depth: VerificationDepth
    package let head: EventNumber
    package let transactionCount: Int
    package let eventCount: Int
    package let objectCount: Int
    /// The first problems, in the order in which they were found.
    package let problems: [VerificationProblem]
    /// The number of all problems.
    package let problemCount: Int
    /// The number of events that lost values in erasures.
    package let erasedEventCount: Int
    /// The erasures with their authors and reasons, oldest first.
    package let erasures: [VerifiedErasure]
    /// Whether an erasure is not finished, so that bytes of values may be left.
    package let hasUnfinishedErasure: Bool
    /// The number of events that lost values that later ones replace, in thinnings.
    package let thinnedEventCount: Int
    /// The thinnings with their entities, authors and reasons, oldest first.
    package let thinnings: [VerifiedThinning]
    /// Whether a thinning was interrupted, so that values up to its cut may be left.
    package let hasUnfinishedThinning: Bool
    /// The number of links that lead to objects of entities that have left the model, or that no longer have the
    /// relationship. Migrations of earlier versions left them, readers pass over them, and the next opening for writing
    /// removes them.
    package let goneLinkCount: Int
    /// The digest of every view; empty after a quick verification, or if a table could not be read.
    package let digests: [TableDigest]
    /// The declared views that were not compared, because types of an app make columns of them that this process does
    /// not have.
    package let uncheckedViews: [String]
    /// The part of the file that was read.
    package let read: VerifiedVolume
    package let duration: Duration

    package var isSound: Bool { problemCount == 0 }
}

/// An erasure that a verification has met.
package struct VerifiedErasure: Sendable, Hashable {
    /// The transaction that records it; nil once the history was truncated behind it.
    package let transaction: TransactionRecord?
    /// The objects or values that were erased.
    package let record: ErasureRecord
}

/// A thinning that a verification has met.
package struct VerifiedThinning: Sendable, Hashable {
    /// The transaction that records it; nil once the history was truncated behind it.
    package let transaction: TransactionRecord?
    /// The names of the entities.
    package let entities: [String]
    /// The last event up to which values were dropped.
    package let cut: EventNumber
}

/// The volume that a verification read.
package struct VerifiedVolume: Sendable, Hashable {
    /// Pages of the file.
    package var pageCount = 0
    /// The same in bytes.
    package var sizeInBytes = 0
    /// Entries of all tables.
    package var recordCount = 0
}

/// Collects problems.
struct ProblemList {
    /// Problems described in a report; further ones are only counted.
    private static let mostDescribed = 1000
    private(set) var described: [VerificationProblem] = []
    private(set) var count = 0

    mutating func note(_ kind: VerificationProblem.Kind, _ location: @autoclosure () -> String, _ message: String) {
        count += 1
        guard described.count < Self.mostDescribed else { return }
        described.append(VerificationProblem(kind: kind, location: location(), message: message))
    }

    /// Adds the error that ended a part of the verification.
    mutating func note(_ kind: VerificationProblem.Kind, _ part: String, _ error: any Error) {
        note(kind, part, (error as? StrataError)?.description ?? "\(error)")
    }

    /// Adds the problems of another list.
    mutating func append(_ others: ProblemList) {
        count += others.count
        described += others.described.prefix(max(0, Self.mostDescribed - described.count))
    }
}
