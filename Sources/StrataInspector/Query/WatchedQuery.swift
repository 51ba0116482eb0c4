import Foundation
import Locking
import StrataModel
import StrataStore

/// Runs a query and shows on standard error how many rows it has read, after the first second.
enum WatchedQuery {
    /// - Parameter total: the number of rows; 0 if unknown.
    /// - Throws: `budgetExceeded` for a query beyond the standard budget, and what `body` throws.
    static func run<R>(
        _ store: Store, _ moment: StoreMoment, total: Int, _ body: (Snapshot) throws -> R
    ) throws -> R {
        let monitor = QueryMonitor()
        let progress = ProgressLine()
        let report = progress.handler
        let watch: @Sendable () -> Void = {
            while !monitor.isFinished {
                Thread.sleep(forTimeInterval: 0.1)
                let done = monitor.examinedRowCount
                // A plan can read a row twice, so the count can exceed the total.
                report(StoreProgress(phase: "rows read", done: done, total: done > total ? 0 : total))
            }
        }
        do {
            try BackgroundThread.start("strata.progress", watch)
        } catch {
            // Without a thread for the progress line the query runs all the same.
            Output.printError("The progress of the query is not shown: \(error).")
        }
        defer {
            monitor.finish()
            progress.finish()
        }
        return try moment.read(store, monitor: monitor, budget: .standard, body)
    }

    /// The number of objects of the entity and its subentities.
    static func size(_ request: StoreRequest, _ store: Store, _ moment: StoreMoment) throws -> Int {
        guard let entity = moment.schema.entity(request.entityID) else { return 0 }
        let ids = request.includesSubentities ? entity.concreteEntityIDs : [entity.id]
        return try moment.read(store) { snapshot in try ids.reduce(0) { $0 + (try snapshot.count(of: $1)) } }
    }
}
