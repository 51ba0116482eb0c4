import Foundation
import LMDB
package import StrataModel

/// A declared view as a store keeps it.
package struct ViewUse: Sendable {
    package let description: ViewDescription
    package let id: ViewID
    package let groupCount: Int
    /// Values of aggregates that the records of groups do not have themselves.
    package let valueCount: Int
    /// Entries of the orders of rows, and counts of those that are ranked.
    package let orderCount: Int
    /// Bytes of keys and values in all three tables.
    package let sizeInBytes: Int
    package let upkeep: ViewUpkeepState
}

extension Store {
    /// The views of the newest model, in its order.
    ///
    /// - Complexity: O(groups + values).
    package func views() throws -> [ViewUse] {
        try checkOpen()
        return try file.read { transaction, _, histories in try ViewUse.all(file, transaction, histories) }
    }

    /// The same without their sizes, which are 0.
    ///
    /// - Complexity: O(views).
    package func viewStates() throws -> [ViewUse] {
        try checkOpen()
        return try file.read { transaction, _, histories in
            try ViewUse.all(file, transaction, histories, measured: false)
        }
    }
}

extension ViewUse {
    static func all(
        _ file: StoreFile, _ transaction: ReadTransaction, _ histories: SchemaHistory, measured: Bool = true
    ) throws -> [ViewUse] {
        guard let schema = histories.newest else { return [] }
        return try schema.model.views.compactMap { view in
            guard let id = schema.assignment.views[view.name] else { return nil }
            let tables = measured ? file.tables.views : nil
            let groups = try size(of: id, in: tables?.groups, transaction)
            let values = try size(of: id, in: tables?.values, transaction)
            let orders = try size(of: id, in: tables?.orders, transaction)
            return ViewUse(
                description: view, id: id, groupCount: groups.count, valueCount: values.count,
                orderCount: orders.count, sizeInBytes: groups.bytes + values.bytes + orders.bytes,
                upkeep: try upkeep(of: id, view, file, transaction, histories))
        }
    }

    private static func upkeep(
        of id: ViewID, _ view: ViewDescription, _ file: StoreFile, _ transaction: ReadTransaction,
        _ histories: SchemaHistory
    ) throws -> ViewUpkeepState {
        let head = try file.readHead(transaction)
        let known = try ViewProgress.read(id, transaction, file.tables)
        if known == nil, view.upkeep == .inline {
            return ViewUpkeepState(phase: .live, eventNumber: head.event, lagInEvents: 0, lag: .zero, leftOut: [])
        }
        let progress = known ?? ViewProgress()
        var phase = ViewUpkeepState.Phase.live
        if let failure = progress.failure {
            phase = .failed(failure)
        } else if !progress.isComplete || view.upkeep == .inline && !view.hasProjections {
            phase = .building(try share(progress, view, transaction, file, histories))
        }
        let reader = LogReader(transaction, file.tables, histories)
        var lag = Duration.zero
        if progress.position < head.event, progress.position.advanced(by: 1) >= head.firstKeptEvent {
            let number = try reader.event(progress.position.advanced(by: 1)) { $0.header.transaction }
            if let record = try reader.transaction(number) {
                let now = Int64(file.options.clock().timeIntervalSince1970 * 1e6)
                lag = .microseconds(max(0, now - record.microseconds))
            }
        }
        return ViewUpkeepState(
            phase: phase, eventNumber: progress.position,
            lagInEvents: head.event.rawValue - progress.position.rawValue, lag: lag, leftOut: progress.leftOut.sorted())
    }

    /// The part of the objects that are grouped.
    private static func share(
        _ progress: ViewProgress, _ view: ViewDescription, _ transaction: ReadTransaction, _ file: StoreFile,
        _ histories: SchemaHistory
    ) throws -> Double {
        guard let schema = histories.newest, let prepared = try IndexMap.of(schema).views.view(named: view.name) else {
            return 0
        }
        let snapshot = Snapshot(
            eventNumber: .zero, schema: schema, transaction: transaction, tables: file.tables, histories: histories,
            layers: [])
        let count = try prepared.entities.reduce(0) { $0 + (try snapshot.count(of: $1)) }
        return count == 0 ? 0 : min(1, Double(progress.groupedCount) / Double(count))
    }

    private static func size(
        of view: ViewID, in table: Table?, _ transaction: ReadTransaction
    ) throws -> (count: Int, bytes: Int) {
        guard let table else { return (0, 0) }
        return try ViewKeys.withPrefix(of: view) { prefix in
            try transaction.withCursor(table) { cursor in
                var (count, bytes) = (0, 0)
                var found = try cursor.seek(atOrAfter: prefix)
                while found, cursor.key.hasPrefix(prefix) {
                    count += 1
                    bytes += cursor.key.count + cursor.value.count
                    found = try cursor.next()
                }
                return (count, bytes)
            }
        }
    }
}
