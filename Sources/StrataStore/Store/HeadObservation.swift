import Foundation
import Locking
import Logging
package import StrataModel

/// Hears of every move of the log's end until it is cancelled or let go; see `Store.observeHead`.
package final class HeadObservation: Sendable {
    fileprivate let handler: @Sendable (EventNumber) -> Void
    fileprivate let onClose: @Sendable () -> Void
    private let remove: @Sendable () -> Void

    fileprivate init(
        _ handler: @escaping @Sendable (EventNumber) -> Void, onClose: @escaping @Sendable () -> Void,
        remove: @escaping @Sendable () -> Void
    ) {
        self.handler = handler
        self.onClose = onClose
        self.remove = remove
    }

    deinit { remove() }

    package func cancel() { remove() }
}

/// Watches the end of the log for those who want to know that it moved, in this process or another.
///
/// One thread looks after each save of this process, and every 20th of a second for those of others: a look is a
/// renewed read transaction, about a microsecond. It lives as long as somebody observes. All variables are guarded by
/// `condition`.
final class HeadFeed: @unchecked Sendable {
    private struct Entry {
        let number: UInt64
        weak var observation: HeadObservation?
        /// The head that the observer knows.
        var known: EventNumber
    }

    /// Between two looks for the saves of other processes.
    static let interval = 0.05

    private let condition = NSCondition()
    private var entries: [Entry] = []
    private var nextNumber: UInt64 = 0
    private var isRunning = false
    private var isStopped = false
    private var hasNews = false

    /// - Parameter read: the end of the log; nil once there is nothing to read any more.
    func observe(
        _ handler: @escaping @Sendable (EventNumber) -> Void, onClose: @escaping @Sendable () -> Void,
        from start: EventNumber, read: @escaping @Sendable () -> EventNumber?
    ) throws(BackgroundThread.Unavailable) -> HeadObservation {
        condition.lock()
        defer { condition.unlock() }
        if !isRunning, !isStopped {
            // It waits for the lock before it looks who observes.
            try BackgroundThread.start("strata.head") { [self] in run(read) }
            isRunning = true
        }
        let number = nextNumber
        nextNumber += 1
        let observation = HeadObservation(handler, onClose: onClose) { [weak self] in self?.remove(number) }
        entries.append(Entry(number: number, observation: observation, known: start))
        // The head may have moved since the observer looked.
        hasNews = true
        return observation
    }

    private func remove(_ number: UInt64) {
        condition.lock()
        entries.removeAll { $0.number == number }
        condition.broadcast()
        condition.unlock()
    }

    /// Says that this process has committed.
    func notify() {
        condition.lock()
        hasNews = true
        condition.broadcast()
        condition.unlock()
    }

    func stop() {
        condition.lock()
        isStopped = true
        condition.broadcast()
        condition.unlock()
    }

    private func run(_ read: () -> EventNumber?) {
        while waitForWork() {
            guard let head = read() else {
                stop()
                break
            }
            for observation in observations(knowingLess: head) { observation.handler(head) }
        }
        for observation in closedObservations() { observation.onClose() }
    }

    /// Those who are to hear that the store is closed, once.
    private func closedObservations() -> [HeadObservation] {
        condition.lock()
        defer { condition.unlock() }
        guard isStopped else { return [] }
        defer { entries = [] }
        return entries.compactMap(\.observation)
    }

    private func observations(knowingLess head: EventNumber) -> [HeadObservation] {
        condition.lock()
        defer { condition.unlock() }
        var found: [HeadObservation] = []
        for index in entries.indices where entries[index].known < head {
            entries[index].known = head
            if let observation = entries[index].observation { found.append(observation) }
        }
        return found
    }

    /// - Returns: false when nobody observes any more, or the store is closed.
    private func waitForWork() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: Self.interval)
        while !hasNews, !isStopped, !entries.isEmpty {
            if !condition.wait(until: deadline) { break }
        }
        hasNews = false
        let goesOn = !isStopped && !entries.isEmpty
        // Said under the lock in which the next observer looks whether there is a thread.
        if !goesOn { isRunning = false }
        return goesOn
    }
}

extension Store {
    /// Calls `handler` with the end of the log each time it has moved, on a thread of its own: at once after saves of
    /// this process, within a 20th of a second after those of others. Several moves may come as one.
    ///
    /// - Parameter onClose: called once when the store is closed.
    /// - Returns: what must be kept; without it the calls end.
    package func observeHead(
        onClose: @escaping @Sendable () -> Void = {}, _ handler: @escaping @Sendable (EventNumber) -> Void
    ) throws -> HeadObservation {
        let start = try head()
        do {
            return try feed.observe(handler, onClose: onClose, from: start) { [weak self] in
                do { return try self?.head() } catch {
                    StoreLog.logger.debug("the end of the log cannot be read any more: \(error)")
                    return nil
                }
            }
        } catch {
            throw core.publicError(error, during: "beginning to observe the store")
        }
    }
}
