import Foundation
import Locking
import Logging
import StrataModel

/// Whether the views of a store are being rebuilt because damage was met, and whether they may be again.
///
/// `condition` guards the state.
final class ViewMending: @unchecked Sendable {
    private enum State {
        case ready, running
        /// A rebuild has failed or changed nothing, so another would not help.
        case useless
    }

    private let condition = NSCondition()
    private var state = State.ready

    /// - Returns: whether the caller is the one to rebuild the views; it calls `end` afterwards.
    func begin() -> Bool {
        condition.withLock {
            guard state == .ready else { return false }
            state = .running
            return true
        }
    }

    /// - Parameter helped: whether the rebuild has replaced something.
    func end(helped: Bool) {
        condition.withLock {
            state = helped ? .ready : .useless
            condition.broadcast()
        }
    }

    /// Waits for a rebuild that is under way.
    func wait() {
        condition.withLock { while state == .running { condition.wait() } }
    }
}

extension Store {
    /// From now on, damage that a read or a save meets is passed to `StoreOptions.damageHandler`, and the views are
    /// rebuilt in the background if the options say so. The read or save fails all the same.
    func watchForDamage() {
        let options = file.options
        let mends = options.mendsViews && !options.isReadOnly
        guard mends || options.damageHandler != nil else { return }
        file.damageHandler.withLock {
            $0 = { [weak self] damage in
                options.damageHandler?(damage)
                if mends { self?.beginMending(damage) }
            }
        }
    }

    /// Begins to look at all pages in the background, if the options say so.
    func beginScrubbing() {
        guard let scrubbing = file.options.scrubbing else { return }
        do throws(BackgroundThread.Unavailable) {
            let begun = try RepeatedWork.scrubbing(file, scrubbing)
            scrubber.withLock { $0 = begun }
        } catch {
            StoreLogger.shared.warning("the pages of \(path) are not looked at: \(error)")
        }
    }

    /// Waits for a rebuild that damage has begun.
    package func waitForMending() { mending.wait() }

    /// Rebuilds the views because of damage, if that has not been in vain before.
    ///
    /// - Returns: whether views were replaced.
    func mendViews(_ damage: StrataError) -> Bool {
        guard mending.begin() else { return false }
        let helped = rebuildViews(damage)
        mending.end(helped: helped)
        return helped
    }

    private func beginMending(_ damage: StrataError) {
        guard mending.begin() else { return }
        do {
            try BackgroundThread.start("strata.mending") { [self] in mending.end(helped: rebuildViews(damage)) }
        } catch {
            mending.end(helped: false)
            StoreLogger.shared.error("damaged views of \(path) cannot be rebuilt: \(error)")
        }
    }

    private func rebuildViews(_ damage: StrataError) -> Bool {
        StoreLogger.shared.warning("the views of \(path) are rebuilt, since damage was met: \(damage.message)")
        do {
            let report = try rebuild()
            StoreLogger.shared.notice(
                "the views of \(path) were rebuilt from \(CountText.of(report.eventCount, "event")) in \(report.duration)"
            )
            return !report.isUnchanged
        } catch let error as StrataError where error.code == .storeClosed {
            return false
        } catch {
            StoreLogger.shared.error("the views of \(path) cannot be rebuilt: \(error)")
            return false
        }
    }
}
