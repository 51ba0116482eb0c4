import Foundation
import Locking

/// The thread on which a store receives transactions that others append to its shared log. `isRunning` is guarded by
/// `condition`.
final class ReceivingThread: @unchecked Sendable {
    private let condition = NSCondition()
    private var isRunning = false

    /// Calls `body` again and again until it returns false.
    func start(_ body: @escaping @Sendable () -> Bool) throws(BackgroundThread.Unavailable) {
        condition.withLock { isRunning = true }
        do {
            try BackgroundThread.start("strata.receive") { [self] in
                while body() {}
                end()
            }
        } catch {
            end()
            throw error
        }
    }

    private func end() {
        condition.withLock {
            isRunning = false
            condition.broadcast()
        }
    }

    func waitUntilEnded() {
        condition.withLock { while isRunning { condition.wait() } }
    }
}
