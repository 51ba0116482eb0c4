import Foundation
@testable import LMDB
import Synchronization
import Testing

/// The folios of what commits add to the file are split; see `FolioSplitter`.
@Suite struct FolioSplitterTests {
    let store = TemporaryStore()

    private func fill(_ environment: Environment, _ table: Table, mebibytes: Int) throws {
        // One record to a page.
        for part in 0..<UInt64(mebibytes / 8) {
            try environment.write { transaction in
                for key in 0..<UInt64(2048) {
                    try transaction.append(table, part * 2048 + key, [UInt8](repeating: 7, count: 3000))
                }
            }
        }
    }

    @Test func whatCommitsAddIsCutOnce() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table, mebibytes: 96)
        let cached = environment.folioSplitter
        let size = try store.dataBytes().count
        #expect(size > FolioSplitter.beginning + 16 << 20)
        let most = (size - FolioSplitter.beginning) / FolioSplitter.smallestUnit + 8
        let least = (size - FolioSplitter.beginning - FolioSplitter.leastGrowth) / FolioSplitter.smallestUnit - 8
        let count = cached.cutCount.load(ordering: .relaxed)
        #expect(cached.isOfUse ? (least...most).contains(count) : count == 0, "\(count) of \(size) bytes")
        try environment.read { transaction in
            for key in stride(from: UInt64(0), to: 24_576, by: 7) {
                let size = try transaction.get(table, key)?.count
                #expect(size == 3000)
            }
        }
        try environment.close()
    }

    @Test func smallFilesAndLittleGrowthAreLeftAlone() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table, mebibytes: 16)
        for key in 5000..<UInt64(5020) { try environment.write { try $0.append(table, key, [1, 2, 3]) } }
        #expect(environment.folioSplitter.cutCount.load(ordering: .relaxed) == 0)
        try environment.close()
    }

    /// A look behind the end of a mapped file ends the process.
    @Test func pagesThatWereNeverWrittenAreNotLookedAt() throws {
        let environment = try store.open()
        let tables = try environment.openTables(["t", "filling"])
        let table = tables[0]
        try fill(environment, tables[1], mebibytes: 72)
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
