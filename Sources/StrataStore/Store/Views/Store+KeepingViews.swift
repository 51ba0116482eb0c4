import Foundation
import LMDB
import Locking
import Logging
package import StrataModel

extension Store {
    /// Begins to keep the views that catch up, if the model has some, to build others and to drop old ones.
    func beginKeepingViews() {
        guard !isReadOnly, viewKeeper.withLock({ $0 == nil }), file.options.viewKeeping == .background,
            file.tables.views != nil
        else { return }
        do {
            guard try viewWorker().hasWork() else { return }
            var lock: BlobFiles?
            if case .directory = location {
                lock = BlobFiles(
                    directory: path, ownership: file.options.acceptsSharedOwnership ? .unchecked : .privateOnly)
            }
            let (worker, views) = (viewWorker(), lock)
            let made = try viewKeeper.withLock { keeper -> ViewKeeper? in
                if keeper != nil { return nil }
                keeper = try ViewKeeper(worker, lock: views)
                return keeper
            }
            made?.follow(try observeHead { [weak made] _ in made?.notify() })
        } catch {
            StoreLogger.shared.warning("the views of \(path) are not kept by this process: \(error)")
        }
    }

    func viewWorker() -> ViewWorker {
        var worker = ViewWorker(file: file, onWriter: jobsOnWriter())
        worker.limits = file.options.viewStepLimits
        worker.observer = file.options.viewObserver
        return worker
    }

    /// Returns the position of each view, which cannot go on if the history after it is dropped.
    func viewPositions() throws -> [(name: String, position: EventNumber)] {
        try file.read { transaction, _, histories in
            guard let schema = histories.newest, !schema.model.views.isEmpty else { return [] }
            return try IndexMap.of(schema).views.views.compactMap { view in
                guard let progress = try ViewProgress.read(view.id, transaction, file.tables), progress.isBegun else {
                    return nil
                }
                return (view.description.name, progress.position)
            }
        }
    }

    /// Brings the views that catch up or are being built to the end of the log, except those that have failed, and drops
    /// those that are replaced.
    ///
    /// - Parameter steps: the most steps of each view; nil for as many as it takes.
    package func keepViews(steps: Int? = nil) throws {
        try checkOpen()
        let worker = viewWorker()
        for name in try worker.views() {
            var (left, prepared) = (steps ?? .max, ViewStep?.none)
            while left > 0, case .isOnItsWay = try worker.advance(name, &prepared) { left -= 1 }
        }
        var left = steps ?? .max
        while left > 0, try worker.dropSome() { left -= 1 }
    }

    /// Waits until a view includes an event.
    ///
    /// - Parameter eventNumber: nil for the end of the log.
    /// - Throws: `unknownKey`; `persistentStoreTimeout`; `viewFailed` if the view does not go on.
    package func wait(forView name: String, to eventNumber: EventNumber?, timeout: Duration) throws {
        let target = try eventNumber ?? head()
        let end = ContinuousClock.now + timeout
        // The view may be newer than the opening of the store.
        beginKeepingViews()
        while true {
            let state = try viewState(name)
            var hasFailed = false
            switch state.phase {
            case .live where state.eventNumber >= target: return
            case .failed(let failure) where failure.microseconds > 0: hasFailed = true
            case .live, .building, .failed: break
            }
            if hasFailed, case .failed(let failure) = state.phase { throw Self.failed(name, failure) }
            guard ContinuousClock.now < end else {
                throw StrataError(
                    .persistentStoreTimeout,
                    "The view \(name) is at event \(state.eventNumber) and does not include \(target) yet.",
                    context: .init(key: name, path: path))
            }
            try Task.checkCancellation()
            viewKeeper.withLock { $0 }?.notify(isUrgent: true)
            // Another process may be the one that keeps it.
            Thread.sleep(forTimeInterval: 0.005)
        }
    }

    /// Returns the progress of a view.
    ///
    /// - Throws: `unknownKey`.
    package func viewState(_ name: String) throws -> ViewUpkeepState {
        let views = try viewStates()
        guard let found = views.first(where: { $0.description.name == name }) else {
            let names = views.map(\.description.name)
            throw StrataError(
                .unknownKey, "The store's model has no view \(name)\(NearestName.ending(for: name, among: names))",
                context: .init(key: name, path: path))
        }
        return found.upkeep
    }

    private static func failed(_ name: String, _ failure: ViewFailure) -> StrataError {
        StrataError(
            .viewFailed,
            "The view \(name) cannot follow event \(failure.eventNumber): \(failure.reason) Change the object, or have "
                + "the view leave it out (skip).",
            context: .init(objectID: failure.object, key: name, eventNumber: failure.eventNumber))
    }

    /// Has a failed view tried again at once.
    ///
    /// - Throws: `unknownKey`; `invalidRequest` if it has not failed.
    package func retryView(_ name: String) throws {
        try change(name) { try $0.retry(name) }
    }

    /// Leaves the object that a failed view cannot group out of it, until the view is rebuilt.
    ///
    /// - Throws: `unknownKey`; `invalidRequest` if it has not failed, or is an inline view.
    package func skipEvent(ofView name: String) throws {
        if schema.model.view(named: name)?.upkeep == .inline {
            throw StrataError(
                .invalidRequest,
                "The view \(name) is kept in each commit and leaves nothing out. Change the object, or declare a view "
                    + "that catches up.", context: .init(key: name, path: path))
        }
        try change(name) { try $0.skip(name) }
    }

    private func change(_ name: String, _ body: (ViewWorker) throws -> Bool) throws {
        if isReadOnly {
            throw StrataError(.readOnly, "The store is open for reading only.", context: .init(path: path))
        }
        _ = try viewState(name)
        guard try body(viewWorker()) else {
            throw StrataError(
                .invalidRequest, "The view \(name) has not failed.", context: .init(key: name, path: path))
        }
        viewKeeper.withLock { $0 }?.notify(isUrgent: true)
    }
}
