import Foundation
import LMDB
import Locking
import StrataModel

/// Checks the log, and digests the old views, while a rebuild makes the new ones.
///
/// It reads in a transaction of its own, on a thread of its own. The writer's thread commits the new views only when it
/// is done. `result` is guarded by `condition`.
final class RebuildSurvey: @unchecked Sendable {
    private let condition = NSCondition()
    private var result: Result<[TableDigest], any Error>?

    /// The parts of the file that are read.
    enum Scope: Sendable {
        case log
        /// The views without the records of some declared ones.
        case logAndViews(without: Set<ViewID>)
    }

    /// Starts at once. Until it ends only the caller may write.
    init(
        of scope: Scope, _ file: StoreFile, _ blobs: BlobStore, _ progress: ProgressHandler?
    ) {
        let read: @Sendable () -> Void = { [self] in
            let result = Result { try Self.read(scope, file, blobs, progress) }
            condition.withLock {
                self.result = result
                condition.broadcast()
            }
        }
        do {
            try BackgroundThread.start("strata.survey", read)
        } catch {
            // Without a thread the survey runs first.
            read()
        }
    }

    /// Waits for the end.
    ///
    /// - Returns: the digests of the old views that can be read, if `scope` asked for them.
    /// - Throws: `corrupt` if the log is damaged.
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
        _ scope: Scope, _ file: StoreFile, _ blobs: BlobStore, _ progress: ProgressHandler?
    ) throws -> [TableDigest] {
        let problems = try file.environment.read { transaction in
            Verifier(file, blobs, transaction, .quick, progress).checkLogAlone()
        }
        guard let first = problems.first else {
            guard case .logAndViews(let apart) = scope else { return [] }
            return try TableDigest.readable(in: file, without: apart)
        }
        throw StrataError(
            .corrupt,
            "The log is damaged, and the views may still hold what it has lost, so nothing was dropped. "
                + "\(first)",
            context: .init(path: file.path))
    }
}
