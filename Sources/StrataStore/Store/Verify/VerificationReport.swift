package import StrataModel

/// How much `verify` looks at.
package enum VerificationDepth: String, Sendable, Hashable {
    /// Header and head, every transaction and event with its checksum, the digest chain, and the counts.
    case quick
    /// Everything: also payload digests, object chains, rows, indexes, links, blobs, and whether replaying the log gives
    /// the views that are there.
    case full
}

/// One thing that is not as it should be.
package struct VerificationProblem: Sendable, Hashable, CustomStringConvertible {
    /// What kind of record it concerns.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The store's header or its head.
        case head
        /// An event: missing, damaged, out of place.
        case event
        /// A payload that is not what its event's header says.
        case payload
        /// A transaction record, or the chain of digests.
        case transaction
        /// An event that does not lead to the one before it on the same object or pair.
        case chain
        case row
        /// A row whose newest event is another than it says.
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
        /// A view that is not what replaying the log gives.
        case replay
        /// The counter of row numbers, which is no view.
        case state
        /// A table that cannot be read through.
        case table
    }

    package let kind: Kind
    /// The record, such as `BowTie/p12` or `event 17`.
    package let place: String
    package let message: String

    /// One line.
    package var description: String { "\(kind.rawValue): \(place): \(message)" }
}

/// What `verify` found.
package struct VerificationReport: Sendable {
    package let depth: VerificationDepth
    package let head: EventNumber
    package let transactionCount: Int
    package let eventCount: Int
    package let objectCount: Int
    /// The first of them, in the order in which they were found.
    package let problems: [VerificationProblem]
    /// All of them.
    package let problemCount: Int
    /// Every view's digest; empty when only a quick look was taken, or a table could not be read.
    package let digests: [TableDigest]
    package let duration: Duration

    package var isSound: Bool { problemCount == 0 }
}

/// Problems as they are found.
struct ProblemList {
    /// Problems described in a report; more are only counted.
    private static let mostDescribed = 1000
    private(set) var described: [VerificationProblem] = []
    private(set) var count = 0

    mutating func note(_ kind: VerificationProblem.Kind, _ place: @autoclosure () -> String, _ message: String) {
        count += 1
        guard described.count < Self.mostDescribed else { return }
        described.append(VerificationProblem(kind: kind, place: place(), message: message))
    }

    /// Notes what ended a part of the verification.
    mutating func note(_ kind: VerificationProblem.Kind, _ part: String, _ error: any Error) {
        note(kind, part, (error as? StrataError)?.description ?? "\(error)")
    }

    /// Adds those that another has found.
    mutating func append(_ others: ProblemList) {
        count += others.count
        described += others.described.prefix(max(0, Self.mostDescribed - described.count))
    }
}
