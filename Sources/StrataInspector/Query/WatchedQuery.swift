import Foundation
import Locking
import StrataModel
import StrataStore

/// Runs a query and shows on standard error how many rows it has read, after the first second.
enum WatchedQuery {
    /// - Parameter total: the number of rows; 0 if unknown.
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
        return try moment.read(store, monitor: monitor, body)
    }

    /// The number of objects of the entity and its subentities.
    static func size(_ request: StoreRequest, _ store: Store, _ moment: StoreMoment) throws -> Int {
        guard let entity = moment.schema.entity(request.entityID) else { return 0 }
        let ids = request.includesSubentities ? entity.concreteEntityIDs : [entity.id]
        return try moment.read(store) { snapshot in try ids.reduce(0) { $0 + (try snapshot.count(of: $1)) } }
    }
}

/// The rows of a query, one by one. Where each object makes a row, rows are read in slices, so that no read transaction
/// stays open while a pager waits, and memory holds only ids.
struct RowStream {
    let store: Store
    let moment: StoreMoment
    let request: RowsRequest
    private static let slice = 2000

    func forEach(_ body: (ArraySlice<AttributeValue>) throws -> Void) throws {
        let total = try WatchedQuery.size(request.objects, store, moment)
        // Reports a wrong column even if the query finds nothing.
        guard try CompiledRows(request, moment.schema).makesRowOfEachObject else {
            let rows = try WatchedQuery.run(store, moment, total: total) { try $0.rows(request) }
            for row in rows { try body(row) }
            return
        }
        let ids = try WatchedQuery.run(store, moment, total: total) { try $0.fetch(request.objects) }
        for start in stride(from: 0, to: ids.count, by: Self.slice) {
            let slice = Array(ids[start..<min(start + Self.slice, ids.count)])
            for row in try rows(of: slice) { try body(row.dropFirst()) }
        }
    }

    /// The rows of some objects in the order of `ids`; each row begins with its object's id.
    private func rows(of ids: [ObjectID]) throws -> [ArraySlice<AttributeValue>] {
        var part = request
        part.objects = StoreRequest(
            entityID: request.objects.entityID, includesSubentities: request.objects.includesSubentities,
            predicate: .isIn("SELF", ids.map { .objectID($0) }))
        part.columns.insert(ColumnText.object, at: 0)
        let rows = try moment.read(store) { try $0.rows(part) }
        var indexes: [AttributeValue: Int] = [:]
        for (index, row) in rows.enumerated() { if let id = row.first { indexes[id] = index } }
        return ids.compactMap { id in indexes[.objectID(id)].map { rows[$0] } }
    }
}
