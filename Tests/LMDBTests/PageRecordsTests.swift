import Foundation
import LMDB
import Testing

/// Records that are read where they lie in their page are those of LMDB's cursor.
@Suite struct PageRecordsTests {
    private struct Record: Equatable {
        let key: [UInt8]
        let value: [UInt8]

        init(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
            self.key = Array(key)
            self.value = Array(value)
        }
    }

    /// Short values, some with pages of their own, and keys of all lengths.
    private func filled(_ store: TemporaryStore, _ count: Int) throws -> (Environment, Table) {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            for number in (0..<count).shuffled() {
                let key = (0..<1 + number % 37).map { UInt8(truncatingIfNeeded: number &>> ($0 % 3 * 8)) }
                let size = number % 91 == 0 ? 5000 : number * 7 % 250
                try transaction.put(table, key, [UInt8](repeating: UInt8(number & 255), count: size))
            }
        }
        return (environment, table)
    }

    private func all(_ cursor: Cursor) throws -> [Record] {
        var records: [Record] = []
        while try cursor.next() { records.append(Record(cursor.key, cursor.value)) }
        return records
    }

    @Test(arguments: [1, 3, 5000]) func pagesHaveTheRecordsThatACursorGives(count: Int) throws {
        let store = TemporaryStore()
        let (environment, table) = try filled(store, count)
        let expected = try environment.read { try $0.withCursor(table, all) }
        func check(_ transaction: ReadTransaction, from start: Int) throws -> Int {
            try transaction.withCursor(table) { cursor throws in
                #expect(try cursor.seek(to: expected[start].key))
                var found: [Record] = []
                var pages = 0
                var isThere = true
                while isThere {
                    let records = cursor.pageRecords()
                    pages += 1
                    for index in 0..<records.count {
                        let record = try records.record(index)
                        found.append(Record(record.key, record.value))
                        #expect(record.isInPage == (record.value.count < 2000) || records.address == nil)
                    }
                    isThere = try cursor.move(behind: records)
                }
                #expect(found == Array(expected[start...]))
                return pages
            }
        }
        for start in [0, expected.count / 2, expected.count - 1] {
            let pages = try environment.read { try check($0, from: start) }
            #expect(pages <= 1 + (expected.count - start) / 8, "\(pages) pages")
        }
    }

    @Test func behindAWritersRecordComesTheRestOfItsPage() throws {
        let store = TemporaryStore()
        let (environment, table) = try filled(store, 3000)
        let expected = try environment.read { try $0.withCursor(table, all) }
        try environment.write { transaction in
            try transaction.withWriteCursor(table) { cursor in
                var pages = 0
                for (place, record) in expected.enumerated() {
                    // Half of the pages are the transaction's own.
                    if place % 60 == 0 {
                        try record.key.withUnsafeBytes { key in
                            try record.value.withUnsafeBytes { try cursor.put(key, $0) }
                        }
                    } else {
                        #expect(try cursor.seek(to: record.key))
                    }
                    let withOwn = try #require(cursor.recordsInPage(isOwnIncluded: true))
                    if let own = withOwn.recordInPage(0) { #expect(Record(own.key, own.value) == record) }
                    #expect(withOwn.count == (cursor.recordsInPage(isOwnIncluded: false)?.count ?? 0) + 1)
                    guard let behind = cursor.recordsInPage(isOwnIncluded: false) else {
                        pages += 1
                        continue
                    }
                    try #require(place + behind.count < expected.count)
                    for index in 0..<behind.count {
                        let next = expected[place + 1 + index]
                        guard let found = behind.recordInPage(index) else {
                            #expect(next.value.count > 2000)
                            continue
                        }
                        #expect(Record(found.key, found.value) == next)
                    }
                }
                // The last record of each page has none behind it.
                #expect(pages == transaction.leafPages(table))
            }
        }
    }

    /// A page whose list of entries leads out of it is an error at the first move, before any record of it is read.
    @Test func aDamagedPageIsAnError() throws {
        let store = TemporaryStore()
        try store.fill(10)
        var bytes = try store.dataBytes()
        let leaf = try #require(
            (2..<bytes.count / 4096).last { bytes[$0 * 4096 + 10] == 2 && bytes[$0 * 4096 + 12] == 16 + 20 })
        let node = leaf * 4096 + Int(bytes[leaf * 4096 + 20]) + Int(bytes[leaf * 4096 + 21]) << 8
        bytes[node + 1] = 0x7F
        try bytes.write(to: .init(fileURLWithPath: store.dataPath))
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.read { transaction in
            try transaction.withCursor(table) { cursor throws in
                #expect(code { try cursor.first() } == .corrupted)
                #expect(code { try cursor.last() } == .corrupted)
                #expect(code { try cursor.seek(to: 1) } == .corrupted)
                #expect(code { try cursor.next() } == .corrupted)
            }
        }
    }
}

