import Foundation
import Locking
import Logging
package import StrataModel

/// Reports every move of the end of the log, until it is cancelled or released; see `Store.observeHead`.
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

/// Watches the end of the log for observers, for commits of this process and of others.
///
/// One thread looks after each commit of this process, and every 20th of a second for those of others. A look renews a
/// read transaction, which takes about a microsecond. The thread lives as long as there are observers. All variables
/// are guarded by `condition`.
final class HeadFeed: @unchecked Sendable {
    private struct Entry {
        let number: UInt64
        weak var observation: HeadObservation?
        /// The last head that was reported to the observer.
        var known: EventNumber
    }

    /// Seconds between two looks for commits of other processes.
    static let interval = 0.05

    private let condition = NSCondition()
    private var entries: [Entry] = []
    private var nextNumber: UInt64 = 0
    private var isRunning = false
    private var isStopped = false
    private var hasNews = false

    /// - Parameter read: the end of the log; nil once the store can no longer be read.
    func observe(
        _ handler: @escaping @Sendable (EventNumber) -> Void, onClose: @escaping @Sendable () -> Void,
        from start: EventNumber, read: @escaping @Sendable () -> EventNumber?
    ) throws(BackgroundThread.Unavailable) -> HeadObservation {
        condition.lock()
        defer { condition.unlock() }
        if !isRunning, !isStopped {
            // The thread waits for the lock before it looks at the observers.
            try BackgroundThread.start("strata.head") { [self] in run(read) }
            isRunning = true
        }
        let number = nextNumber
        nextNumber += 1
        let observation = HeadObservation(handler, onClose: onClose) { [weak self] in self?.remove(number) }
        entries.append(Entry(number: number, observation: observation, known: start))
        // The head may have moved since the observer read it.
        hasNews = true
        return observation
    }

    private func remove(_ number: UInt64) {
        condition.lock()
        entries.removeAll { $0.number == number }
        condition.broadcast()
        condition.unlock()
    }

    /// Reports a commit of this process.
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

    /// The observers to notify, once, that the store is closed.
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

    /// - Returns: false if there are no observers left, or the store is closed.
    private func waitForWork() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: Self.interval)
        while !hasNews, !isStopped, !entries.isEmpty {
            if !condition.wait(until: deadline) { break }
        }
        hasNews = false
        let goesOn = !isStopped && !entries.isEmpty
        // Set under the lock that the next observer holds when it looks whether the thread runs.
        if !goesOn { isRunning = false }
        return goesOn
    }
}

extension Store {
    /// Calls `handler` with the end of the log each time it has moved, on a separate thread: at once after saves of
    /// this process, within a 20th of a second after those of others. Several moves may be reported as one.
    ///
    /// - Parameter onClose: called once when the store is closed.
    /// - Returns: the observation, to be kept; releasing it ends the calls.
    package func observeHead(
        onClose: @escaping @Sendable () -> Void = {}, _ handler: @escaping @Sendable (EventNumber) -> Void
    ) throws -> HeadObservation {
        let start = try head()
        do {
            return try feed.observe(handler, onClose: onClose, from: start) { [weak self] in
                do {
                    return try self?.head()
                } catch let error as StrataError where error.code == .persistentStoreTimeout {
                    // Its views are being rebuilt, or it is being migrated. The end can be read again after that.
                    return .zero
                } catch {
                    StoreLogger.shared.debug("the end of the log cannot be read any more: \(error)")
                    return nil
                }
            }
        } catch {
            throw file.publicError(error, during: "beginning to observe the store")
        }
    }
}
