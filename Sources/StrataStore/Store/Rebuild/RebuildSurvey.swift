import Foundation
import LMDB
import Locking
import StrataModel

/// What a rebuild must know of the store as it was before: that its log is sound, and what its views held. It reads that
/// on a thread of its own, in a read transaction, while the writer's thread makes the new views, which are committed only
/// when it is done.
///
/// `result` is guarded by `condition`.
final class RebuildSurvey: @unchecked Sendable {
    private let condition = NSCondition()
    private var result: Result<[TableDigest], any Error>?

    /// What is read besides the log.
    enum Scope: Sendable {
        case log
        case logAndViews
    }

    /// Begins at once. Nobody may write meanwhile but the caller.
    init(
        of scope: Scope, _ core: StoreCore, _ blobs: BlobStore, _ progress: ProgressHandler?
    ) {
        let read: @Sendable () -> Void = { [self] in
            let result = Result { try Self.read(scope, core, blobs, progress) }
            condition.withLock {
                self.result = result
                condition.broadcast()
            }
        }
        do {
            try BackgroundThread.start("strata.survey", read)
        } catch {
            // Then one after the other.
            read()
        }
    }

    /// Waits for the end.
    ///
    /// - Returns: what the views held, where that was asked for.
    /// - Throws: `corrupt` when the log is damaged.
    @discardableResult
    func finish() throws -> [TableDigest] {
        try condition.withLock {
            while true {
                if let result { return try result.get() }
                condition.wait()
            }
        }
    }

    private static func read(
        _ scope: Scope, _ core: StoreCore, _ blobs: BlobStore, _ progress: ProgressHandler?
    ) throws -> [TableDigest] {
        try core.environment.read { transaction in
            let problems = Verifier(core, blobs, transaction, .quick, progress).checkLogAlone()
            guard let first = problems.first else {
                return scope == .log ? [] : try TableDigest.all(core.tables, transaction)
            }
            throw StrataError(
                .corrupt, "The log is damaged, and the views may know what it has lost: nothing was dropped. \(first)",
                context: .init(path: core.path))
        }
    }
}