extension WriteTransaction {
    fileprivate func leafPages(_ table: Table) -> Int { (try? statistics(table).leafPageCount) ?? -1 }
}

/// Keys that are looked up side by side have the values that each has by itself.
@Suite struct LookupTests {
    private func values(_ cursor: Cursor, _ keys: [UInt64]) throws -> [[UInt8]?] {
        var found: [[UInt8]?] = []
        for start in stride(from: 0, to: keys.count, by: Cursor.lookupWidth) {
            let group = Array(keys[start..<min(keys.count, start + Cursor.lookupWidth)])
            try group.withUnsafeBufferPointer { group in
                try withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: group.count) { values in
                    try cursor.values(of: group, into: values)
                    for index in 0..<group.count {
                        found.append(values[index].baseAddress == nil ? nil : Array(values[index]))
                    }
                }
            }
        }
        return found
    }

    /// Tables of no page to several levels of them, values with pages of their own, keys that are not there, and one
    /// that comes twice; in a reader, and in a writer that has changed some.
    @Test(arguments: [0, 1, 30, 500, 60_000] as [UInt64]) func theyAreWhatEachKeyHas(count: UInt64) throws {
        let store = TemporaryStore()
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            for number in 0..<count {
                let size = number % 5000 == 3 ? 9000 : Int(number % 60)
                try transaction.put(table, number * 3 << 20, [UInt8](repeating: UInt8(number & 255), count: size))
            }
        }
        func check(_ transaction: ReadTransaction) throws {
            var random = SystemRandomNumberGenerator()
            for size in [1, 2, 5, 31, 32, 33, 2000] {
                var keys = (0..<size).map { _ in
                    UInt64.random(in: 0...3 * count + 2, using: &random) << 20 + UInt64.random(in: 0...50) / 50
                }
                if size > 30 {
                    keys[7] = keys[3]
                    keys[20] = .max
                    keys[21] = 0
                    keys[22] = 9 << 20
                }
                let found = try transaction.withCursor(table) { try values($0, keys) }
                #expect(try found == keys.map { try transaction.bytes(table, $0) })
            }
        }
        try environment.read(check)
        try environment.write { transaction in
            for number in stride(from: 0, to: count, by: 7) { try transaction.put(table, number * 3 << 20, [7]) }
            try check(transaction)
        }
        try environment.close()
    }

    /// With keys of another length in the table LMDB searches.
    @Test func keysOfOtherLengthsAreNoHindrance() throws {
        let store = TemporaryStore()
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            for number in 0..<4000 as Range<UInt64> {
                try transaction.put(table, number << 8, [1])
                try transaction.put(table, [0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255), 0, 9], [2])
            }
        }
        try environment.read { transaction in
            let keys = (0..<4000 as Range<UInt64>).shuffled().map { $0 << 8 }
            let found = try transaction.withCursor(table) { try values($0, keys) }
            #expect(found.allSatisfy { $0 == [1] })
        }
        try environment.close()
    }

    /// Whatever a leaf says of the sizes of its keys and values, a search ends with an error or an answer.
    @Test func damagedSizesEndNoProcess() throws {
        let store = TemporaryStore()
        try store.fill(3000)
        let sound = try store.dataBytes()
        var random = SystemRandomNumberGenerator()
        for _ in 0..<60 {
            var bytes = sound
            // Leaves of the table, which have eight records and more.
            for page in 2..<bytes.count / 4096 where bytes[page * 4096 + 10] == 2 && bytes[page * 4096 + 12] >= 32 {
                // Sizes of values and keys. Other damage LMDB does not survive, which searches where these do not go on.
                for entry in 0..<8 {
                    let slot = page * 4096 + 16 + 2 * entry
                    let head = page * 4096 + Int(bytes[slot]) + Int(bytes[slot + 1]) << 8
                    for place in [0, 1, 2, 3, 6, 7] where Bool.random(using: &random) {
                        bytes[head + place] = UInt8.random(in: 0...255, using: &random)
                    }
                }
            }
            let damaged = TemporaryStore()
            mkdir(damaged.path, 0o700)
            try bytes.write(to: URL(fileURLWithPath: damaged.dataPath))
            chmod(damaged.dataPath, 0o600)
            let environment = try damaged.open()
            let table = try environment.openTables(["t"])[0]
            try environment.read { transaction in
                try transaction.withCursor(table) { cursor throws in
                    var keys = (0..<31).map { _ in UInt64.random(in: 0..<3000, using: &random) }
                    keys.append(.max)
                    _ = code { try values(cursor, keys) }
                    guard (try? cursor.first()) == true else { return }
                    let records = cursor.pageRecords()
                    for index in 0..<records.count { _ = code { try records.record(index) } }
                }
            }
            try environment.close()
        }
    }
}
