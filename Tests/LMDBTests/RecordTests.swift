import LMDB
import Testing

@Suite struct RecordTests {
    let store = TemporaryStore()

    @Test func aValueIsReadBackInTheSameAndInLaterTransactions() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            try transaction.put(table, 7, [1, 2, 3])
            #expect(try transaction.bytes(table, 7) == [1, 2, 3])
        }
        let found = try environment.read { try $0.bytes(table, 7) }
        #expect(found == [1, 2, 3])
        #expect(try environment.read { try $0.bytes(table, 8) } == nil)
    }

    @Test func aThrowingBodyChangesNothing() throws {
        struct Stop: Error {}
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        #expect(throws: Stop.self) {
            try environment.write { transaction in
                try transaction.put(table, 1, [1])
                throw Stop()
            }
        }
        #expect(try environment.read { try $0.count(table) } == 0)
    }

    @Test func keysHaveOneTo511Bytes() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        for size in [0, 512] {
            let key = [UInt8](repeating: 1, count: size)
            #expect(code { try environment.write { try $0.put(table, key, [1]) } } == .badValueSize)
            #expect(code { try environment.read { try $0.bytes(table, key) } } == .badValueSize)
            #expect(
                code { try environment.read { try $0.withCursor(table) { try $0.seek(to: key) } } } == .badValueSize)
        }
        for size in [1, 511] {
            let key = [UInt8](repeating: 1, count: size)
            try environment.write { try $0.put(table, key, [9]) }
            #expect(try environment.read { try $0.bytes(table, key) } == [9])
        }
    }

    @Test func appendRefusesAKeyThatDoesNotRise() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.append(table, 5, [5]) }
        #expect(code { try environment.write { try $0.append(table, 5, [6]) } } == .keyExists)
        #expect(code { try environment.write { try $0.append(table, 4, [6]) } } == .keyExists)
        try environment.write { try $0.append(table, 6, [6]) }
        #expect(try environment.read { try $0.bytes(table, 5) } == [5])
        #expect(try environment.read { try $0.count(table) } == 2)
    }

    @Test func insertLeavesAnExistingValueAlone() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        let key: [UInt8] = [1]
        let results = try environment.write { transaction in
            try key.withUnsafeBytes { key in
                let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
                return (try transaction.insert(table, key, key), try transaction.insert(table, key, nothing))
            }
        }
        #expect(results == (true, false))
        #expect(try environment.read { try $0.bytes(table, key) } == [1])
    }

    @Test(arguments: [1, 100, 4_096, 1_000_000]) func reservedBytesAreWrittenInPlace(size: Int) throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            let bytes = try transaction.reserve(table, 1, sizeInBytes: size, placement: .last)
            for index in 0..<size { bytes[index] = UInt8(truncatingIfNeeded: index) }
            #expect(try transaction.bytes(table, 1)?.count == size)
        }
        let found = try environment.read { try $0.bytes(table, 1) }
        #expect(found == (0..<size).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test func deleteTellsWhetherTheRecordWasThere() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            try transaction.put(table, 1, [1])
            #expect(try transaction.delete(table, 1))
            #expect(try transaction.delete(table, 1) == false)
        }
        #expect(try environment.read { try $0.count(table) } == 0)
    }

    @Test func clearEmptiesOneTableOnly() throws {
        let environment = try store.open()
        let tables = try environment.openTables(["a", "b"])
        try environment.write { transaction in
            for key in 0..<1000 as Range<UInt64> {
                try transaction.put(tables[0], key, [1])
                try transaction.put(tables[1], key, [1])
            }
            try transaction.clear(tables[0])
        }
        let counts = try environment.read { (try $0.count(tables[0]), try $0.count(tables[1])) }
        #expect(counts == (0, 1000))
    }

    @Test func anEmptyValueIsNotAMissingOne() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, []) }
        #expect(try environment.read { try $0.bytes(table, 1) } == [])
    }

    @Test func aReaderSeesTheStateOfItsBeginning() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        let reader = try environment.beginRead()
        try environment.write { try $0.put(table, 1, [1]) }
        #expect(try reader.bytes(table, 1) == nil)
        environment.end(reader)
        #expect(try environment.read { try $0.bytes(table, 1) } == [1])
    }

    @Test func tablesKeepTheirHandlesAndAppearAgainAfterReopening() throws {
        do {
            let environment = try store.open()
            let tables = try environment.openTables(["a", "b"])
            #expect(try environment.openTables(["b", "a"]) == [tables[1], tables[0]])
            try environment.write { try $0.put(tables[1], 1, [2]) }
            try environment.close()
        }
        let environment = try store.open()
        let table = try environment.openTables(["b"])[0]
        #expect(try environment.read { try $0.bytes(table, 1) } == [2])
    }

    @Test func moreTablesThanAskedForAreRefused() throws {
        let environment = try store.open { $0.maximumTables = 2 }
        #expect(code { try environment.openTables(["a", "b", "c"]) } == .tablesFull)
        #expect(try environment.openTables(["a", "b"]).count == 2)
    }
}
