import Foundation
package import StrataModel

/// Wakes a thread that follows a log, and signals it to end. All variables are guarded by `condition`.
package final class Pace: @unchecked Sendable {
    private let condition = NSCondition()
    private var hasNews = false
    private var isEnded = false

    package init() {}

    /// Whether the thread is to end, after it has done the remaining work.
    package var isStopped: Bool {
        condition.lock()
        defer { condition.unlock() }
        return isEnded
    }

    package func notify() {
        condition.lock()
        hasNews = true
        condition.broadcast()
        condition.unlock()
    }

    package func stop() {
        condition.lock()
        isEnded = true
        condition.broadcast()
        condition.unlock()
    }

    /// Waits for news, or the end.
    ///
    /// - Returns: whether there are news, or it is the end; false if neither came in time.
    package func waitForNews(atMost duration: Duration) -> Bool {
        let deadline = Date(timeIntervalSinceNow: duration / .seconds(1))
        condition.lock()
        defer { condition.unlock() }
        while !hasNews, !isEnded { if !condition.wait(until: deadline) { break } }
        defer { hasNews = false }
        return hasNews || isEnded
    }

    /// Waits for a time, or the end.
    package func pause(_ duration: Duration) {
        let deadline = Date(timeIntervalSinceNow: duration / .seconds(1))
        condition.lock()
        while !isEnded, condition.wait(until: deadline) {}
        condition.unlock()
    }
}

/// The time to wait before a failed operation is tried again: twice as long each time, up to ten seconds.
package struct Patience {
    private var next = Duration.milliseconds(250)

    package init() {}

    package mutating func afterFailure() -> Duration {
        defer { next = min(next * 2, .seconds(10)) }
        return next
    }

    package mutating func afterSuccess() { self = Patience() }

    /// Whether a failure may pass: the target is away or full, or the store cannot be read because its views are being
    /// rebuilt or it is being migrated.
    package static func mayPass(_ error: any Error) -> Bool {
        guard let error = error as? StrataError else { return false }
        return [.targetUnavailable, .noSpace, .persistentStoreTimeout].contains(error.code)
    }
}

/// Waits for a store that cannot be read because its views are being rebuilt, as long as that goes on.
package struct StoreWait {
    /// The time after which a rebuild that stands still is no longer waited for.
    private let limit: Duration
    private let interval: Duration

    package init(limit: Duration = .seconds(10), interval: Duration = .milliseconds(250)) {
        (self.limit, self.interval) = (limit, interval)
    }

    /// Runs work that reads the store, again and again until the store can be read.
    ///
    /// - Parameter report: is called with the first refusal.
    /// - Throws: `persistentStoreTimeout` if the rebuild stands still, perhaps because it was interrupted.
    package func run<R>(_ work: () throws -> R, report: (StrataError) -> Void) throws -> R {
        var last: (message: String, since: ContinuousClock.Instant)?
        while true {
            do {
                return try work()
            } catch let error as StrataError where error.code == .persistentStoreTimeout {
                let now = ContinuousClock.now
                if last == nil { report(error) }
                // The message says how far the rebuild has come.
                if let last, last.message == error.message {
                    if now - last.since >= limit { throw error }
                } else {
                    last = (error.message, now)
                }
                Thread.sleep(forTimeInterval: interval / .seconds(1))
            }
        }
    }
}
