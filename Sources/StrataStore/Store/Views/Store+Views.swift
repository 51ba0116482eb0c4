import LMDB
package import StrataModel

/// A declared view as a store keeps it.
package struct ViewUse: Sendable {
    package let description: ViewDescription
    package let id: ViewID
    package let groupCount: Int
    /// Records of values that groups keep for their aggregates.
    package let valueCount: Int
    /// Entries of the orders of rows.
    package let orderCount: Int
    /// Bytes of keys and values in all three tables.
    package let sizeInBytes: Int
}

extension Store {
    /// The views of the newest model, in its order.
    ///
    /// - Complexity: O(groups + values).
    package func views() throws -> [ViewUse] {
        try checkOpen()
        return try file.read { transaction, _, histories in
            guard let schema = histories.newest else { return [] }
            return try schema.model.views.compactMap { view in
                guard let id = schema.assignment.views[view.name] else { return nil }
                let groups = try Self.size(of: id, in: file.tables.views?.groups, transaction)
                let values = try Self.size(of: id, in: file.tables.views?.values, transaction)
                let orders = try Self.size(of: id, in: file.tables.views?.orders, transaction)
                return ViewUse(
                    description: view, id: id, groupCount: groups.count, valueCount: values.count,
                    orderCount: orders.count, sizeInBytes: groups.bytes + values.bytes + orders.bytes)
            }
        }
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
