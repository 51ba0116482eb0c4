import Foundation
import Locking
import Logging
package import StrataModel

extension Store {
    /// The last event that a retention drops; nil if everything stays.
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

    /// Drops the history that a retention does not keep.
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
        guard let retention = file.options.retention, retention.dropsHistory, !isReadOnly else { return }
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

    /// Whether enough has come behind a cut since the last one. Each thinning is a transaction, so there are no more than
    /// some thirty in the time that is kept.
    private func isThinningDue(of name: String, through end: EventNumber) throws -> Bool {
        guard let entity = try newestSchema()?.entity(named: name) else { return true }
        let known = try thinnedEntities()
        let done = entity.concreteEntityIDs.map { known[$0]?.done ?? .zero }.min() ?? .zero
        let kept = try head().rawValue - end.rawValue
        return end > done && end.rawValue - done.rawValue >= kept / 32
    }

    private func keepHistory(_ retention: StoreRetention, _ goesOn: () -> Bool) -> RepeatedWork.Next {
        do {
            let report = try truncateHistory(
                keeping: retention.kept, MaintenanceNote(author: "strata"), while: goesOn)
            if report.droppedTransactions > 0 {
                StoreLogger.shared.debug(
                    "dropped \(report.droppedTransactions) transactions of \(path) in \(report.duration)")
            }
            for (name, kept) in retention.entities.sorted(by: { $0.key < $1.key }) where goesOn() {
                let end = try lastEvent(beyond: kept) ?? .zero
                guard try isThinningDue(of: name, through: end) else { continue }
                let thinned = try thinHistory(
                    of: [name], through: end, MaintenanceNote(author: "strata"), while: goesOn)
                StoreLogger.shared.debug(
                    "dropped values of \(thinned.changedEvents) events of \(name) in \(path) in \(thinned.duration)")
            }
        } catch let error as StrataError where error.code == .storeClosed {
            return .end
        } catch {
            StoreLogger.shared.warning("the history of \(path) could not be truncated: \(error)")
        }
        return .again
    }
}
