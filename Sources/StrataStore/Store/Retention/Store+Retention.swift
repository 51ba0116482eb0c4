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
            let begun = try RepeatedWork("strata.history", interval: retention.interval) { [weak self] goesOn in
                self?.keepHistory(retention, goesOn) ?? .end
            }
            keeper.withLock { $0 = begun }
        } catch {
            StoreLogger.shared.warning("the history of \(path) is not truncated: \(error)")
        }
    }

    /// Waits until the history has been looked after once.
    package func waitForRetention() { keeper.withLock { $0 }?.waitForPasses(1) }

    private func keepHistory(_ retention: StoreRetention, _ goesOn: () -> Bool) -> RepeatedWork.Next {
        do {
            let report = try truncateHistory(
                keeping: retention.kept, MaintenanceNote(author: "strata"), while: goesOn)
            if report.droppedTransactions > 0 {
                StoreLogger.shared.debug(
                    "dropped \(report.droppedTransactions) transactions of \(path) in \(report.duration)")
            }
        } catch let error as StrataError where error.code == .storeClosed {
            return .end
        } catch {
            StoreLogger.shared.warning("the history of \(path) could not be truncated: \(error)")
        }
        return .again
    }
}
