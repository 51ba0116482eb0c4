import Foundation
import Testing

@testable import LMDB

/// A search for numbers that follow each other finds the values that LMDB finds for each.
@Suite struct NearbySearchTests {
    private static let keys: [UInt64] = (0..<UInt64(4000)).map { number -> UInt64 in
        // Alone, in rows with gaps of several widths, and far apart.
        switch number % 100 {
        case 0..<60: number
        case 60..<90: number * 3 % 7 == 0 ? number : number + 1_000_000
        default: number << 40
        }
    }

    private func filled(_ store: TemporaryStore) throws -> (Environment, Table) {
        let environment = try store.open()
        let table = try #require(try environment.openTables(["t"]).first)
        try environment.write { transaction in
            for key in Self.keys {
                // Some have pages of their own, some are empty.
                let size = key % 61 == 0 ? 5000 : Int(key * 7 % 120)
                try transaction.put(table, key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: size))
            }
            try transaction.put(table, [1, 2, 3], [4])
        }
        return (environment, table)
    }

    /// Orders of look-ups: one after the other, with gaps, from the end, twice each, and at random.
    private static let orders: [[UInt64]] = {
        let ascending = (0..<UInt64(4200)).map { $0 }
        let sparse = (keys + keys.map { $0 + 1 }).sorted()
        return [
            ascending, ascending.filter { $0 % 3 == 0 }, ascending.filter { $0 % 11 < 4 }, ascending.reversed(),
            ascending.flatMap { [$0, $0] }, ascending.flatMap { [$0 + 8, $0] }, sparse, sparse.shuffled(),
            [.max, 0, .max],
        ]
    }()

    @Test(arguments: orders.indices) func theyAreThoseThatLMDBFinds(order: Int) throws {
        let store = TemporaryStore()
        let (environment, table) = try filled(store)
        defer { try? environment.close() }
        func check(_ transaction: ReadTransaction) throws {
            try transaction.withCursor(table) { cursor in
                var search = NearbySearch(cursor)
                var differing: [UInt64] = []
                for key in Self.orders[order] {
                    let found = try search.value(of: key).map { Array($0) }
                    let expected = try transaction.get(table, key).map { Array($0) }
                    if found != expected { differing.append(key) }
                }
                #expect(differing == [])
            }
        }
        try environment.read { try check($0) }
        try environment.write { transaction in
            try check(transaction)
            // Pages that were written in the transaction lie outside the map, beside others that do not.
            for key in Self.keys where key % 500 < 40 { _ = try transaction.delete(table, key) }
            for key in 0..<UInt64(300) { try transaction.put(table, key * 7, Array("\(key)".utf8)) }
            try check(transaction)
        }
        try environment.read { try check($0) }
    }

    /// Most records that follow each other are found without moving the cursor.
    @Test func whatFollowsIsFoundInItsPage() throws {
        let store = TemporaryStore()
        let (environment, table) = try filled(store)
        defer { try? environment.close() }
        try environment.read { transaction in
            try transaction.withCursor(table) { cursor in
                var search = NearbySearch(cursor)
                var moves = 0
                var stood: UnsafeRawPointer?
                for key in 0..<UInt64(60) where key % 61 != 0 {
                    _ = try #require(try search.value(of: key))
                    if cursor.key.baseAddress != stood { moves += 1 }
                    stood = cursor.key.baseAddress
                }
                #expect(moves < 6)
            }
        }
    }
}
