// Makes the checkpoints of a store in the background.

import LMDB
import Locking
import Logging

extension RepeatedWork {
    /// Makes the checkpoints of a store whose commits are not synced; nil for other stores.
    ///
    /// - Throws: `BackgroundThread.Unavailable`.
    static func checkpoints(of file: StoreFile) throws(BackgroundThread.Unavailable) -> RepeatedWork? {
        guard file.options.durability.hasCheckpoints, !file.options.isReadOnly else { return nil }
        let work = try RepeatedWork("strata.sync", interval: file.options.checkpointInterval) { _ in
            do throws(LMDBError) {
                try file.environment.keepCheckpoints()
            } catch {
                if error.code == .closed { return .end }
                StoreLogger.shared.warning("no checkpoint of \(file.path) could be made: \(error)")
            }
            return .again
        }
        file.environment.heldPages.onMany { [weak work] in work?.wake() }
        return work
    }
}
