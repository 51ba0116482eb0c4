import Foundation
import Locking

/// Sorts the collected writes of a large `WriteBatch` on a second thread, one table's list after another, while the
/// writer's thread writes the lists that are ready.
///
/// `lists` and `sortedCount` are guarded by `condition`. A list is sorted outside the lock, while no other thread uses
/// it. The bytes of the keys belong to the batch and stay in place until `finish`.
final class BatchSort: @unchecked Sendable {
    /// Fewer writes are sorted about as soon as a thread starts.
    static let fewest = 4096
    private let condition = NSCondition()
    private var lists: [[WriteBatch.PendingWrite]]
    private var sortedCount = 0
    private let keys: UnsafeRawPointer

    /// - Parameters:
    ///   - lists: in the order in which they will be taken.
    ///   - keys: the base of the offsets in the lists.
    init(_ lists: consuming [[WriteBatch.PendingWrite]], keys: UnsafeRawPointer) {
        self.lists = lists
        self.keys = keys
    }

    func begin() {
        do {
            try BackgroundThread.start("strata.sort") { [self] in sortAll() }
        } catch {
            sortAll()
        }
    }

    private func sortAll() {
        var scratch = KeySort.Scratch()
        for index in lists.indices {
            var list: [WriteBatch.PendingWrite] = []
            condition.withLock { swap(&list, &lists[index]) }
            list.withUnsafeMutableBufferPointer { KeySort($0, keys: keys, &scratch).run() }
            condition.withLock {
                swap(&list, &lists[index])
                sortedCount += 1
                condition.broadcast()
            }
        }
    }

    /// Waits until the list is sorted, and returns it.
    func take(_ index: Int) -> [WriteBatch.PendingWrite] {
        condition.withLock {
            while sortedCount <= index { condition.wait() }
            var list: [WriteBatch.PendingWrite] = []
            swap(&list, &lists[index])
            return list
        }
    }

    /// Waits until the thread has stopped reading keys.
    func finish() {
        condition.withLock {
            while sortedCount < lists.count { condition.wait() }
        }
    }
}
