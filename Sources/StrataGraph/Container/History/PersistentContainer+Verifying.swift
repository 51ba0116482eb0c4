public import Foundation
import StrataModel
import StrataStore

// Checks and copies of a store: verifying it, rebuilding its views from the log, and backups.

/// The result of verifying a store.
public struct StoreVerification: Sendable, Hashable {
    /// The number of events in the log.
    public let eventCount: Int
    /// The number of transactions in the log.
    public let transactionCount: Int
    /// The number of objects in the store.
    public let objectCount: Int
    /// The first problems, one line each.
    public let problems: [String]
    /// The number of all problems, of which `problems` lists the first.
    public let problemCount: Int
    /// The declared views that were not compared with the log, because types make columns of them that this process
    /// does not have (``ViewProjection``).
    public let uncheckedViews: [String]
    /// The time that it took.
    public let duration: Duration

    /// Whether no problem was found.
    public var isSound: Bool { problemCount == 0 }
}

/// The result of rebuilding a store's views from its log.
public struct StoreRebuild: Sendable, Hashable {
    /// One view before and after the rebuild. Digests are SHA-256 over its records, in hexadecimal.
    public struct View: Sendable, Hashable {
        /// The name of the table.
        public let name: String
        /// The number of its records after the rebuild.
        public let entryCount: Int
        /// The digest before the rebuild; nil if the view could not be read, or an interrupted rebuild had dropped it.
        public let digestBefore: String?
        /// The digest after the rebuild.
        public let digestAfter: String

        /// Whether the view existed before and the rebuild did not change it.
        public var isEqual: Bool { digestBefore == digestAfter }
    }

    /// The number of events that were applied.
    public let eventCount: Int
    /// Every view that was rebuilt.
    public let views: [View]
    /// The time that it took.
    public let duration: Duration

    /// Whether every view has the same bytes as before.
    public var isUnchanged: Bool { views.allSatisfy(\.isEqual) }
}

/// The result of a look at every page of a store.
public struct StoreScrub: Sendable, Hashable {
    /// The number of pages in use that were read.
    public let pageCount: Int
    /// Whether the pages have checksums. Those of a store that an older version wrote have none until the next save; then
    /// only the structure was looked at.
    public let hasChecksums: Bool
    /// The damaged pages, one line each.
    public let problems: [String]
    /// The time that it took.
    public let duration: Duration

    /// Whether no page is damaged.
    public var isSound: Bool { problems.isEmpty }
}

/// The thoroughness of a verification.
public enum StoreVerificationDepth: Sendable, Hashable {
    /// Checks the checksums and the digest chain of the log, and the counts of objects.
    case quick
    /// Checks everything, and replays the log to compare the result with the views, and what events record of the state
    /// before them with that state.
    case full
}

extension PersistentContainer {
    /// Checks the store against its log, without writing to it. Saves go on meanwhile.
    ///
    /// A full verification needs space for a second set of views in the system's temporary directory.
    ///
    /// - Throws: `noSpace`, `storeClosed`. Damage is a problem in the result, not an error.
    public func verify(_ depth: StoreVerificationDepth = .full) throws -> StoreVerification {
        let report = try store.verify(depth == .full ? .full : .quick)
        return StoreVerification(
            eventCount: report.eventCount, transactionCount: report.transactionCount,
            objectCount: report.objectCount, problems: report.problems.map(\.description),
            problemCount: report.problemCount, uncheckedViews: report.uncheckedViews, duration: report.duration)
    }

    /// Reads every page of the store's file once and compares it with its checksum. Reads and saves go on meanwhile.
    ///
    /// It finds every damaged page, whether or not an app reads it. It does not look at what pages say, as `verify`
    /// does. Damage is also logged, and given to `PersistentStoreOptions.damageHandler`.
    ///
    /// - Parameter megabytesPerSecond: how much to read in a second at most, in millions of bytes; nil for as much as the
    ///   disk gives.
    /// - Throws: `storeClosed`; `CancellationError` where the task that calls it is cancelled. Damage is a problem in the
    ///   result, not an error.
    public func scrub(megabytesPerSecond: Double? = nil) throws -> StoreScrub {
        let report = try store.scrub(pace: megabytesPerSecond.map(Self.bytesPerSecond)) { !Task.isCancelled }
        return StoreScrub(
            pageCount: report.pageCount, hasChecksums: report.hasSums,
            problems: report.problems.map(\.description), duration: report.duration)
    }

    /// At least a page's worth.
    static func bytesPerSecond(_ megabytes: Double) -> Int { Int(max(4096, min(megabytes * 1e6, 1e15))) }

    /// Drops every view and makes it again from the log. Saves wait until it is finished.
    ///
    /// - Throws: `corrupt` when the log is damaged, `readOnly`, `noSpace`.
    public func rebuildViews() throws -> StoreRebuild {
        let report = try store.rebuild()
        return StoreRebuild(
            eventCount: report.eventCount,
            views: report.tables.map {
                StoreRebuild.View(
                    name: $0.name, entryCount: $0.after.entryCount, digestBefore: $0.before.digest?.text,
                    digestAfter: $0.after.text)
            }, duration: report.duration)
    }

    /// Copies the store, with its large values, to a new directory, and verifies the copy. The store stays in use.
    ///
    /// Verifying needs space for a second set of views in the system's temporary directory.
    ///
    /// - Throws: `persistentStoreOpen` for a directory with files in it, `invalidRequest` for one in the store's own,
    ///   `corrupt` when the copy has problems, `noSpace`, `storeClosed`.
    public func backup(to directory: URL) throws { try store.backup(to: directory) }
}
