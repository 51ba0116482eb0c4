import Foundation
import Testing

@testable import LMDB

/// Tables are dropped whatever their pages hold, and each of their pages is free afterwards.
@Suite struct DroppedTableTests {
    private static let pageSize = 4096
    private let store = TemporaryStore()
    private let sound: Data
    private let sums: Data

    /// A table that stays, and two to be dropped: one of several levels, and one with long values.
    init() throws {
        let environment = try store.open()
        let tables = try environment.openTables(["kept", "deep", "long"])
        try environment.write { transaction in
            for key in 0..<2000 as Range<UInt64> {
                try transaction.put(tables[0], key, [UInt8](repeating: 1, count: 60))
                for part in 0..<4 as Range<UInt64> {
                    try transaction.put(tables[1], key * 4 + part, [UInt8](repeating: 2, count: 100))
                }
            }
            for key in 0..<30 as Range<UInt64> {
                try transaction.put(tables[2], key, [UInt8](repeating: 3, count: 3000 + 1000 * Int(key)))
            }
        }
        // Leaves free pages behind.
        try environment.write { transaction in
            for key in 0..<2000 as Range<UInt64> where key % 3 == 0 { try transaction.put(tables[1], key, [4]) }
        }
        try environment.close()
        sound = try store.dataBytes()
        sums = try Data(contentsOf: URL(filePath: store.path + "/pages.sums"))
    }

    private func count(of tables: [Table], in environment: Environment) throws -> [Int] {
        try environment.read { transaction in try tables.map { try transaction.count($0) } }
    }

    private func pages(of names: [String]) throws -> [UInt64] {
        let environment = try store.open()
        defer { try? environment.close() }
        let all = try environment.openTables(["kept", "deep", "long"])
        let tables = names == ["kept"] ? [all[0]] : [all[1], all[2]]
        let transaction = try environment.beginWrite()
        defer { transaction.abort() }
        return try transaction.pagesOf(tables)
    }

    @Test func allPagesOfTheTablesAreFreeAfterwards() throws {
        let dropped = try pages(of: ["deep", "long"])
        #expect(dropped.count > 300)
        let environment = try store.open()
        defer { try? environment.close() }
        let tables = try environment.openTables(["kept", "deep", "long"])
        try environment.write { try $0.drop([tables[1], tables[2]]) }
        #expect(try count(of: tables, in: environment) == [2000, 0, 0])
        #expect(try environment.surveyPages().problems.isEmpty)
        #expect(environment.wholeSealCount == 0)
        #expect(try environment.info().freePageCount >= dropped.count)
        // The tables are filled again in the room of the old ones.
        let size = try environment.info().lastPage
        for round in 0..<6 as Range<UInt64> {
            try environment.write { transaction in
                for key in round * 500..<round * 500 + 500 {
                    try transaction.put(tables[1], key, [UInt8](repeating: 5, count: 100))
                }
                try transaction.put(tables[2], round, [UInt8](repeating: 6, count: 9000))
            }
        }
        #expect(try environment.info().lastPage == size)
        #expect(try environment.surveyPages().problems.isEmpty && environment.checkPages().isSound)
        #expect(try count(of: tables, in: environment) == [2000, 3000, 6])
    }

    @Test func aDropThatIsAbortedChangesNothing() throws {
        let environment = try store.open()
        defer { try? environment.close() }
        let tables = try environment.openTables(["kept", "deep", "long"])
        let transaction = try environment.beginWrite()
        try transaction.drop([tables[1]])
        #expect(try transaction.count(tables[1]) == 0)
        transaction.abort()
        #expect(try count(of: tables, in: environment) == [2000, 8000, 30])
        #expect(try environment.surveyPages().problems.isEmpty)
        try environment.write { try $0.put(tables[1], 9000, [1]) }
        #expect(try environment.surveyPages().problems.isEmpty)
    }

    @Test func aReaderStillSeesWhatWasDropped() throws {
        let environment = try store.open()
        defer { try? environment.close() }
        let tables = try environment.openTables(["kept", "deep", "long"])
        let reader = try environment.beginRead()
        try environment.write { try $0.drop([tables[1], tables[2]]) }
        for key in 0..<60 as Range<UInt64> {
            try environment.write { transaction in
                for part in 0..<50 as Range<UInt64> {
                    try transaction.put(tables[1], key * 50 + part, [UInt8](repeating: 7, count: 50))
                }
            }
            #expect(try reader.bytes(tables[2], 29)?.count == 32_000)
            #expect(try reader.bytes(tables[1], 7999)?.count == 100)
        }
        environment.end(reader)
    }

    @Test func aTableThatTheTransactionHasChangedIsNotDropped() throws {
        let environment = try store.open()
        defer { try? environment.close() }
        let tables = try environment.openTables(["kept", "deep", "long"])
        #expect(
            code {
                try environment.write { transaction in
                    try transaction.put(tables[1], 1, [1])
                    try transaction.drop([tables[1]])
                }
            } == .other(EINVAL))
        #expect(try count(of: tables, in: environment) == [2000, 8000, 30])
    }

    @Test(arguments: ["zeros", "noise", "another page"]) func damageOfTheTablesIsNoHindrance(kind: String) throws {
        let dropped = try pages(of: ["deep", "long"])
        var random = SplitMix(state: 7)
        for count in [1, 1, 1, 1, 3, 30, dropped.count] {
            var bytes = sound
            for page in dropped.shuffled(using: &random).prefix(count) {
                damage(page, kind, &bytes, &random)
            }
            try store.overwrite(bytes)
            let environment = try store.open()
            let tables = try environment.openTables(["kept", "deep", "long"])
            try environment.write { try $0.drop([tables[1], tables[2]]) }
            #expect(try self.count(of: tables, in: environment) == [2000, 0, 0])
            #expect(try environment.surveyPages().problems.isEmpty)
            try environment.write { transaction in
                for key in 0..<3000 as Range<UInt64> {
                    try transaction.put(tables[1], key, [UInt8](repeating: 5, count: 100))
                }
            }
            #expect(try environment.surveyPages().problems.isEmpty && environment.checkPages().isSound)
            try environment.close()
            try sums.write(to: URL(filePath: store.path + "/pages.sums"))
        }
    }

    @Test(arguments: ["zeros", "noise", "another page"]) func damageOfOtherPagesIsAnError(kind: String) throws {
        let kept = try pages(of: ["kept"])
        var random = SplitMix(state: 11)
        for page in kept.shuffled(using: &random).prefix(12) {
            var bytes = sound
            damage(page, kind, &bytes, &random)
            try store.overwrite(bytes)
            let environment = try store.open()
            let tables = try environment.openTables(["kept", "deep", "long"])
            let error = #expect(throws: LMDBError.self) {
                try environment.write { try $0.drop([tables[1], tables[2]]) }
            }
            #expect(error?.code == .corrupted && error?.detail.contains("page \(page)") == true, "\(error as Any)")
            try environment.close()
            #expect(try store.dataBytes() == bytes)
        }
    }

    private func damage(_ page: UInt64, _ kind: String, _ bytes: inout Data, _ random: inout SplitMix) {
        let start = Int(page) * Self.pageSize
        let other = Int.random(in: 2..<bytes.count / Self.pageSize, using: &random) * Self.pageSize
        for offset in 0..<Self.pageSize {
            bytes[start + offset] =
                switch kind {
                case "zeros": 0
                case "noise": UInt8.random(in: 0 ... .max, using: &random)
                default: sound[other + offset]
                }
        }
        // Another page may be the same one.
        if other == start { bytes[start + 100] ^= 1 }
    }
}
