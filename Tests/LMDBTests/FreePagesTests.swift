@testable import LMDB
import Synchronization
import Testing

/// Where the pages of small commits are; see `FreePages`.
@Suite struct FreePagesTests {
    /// Records of which two fill a page.
    private static let count: UInt64 = 6000

    /// Fills a table, and leaves a few thousand free pages, as a large change does.
    private func fill(_ environment: Environment, _ table: Table, times: Int = 2) throws {
        for _ in 0..<times {
            try environment.write { transaction in
                for key in 0..<Self.count { try transaction.put(table, key, [UInt8](repeating: 1, count: 1500)) }
            }
        }
    }

    /// Changes records all over the table, ten in a commit.
    private func change(_ environment: Environment, _ table: Table, commits: Range<UInt64>) throws {
        for commit in commits {
            try environment.write { transaction in
                for key in Self.keys(of: commit) {
                    try transaction.put(table, key, [UInt8](repeating: UInt8(commit % 251), count: 1500))
                }
            }
        }
    }

    private static func keys(of commit: UInt64) -> [UInt64] {
        (0..<10).map { (commit &* 10 &+ $0) &* 0x9E37_79B9_7F4A_7C15 >> 40 % count }
    }

    /// How many pages lie between those that each of the last commits wrote records to, all in all.
    private func distance(_ environment: Environment, _ table: Table, commits: Range<UInt64>) throws -> UInt {
        try environment.read { transaction in
            var distance: UInt = 0
            for commit in commits {
                let pages = try Self.keys(of: commit).compactMap { key in
                    try transaction.get(table, key)?.baseAddress.map { UInt(bitPattern: $0) / 4096 }
                }
                distance += (pages.max() ?? 0) - (pages.min() ?? 0)
            }
            return distance
        }
    }

    /// Each page of the file is in one place: in a tree, which is sound, or in one free list.
    private func checkPages(of environment: Environment, _ table: Table) throws {
        try environment.checkTrees()
        let size = try environment.info().lastPage + 1
        try environment.read { transaction in
            var free: [UInt64] = []
            try transaction.eachFreeList { list in
                for index in 0..<list.count { free.append(list[index]) }
                return true
            }
            let trees = try [Table(handle: 0), Table(handle: 1), table].map { try transaction.statistics($0) }
            let used = trees.reduce(0) { $0 + $1.branchPageCount + $1.leafPageCount + $1.overflowPageCount }
            #expect(Set(free).count == free.count)
            #expect(free.allSatisfy { (2..<UInt64(size)).contains($0) })
            // Two are LMDB's heads.
            #expect(used + free.count + 2 == size)
        }
    }

    @Test func pagesOfACommitLieTogether() throws {
        var distances: [UInt] = []
        var sizes: [Int] = []
        // Without syncs nothing is put in order: what LMDB does by itself.
        for durability in [EnvironmentOptions.Durability.disposable, .full] {
            let store = TemporaryStore()
            let environment = try store.open { $0.durability = durability }
            let table = try environment.openTables(["t"])[0]
            try fill(environment, table)
            try change(environment, table, commits: 0..<1200)
            distances.append(try distance(environment, table, commits: 1190..<1200))
            sizes.append(try environment.info().lastPage)
            let count = environment.freePages.gatheringCount.load(ordering: .relaxed)
            #expect(durability == .full ? (60...76).contains(count) : count == 0)
            try checkPages(of: environment, table)
            try environment.close()
        }
        #expect(distances[1] * 2 < distances[0], "\(distances) pages")
        #expect(sizes[1] <= sizes[0], "\(sizes) pages")
    }

    @Test func whatStandsIsAsWritten() throws {
        let store = TemporaryStore()
        for start in stride(from: UInt64(0), to: 300, by: 100) {
            let environment = try store.open()
            let table = try environment.openTables(["t"])[0]
            if start == 0 { try fill(environment, table) }
            try change(environment, table, commits: start..<start + 100)
            #expect(environment.freePages.gatheringCount.load(ordering: .relaxed) > 3)
            try environment.close()
        }
        var last = [UInt64: UInt8]()
        for commit in UInt64(0)..<300 { for key in Self.keys(of: commit) { last[key] = UInt8(commit % 251) } }
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try environment.read { transaction in
            let tableCount = try transaction.count(Table(handle: 1))
            #expect(tableCount == 1)
            for key in 0..<Self.count {
                let bytes = try transaction.bytes(table, key)
                #expect(bytes == [UInt8](repeating: last[key] ?? 1, count: 1500))
            }
        }
        try checkPages(of: environment, table)
        try environment.close()
    }

