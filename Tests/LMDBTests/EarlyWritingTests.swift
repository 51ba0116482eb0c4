import Foundation
@testable import LMDB
import Synchronization
import Testing

/// Large commits are on their way to the disk while LMDB makes them; see `EarlyWriting`.
@Suite struct EarlyWritingTests {
    let store = TemporaryStore()

    @Test func longTransactionsAreWrittenEarlyAndWhole() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        let before = environment.earlyWritingCount.load(ordering: .relaxed)
        for round in 0..<UInt64(4) {
            try environment.write { transaction in
                for key in 0..<UInt64(3000) {
                    try transaction.put(table, key, [UInt8](repeating: UInt8(round), count: 3000))
                }
                usleep(5000)
            }
        }
        #expect(environment.earlyWritingCount.load(ordering: .relaxed) == before + 4)
        try environment.close()
        let again = try store.open()
        let tables = try again.openTables(["t"])
        try again.read { transaction in
            for key in 0..<UInt64(3000) {
                let value = try transaction.get(tables[0], key).map { Array($0) }
                #expect(value == [UInt8](repeating: 3, count: 3000))
            }
        }
        try again.close()
    }

    @Test(arguments: [EnvironmentOptions.Durability.disposable, .checkpointed, .journaled])
    func othersAreNot(durability: EnvironmentOptions.Durability) throws {
        #expect(EarlyWriting(-1, after: .milliseconds(1)) == nil)
        let environment = try store.open { $0.durability = durability }
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            try transaction.put(table, 1, [1])
            usleep(5000)
        }
        // Nothing is written on an abort either.
        let transaction = try environment.beginWrite()
        usleep(5000)
        transaction.abort()
        #expect(environment.earlyWritingCount.load(ordering: .relaxed) == 0)
        try environment.close()
    }

    /// What cannot be written is left to the sync, which says so.
    @Test func aFileThatCannotBeWrittenEndsIt() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        for file in [-1, ends[0]] {
            let early = try #require(EarlyWriting(file, after: .seconds(1)))
            usleep(2000)
            early.end()
        }
        // The descriptor is not used any more.
        #expect(close(ends[0]) == 0 && close(ends[1]) == 0)
    }
}
