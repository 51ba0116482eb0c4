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