    @Test func fewFreePagesAreLeftAsTheyAre() throws {
        let store = TemporaryStore()
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table, times: 1)
        try change(environment, table, commits: 0..<60)
        let free = try environment.info().freePageCount
        #expect((1..<FreePages.fewestPages).contains(free))
        #expect(environment.freePages.gatheringCount.load(ordering: .relaxed) == 0)
        try environment.close()
    }

    /// A writer that is killed at any moment has committed what it said, and nothing by halves.
    @Test func aKilledWriterLosesNothing() throws {
        let store = TemporaryStore()
        let environment = try store.open()
        try fill(environment, try environment.openTables(["t"])[0])
        try environment.close()
        var acknowledged: UInt64 = 0
        for round in 1...5 {
            let child = try ChildProcess("change-forever", store, Int(Self.count))
            for _ in 0..<Int.random(in: 100...200) {
                acknowledged = child.line().flatMap { UInt64($0) } ?? acknowledged
            }
            child.kill()
            while let line = child.line() { acknowledged = UInt64(line) ?? acknowledged }
            let environment = try store.open()
            let table = try environment.openTables(["t"])[0]
            try environment.read { transaction in
                let head = try transaction.get(table, Self.count)?.loadUnaligned(as: UInt64.self) ?? 0
                #expect(head == acknowledged || head == acknowledged + 1)
                #expect(head >= UInt64(round) * 100)
                var last = [UInt64: UInt64]()
                for commit in 0..<head {
                    for place in 0..<10 { last[(commit * 10 + UInt64(place)) * 7919 % Self.count] = commit + 1 }
                }
                for (key, commit) in last {
                    let found = try transaction.get(table, key)?.loadUnaligned(as: UInt64.self)
                    #expect(found == commit)
                }
            }
            try checkPages(of: environment, table)
            try environment.close()
        }
    }

    /// What a reader still sees is not given out, so there is less to put in order.
    @Test func readersKeepTheirState() throws {
        let store = TemporaryStore()
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table)
        try change(environment, table, commits: 0..<100)
        let reader = try environment.beginRead()
        let before = try (0..<Self.count).map { try reader.bytes(table, $0)?.first }
        try change(environment, table, commits: 100..<200)
        let after = try (0..<Self.count).map { try reader.bytes(table, $0)?.first }
        #expect(before == after)
        environment.end(reader)
        try change(environment, table, commits: 200..<240)
        try checkPages(of: environment, table)
        try environment.close()
    }

    /// Without a free reader slot nothing is put in order, and commits go on.
    @Test func aFullReaderTableStopsNoCommit() throws {
        let store = TemporaryStore()
        let environment = try store.open { $0.maximumReaders = 2 }
        let table = try environment.openTables(["t"])[0]
        try fill(environment, table)
        let readers = [try environment.beginRead(), try environment.beginRead()]
        #expect(code { try environment.beginRead() } == .readersFull)
        try change(environment, table, commits: 0..<40)
        #expect(environment.freePages.gatheringCount.load(ordering: .relaxed) == 0)
        for reader in readers { environment.end(reader) }
        try change(environment, table, commits: 40..<60)
        #expect(environment.freePages.gatheringCount.load(ordering: .relaxed) > 0)
        try environment.close()
    }

    @Test func listsThatContradictThemselvesAreTold() {
        func list(_ key: [UInt8], _ words: [UInt64], cut: Int = 0) -> [UInt64]? {
            key.withUnsafeBytes { key in
                words.withUnsafeBytes { value in
                    FreeList(key: key, value: UnsafeRawBufferPointer(rebasing: value.dropLast(cut)))
                        .map { list in (0..<list.count).map { list[$0] } }
                }
            }
        }
        let key = [UInt8](repeating: 0, count: 8)
        #expect(list(key, [2, 9, 7]) == [9, 7])
        #expect(list(key, [1, 9, 7]) == [9])
        #expect(list(key, [0]) == [])
        #expect(list(key, [3, 9, 7]) == nil)
        #expect(list(key, [.max, 9, 7]) == nil)
        #expect(list(key, []) == nil)
        #expect(list(key, [2, 9, 7], cut: 1) == nil)
        #expect(list([0, 0], [2, 9, 7]) == nil)
    }
}
