import Foundation
import Locking
import Logging
package import StrataModel

extension Store {
    /// The last event that a retention lets go; nil if everything stays.
    package func lastEvent(beyond kept: StoreRetention.Kept) throws -> EventNumber? {
        do {
            switch kept {
            case .everything: return nil
            case .held: return try head()
            case .duration(let duration):
                return try eventNumber(at: file.options.clock().addingTimeInterval(-(duration / .seconds(1))))
            case .transactions(let count):
                let last = try lastTransaction(upTo: try head()).rawValue
                guard last > UInt64(max(0, count)) else { return nil }
                return try eventNumber(of: TransactionNumber(rawValue: last - UInt64(max(0, count))))
            }
        } catch let error as StrataError where error.code == .historyDropped {
            return nil
        }
    }

    /// Drops the history that a retention lets go.
    ///
    /// - Throws: as `truncateHistory(through:force:_:limits:progress:while:)`.
    package func truncateHistory(
        keeping kept: StoreRetention.Kept, force: TruncationForce = .none, _ note: MaintenanceNote,
        while goesOn: () -> Bool = { true }
    ) throws -> TruncationReport {
        let end = try lastEvent(beyond: kept) ?? .zero
        return try truncateHistory(through: end, force: force, note, while: goesOn)
    }

    /// Begins to look after the history in the background, if the options say so.
    func beginRetention() {
        guard let retention = file.options.retention, retention.kept != .everything, !isReadOnly else { return }
        do throws(BackgroundThread.Unavailable) {
            let begun = try HistoryKeeper(retention) { [weak self] goesOn in try self?.keepHistory(retention, goesOn) }
            keeper.withLock { $0 = begun }
        } catch {
            StoreLogger.shared.warning("the history of \(path) is not truncated: \(error)")
        }
    }

    /// Waits until the history has been looked after once.
    package func waitForRetention() { keeper.withLock { $0 }?.waitForPasses(1) }

    private func keepHistory(_ retention: StoreRetention, _ goesOn: () -> Bool) throws {
        do {
            let report = try truncateHistory(
                keeping: retention.kept, MaintenanceNote(author: "strata"), while: goesOn)
            guard report.droppedTransactions > 0 else { return }
            StoreLogger.shared.debug(
                "dropped \(report.droppedTransactions) transactions of the history of \(path) in \(report.duration)")
        } catch let error as StrataError where error.code == .storeClosed {
            throw error
        } catch {
            StoreLogger.shared.warning("the history of \(path) could not be truncated: \(error)")
        }
    }
}

/// Truncates the history of a store again and again, on a thread of its own, until it is stopped.
///
/// `condition` guards the state.
final class HistoryKeeper: @unchecked Sendable {
    private let condition = NSCondition()
    private var isStopped = false
    private var passes = 0

    /// - Parameter work: gets what says whether it goes on; throws if there is nothing to look after any more.
    /// - Throws: `BackgroundThread.Unavailable` if the system has no thread for it.
    init(
        _ retention: StoreRetention, _ work: @escaping @Sendable (_ goesOn: () -> Bool) throws -> Void
    ) throws(BackgroundThread.Unavailable) {
        try BackgroundThread.start("strata.history") { [self] in
            repeat {
                do {
                    try work { condition.withLock { !isStopped } }
                } catch {
                    stop()
                }
                condition.withLock {
                    passes += 1
                    condition.broadcast()
                }
            } while wait(for: retention.interval)
        }
    }

    /// Ends it after the commit that it is making, without waiting for that.
    func stop() {
        condition.withLock {
            isStopped = true
            condition.broadcast()
        }
    }

    /// - Returns: false where it was stopped meanwhile.
    private func wait(for interval: Duration) -> Bool {
        let end = Date(timeIntervalSinceNow: interval / .seconds(1))
        return condition.withLock {
            while !isStopped, condition.wait(until: end) {}
            return !isStopped
        }
    }

    /// Waits until the history has been looked after so many times.
    func waitForPasses(_ count: Int) {
        condition.withLock { while passes < count, !isStopped { condition.wait() } }
    }
}
