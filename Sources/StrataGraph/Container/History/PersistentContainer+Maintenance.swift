public import Foundation
import StrataModel
import StrataStore

/// What `verify` found.
public struct StoreVerification: Sendable, Hashable {
    public let eventCount: Int
    public let transactionCount: Int
    public let objectCount: Int
    /// One line each; the first of them when there are very many.
    public let problems: [String]
    /// All of them.
    public let problemCount: Int
    /// Seconds it took.
    public let duration: Duration

    public var isSound: Bool { problemCount == 0 }
}

/// What a rebuild of the views did.
public struct StoreRebuild: Sendable, Hashable {
    /// One view before and after, as SHA-256 over its records in hexadecimal.
    public struct View: Sendable, Hashable {
        public let name: String
        public let entryCount: Int
        /// nil when an earlier rebuild that was cut short had dropped it.
        public let digestBefore: String?
        public let digestAfter: String

        public var isEqual: Bool { digestBefore == digestAfter }
    }

    public let eventCount: Int
    public let views: [View]
    public let duration: Duration

    /// Whether every view came out byte for byte as it was.
    public var isUnchanged: Bool { views.allSatisfy(\.isEqual) }
}

/// How much `verify` looks at.
public enum StoreVerificationDepth: Sendable, Hashable {
    /// Checksums of the log, its digest chain, and the counts.
    case quick
    /// Everything, ending with a replay of the log beside the live views.
    case full
}

extension PersistentContainer {
    /// Checks the store against its log; changes nothing and needs no free space in it.
    public func verify(_ depth: StoreVerificationDepth = .full) throws -> StoreVerification {
        let report = try store.verify(depth == .full ? .full : .quick)
        return StoreVerification(
            eventCount: report.eventCount, transactionCount: report.transactionCount,
            objectCount: report.objectCount, problems: report.problems.map(\.description),
            problemCount: report.problemCount, duration: report.duration)
    }

    /// Drops every view and makes it again from the log. Saves wait until it is done.
    public func rebuildViews() throws -> StoreRebuild {
        let report = try store.rebuild()
        return StoreRebuild(
            eventCount: report.eventCount,
            views: report.tables.map {
                StoreRebuild.View(
                    name: $0.name, entryCount: $0.after.entryCount, digestBefore: $0.before?.text,
                    digestAfter: $0.after.text)
            }, duration: report.duration)
    }

    /// Copies the store, with its large values, to a new directory while it stays in use, and verifies the copy.
    public func backup(to directory: URL) throws { try store.backup(to: directory) }
}
