import LMDB
import Testing

@Suite struct CursorTests {
    let store = TemporaryStore()

    private func filled(_ keys: [UInt64]) throws -> (Environment, Table) {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            for key in keys { try transaction.put(table, key, [UInt8(truncatingIfNeeded: key)]) }
        }
        return (environment, table)
    }

    @Test func aScanVisitsEveryRecordInKeyOrder() throws {
        let (environment, table) = try filled((0..<10_000).reversed())
        let keys = try environment.read { transaction in
            try transaction.withCursor(table) { cursor in
                var keys: [UInt64] = []
                while try cursor.next() {
                    #expect(cursor.value[0] == UInt8(truncatingIfNeeded: cursor.number))
                    keys.append(cursor.number)
                }
                return keys
            }
        }
        #expect(keys == Array(0..<10_000))
    }

    @Test func movesStandWhereTheySay() throws {
        let (environment, table) = try filled([10, 20, 30])
        try environment.read { transaction in
            try transaction.withCursor(table) { cursor throws in
                #expect(try cursor.number(ifMoved: cursor.first()) == 10)
                #expect(try cursor.previous() == false)
                #expect(try cursor.number(ifMoved: cursor.last()) == 30)
                #expect(try cursor.next() == false)
                #expect(try cursor.number(ifMoved: cursor.seek(to: 20)) == 20)
                #expect(try cursor.seek(to: 21) == false)
                #expect(try cursor.number(ifMoved: cursor.seek(atOrAfter: 11)) == 20)
                #expect(try cursor.seek(atOrAfter: 31) == false)
                #expect(try cursor.number(ifMoved: cursor.seek(before: 20)) == 10)
                #expect(try cursor.seek(before: 10) == false)
                #expect(try cursor.number(ifMoved: cursor.seek(before: 99)) == 30)
                #expect(try cursor.number(ifMoved: cursor.seek(atOrAfter: [])) == 10)
                #expect(try cursor.number(ifMoved: cursor.seek(before: [0xFF])) == 30)
            }
        }
    }

    /// Page by page in a read transaction, one by one in a write transaction, whose changed pages are not in the map.
    @Test func recordsBelowAKeyAreCounted() throws {
        let (environment, table) = try filled([])
        var random = SystemRandomNumberGenerator()
        var keys: [[UInt8]] = (0..<3000).map { _ in
            (0..<Int.random(in: 1...40, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) }
        }
        keys = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
        func put(_ key: [UInt8], _ transaction: WriteTransaction) throws {
            try key.withUnsafeBytes { key in
                let size = Int(key[0]) * 400 + key.count
                try [UInt8](repeating: 1, count: size).withUnsafeBytes { try transaction.put(table, key, $0) }
            }
        }
        try environment.write { transaction in for key in keys.shuffled() { try put(key, transaction) } }
        func count(_ transaction: ReadTransaction, from low: [UInt8], below high: [UInt8], atMost limit: Int) throws
            -> Int
        {
            try transaction.withCursor(table) { cursor in
                _ = try low.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
                return try high.withUnsafeBytes { try cursor.count(below: $0, atMost: limit) }
            }
        }
        func check(_ transaction: ReadTransaction) throws {
            for round in 0..<300 {
                var low = keys[Int.random(in: keys.indices, using: &random)]
                var high = keys[Int.random(in: keys.indices, using: &random)]
                if round % 3 == 0 { low.append(0) }
                if round % 5 == 0 { high = [9] }
                if round % 7 == 0 { low = [] }
                let found = keys.count { !$0.lexicographicallyPrecedes(low) && $0.lexicographicallyPrecedes(high) }
                let limit = round % 2 == 0 ? .max : Int.random(in: 0...keys.count, using: &random)
                let counted = try count(transaction, from: low, below: high, atMost: limit)
                #expect(counted == min(found, limit), "\(low) to \(high), at most \(limit)")
            }
            #expect(try count(transaction, from: [9], below: [9, 9], atMost: .max) == 0)
        }
        try environment.read { try check($0) }
        try environment.write { transaction in
            for key in keys where key.count % 10 == 0 { try put(key, transaction) }
            try check(transaction)
        }
    }

    @Test func anEmptyTableHasNoRecordToStandOn() throws {
        let (environment, table) = try filled([])
        try environment.read { transaction in
            try transaction.withCursor(table) { cursor throws in
                #expect(try cursor.first() == false)
                #expect(try cursor.last() == false)
                #expect(try cursor.next() == false)
                #expect(try cursor.seek(atOrAfter: 0) == false)
                #expect(cursor.key.isEmpty && cursor.value.isEmpty)
            }
        }
    }

    @Test func aCursorDeletesWhileItScans() throws {
        let (environment, table) = try filled(Array(0..<1000))
        try environment.write { transaction in
            try transaction.withWriteCursor(table) { cursor in
                while try cursor.next() { if cursor.number % 2 == 0 { try cursor.delete() } }
            }
        }
        let keys = try environment.read { transaction in
            try transaction.withCursor(table) { cursor in
                var keys: [UInt64] = []
                while try cursor.next() { keys.append(cursor.number) }
                return keys
            }
        }
        #expect(keys == (0..<1000).filter { $0 % 2 == 1 })
    }

    @Test func aWriteCursorPutsInOrder() throws {
        let (environment, table) = try filled([])
        try environment.write { transaction in
            try transaction.withWriteCursor(table) { cursor in
                for key in 0..<1000 as Range<UInt64> {
                    try withUnsafeBytes(of: key.bigEndian) { try cursor.put($0, $0) }
                }
            }
        }
        #expect(try environment.read { try $0.count(table) } == 1000)
    }

    @Test func aWriteCursorReservesInPlace() throws {
        let (environment, table) = try filled([1])
        try environment.write { transaction in
            try transaction.withWriteCursor(table) { cursor in
                for key in [1, 2] as [UInt64] {
                    try withUnsafeBytes(of: key.bigEndian) { bytes in
                        try cursor.reserve(bytes, sizeInBytes: 8).copyMemory(from: bytes)
                    }
                }
            }
        }
        #expect(try environment.read { try $0.bytes(table, 1) } == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(try environment.read { try $0.bytes(table, 2) } == [0, 0, 0, 0, 0, 0, 0, 2])
    }

    @Test func cursorsOfPooledTransactionsAreUsedAgain() throws {
        let (environment, table) = try filled([1, 2, 3])
        for _ in 0..<100 {
            let keys = try environment.read { transaction in
                try transaction.withCursor(table) { outer throws in
                    #expect(try outer.first())
                    // A second cursor in the same table while the first is open.
                    return try transaction.withCursor(table) { inner throws in
                        #expect(try inner.last())
                        return [outer.number, inner.number]
                    }
                }
            }
            #expect(keys == [1, 3])
        }
        try environment.write { try $0.put(table, 4, [4]) }
        let last = try environment.read { try $0.withCursor(table) { try $0.last() ? $0.number : 0 } }
        #expect(last == 4)
    }

    @Test func aCursorKeptBeyondItsTransactionIsClosedWithIt() throws {
        let (environment, table) = try filled([1])
        var kept: Cursor?
        try environment.read { kept = try $0.cursor(table) }
        kept = nil
        try environment.write { kept = try $0.cursor(table) }
        kept?.close()
        kept = nil
        #expect(try environment.read { try $0.count(table) } == 1)
    }
}
