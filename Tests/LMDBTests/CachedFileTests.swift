import Foundation
@testable import LMDB
import Synchronization
import Testing

/// What commits add to the file is cut into small units of the system's cache; see `CachedFile`.
@Suite struct CachedFileTests {
    let store = TemporaryStore()

    @Test func whatCommitsAddIsCutOnce() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        for part in 0..<UInt64(8) {
            try environment.write { transaction in
                for key in 0..<UInt64(200) {
                    try transaction.append(table, part * 200 + key, [UInt8](repeating: 7, count: 3000))
                }
            }
        }
        let cached = environment.cachedFile
        let size = try store.dataBytes().count
        let most = size / CachedFile.smallestUnit + 8
        let least = (size - CachedFile.leastGrowth) / CachedFile.smallestUnit - 8
        let count = cached.cutCount.load(ordering: .relaxed)
        #expect(cached.isOfUse ? (least...most).contains(count) : count == 0, "\(count) of \(size) bytes")
        try environment.read { transaction in
            for key in 0..<UInt64(1600) {
                let size = try transaction.get(table, key)?.count
                #expect(size == 3000)
            }
        }
        try environment.close()
    }

    @Test func littleGrowthIsLeftAlone() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        for key in 0..<UInt64(20) { try environment.write { try $0.append(table, key, [1, 2, 3]) } }
        #expect(environment.cachedFile.cutCount.load(ordering: .relaxed) == 0)
        try environment.close()
    }

    /// A look behind the end of a mapped file ends the process.
    @Test func pagesThatWereNeverWrittenAreNotLookedAt() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.writeAndLeaveAShortFile(table)
        for key in 2..<UInt64(40) {
            try environment.write { try $0.put(table, key, [UInt8](repeating: 1, count: 50_000)) }
        }
        try environment.read { transaction in
            for key in 2..<UInt64(40) {
                let size = try transaction.get(table, key)?.count
                #expect(size == 50_000)
            }
        }
        try environment.close()
    }
}
