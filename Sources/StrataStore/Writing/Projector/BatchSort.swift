import Foundation
import Locking

/// Puts the lists of a large batch into the order of their keys, one after the other, on a thread of its own, while the
/// writer's thread writes those that are in order already.
///
/// `lists` and `sortedCount` are guarded by `condition`. A list is sorted outside the lock, when nobody else has it; the
/// bytes of the keys, which are the batch's, stay where they are until `finish`.
final class BatchSort: @unchecked Sendable {
    /// Fewer operations are sorted about as soon as a thread begins.
    static let fewest = 4096
    private let condition = NSCondition()
    private var lists: [[WriteBatch.Operation]]
    private var sortedCount = 0
    private let keys: UnsafeRawPointer

    /// - Parameters:
    ///   - lists: in the order in which they will be taken.
    ///   - keys: what the offsets of the operations count from.
    init(_ lists: consuming [[WriteBatch.Operation]], keys: UnsafeRawPointer) {
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
        for place in lists.indices {
            var list: [WriteBatch.Operation] = []
            condition.withLock { swap(&list, &lists[place]) }
            list.withUnsafeMutableBufferPointer { KeySort($0, keys: keys, &scratch).run() }
            condition.withLock {
                swap(&list, &lists[place])
                sortedCount += 1
                condition.broadcast()
            }
        }
    }

    /// Waits until the list is in order, and gives it away.
    func take(_ place: Int) -> [WriteBatch.Operation] {
        condition.withLock {
            while sortedCount <= place { condition.wait() }
            var list: [WriteBatch.Operation] = []
            swap(&list, &lists[place])
            return list
        }
    }

    /// Waits until nothing is read any more.
    func finish() {
        condition.withLock {
            while sortedCount < lists.count { condition.wait() }
        }
    }
}
