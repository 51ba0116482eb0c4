import LMDB
import StrataModel

/// Finds the rows of many objects in the `objects` table.
///
/// Ids that are close together are found from one row to the next (`NearbySearch`), others side by side
/// (`Cursor.values`).
struct RowLookup {
    private let cursor: Cursor
    /// Ids that are further apart on average are rarely on one page.
    private static let nearbyRows: UInt64 = 16

    /// - Parameter cursor: a cursor of the `objects` table.
    init(_ cursor: Cursor) { self.cursor = cursor }

    /// Calls `body` with the index, the id and the stored bytes of each object, nil if there is none, until it returns
    /// false.
    func forEach(
        _ count: Int, id: (Int) -> ObjectID, _ body: (Int, ObjectID, UnsafeRawBufferPointer?) throws -> Bool
    ) throws {
        let width = Cursor.lookupWidth
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: width) { keys in
            try withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: width) { values in
                var search = NearbySearch(cursor)
                for start in stride(from: 0, to: count, by: width) {
                    let size = min(width, count - start)
                    for index in 0..<size { keys.initializeElement(at: index, to: id(start + index).rawValue) }
                    let group = UnsafeBufferPointer(rebasing: keys[..<size])
                    let isNearby = Self.areNearby(group)
                    if !isNearby {
                        try cursor.values(of: group, into: values)
                        // `body` may have moved the cursor.
                        search = NearbySearch(cursor)
                    }
                    for index in 0..<size {
                        let value = isNearby ? try search.value(of: group[index]) : values[index]
                        let id = ObjectID(rawValue: group[index])
                        guard try body(start + index, id, value?.baseAddress == nil ? nil : value) else { return }
                    }
                }
            }
        }
    }

    private static func areNearby(_ keys: UnsafeBufferPointer<UInt64>) -> Bool {
        guard keys.count > 2 else { return true }
        let (first, last) = (keys[0], keys[keys.count - 1])
        return last > first && last - first < nearbyRows * UInt64(keys.count)
    }
}
