import Foundation
import Locking
import StrataModel
import StrataStore

/// Runs a query and tells on standard error how many rows it has read, once that takes a second.
enum WatchedQuery {
    /// - Parameter total: rows that there are; 0 when it is not known.
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
                // More than there are when the plan looks at some twice.
                report(StoreProgress(phase: "rows read", done: done, total: done > total ? 0 : total))
            }
        }
        do {
            try BackgroundThread.start("strata.progress", watch)
        } catch {
            // The query runs all the same.
            Output.printError("How far the query is will not be told: \(error).")
        }
        defer {
            monitor.finish()
            progress.finish()
        }
        return try moment.read(store, monitor: monitor, body)
    }

    /// Objects of the entity and those below it.
    static func size(_ request: StoreRequest, _ store: Store, _ moment: StoreMoment) throws -> Int {
        guard let entity = moment.schema.entity(request.entityID) else { return 0 }
        let ids = request.includesSubentities ? entity.concreteEntityIDs : [entity.id]
        return try moment.read(store) { snapshot in try ids.reduce(0) { $0 + (try snapshot.count(of: $1)) } }
    }
}

/// The answer of a query row by row. Where each object makes a row they are read in slices, so that no read lasts while
/// somebody looks at a pager and memory holds ids alone.
struct RowStream {
    let store: Store
    let moment: StoreMoment
    let request: RowsRequest
    private static let slice = 2000

    func forEach(_ body: (ArraySlice<AttributeValue>) throws -> Void) throws {
        let total = try WatchedQuery.size(request.objects, store, moment)
        // Says at once what is wrong with a column, also where no object is found.
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

    /// The rows of some objects, in their order, each behind its object's id.
    private func rows(of ids: [ObjectID]) throws -> [ArraySlice<AttributeValue>] {
        var part = request
        part.objects = StoreRequest(
            entityID: request.objects.entityID, includesSubentities: request.objects.includesSubentities,
            predicate: .isIn("SELF", ids.map { .objectID($0) }))
        part.columns.insert(ColumnText.object, at: 0)
        let rows = try moment.read(store) { try $0.rows(part) }
        var places: [AttributeValue: Int] = [:]
        for (place, row) in rows.enumerated() { if let id = row.first { places[id] = place } }
        return ids.compactMap { id in places[.objectID(id)].map { rows[$0] } }
    }
}
