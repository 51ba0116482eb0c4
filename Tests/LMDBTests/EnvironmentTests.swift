import Foundation
@testable import LMDB
import Locking
import Synchronization
import Testing

/// One environment a store, its life, its threads and its map.
@Suite struct EnvironmentTests {
    let store = TemporaryStore()

    @Test func openingTwiceGivesTheSameEnvironment() throws {
        let first = try store.open()
        let second = try store.open()
        #expect(first === second)
        let third = try store.open { $0.access = .readOnly }
        #expect(first === third)
        try first.close()
        try third.close()
        let table = try second.openTables(["t"])[0]
        try second.write { try $0.put(table, 1, [1]) }
        try second.close()
        #expect(code { try second.read { _ in } } == .closed)
        #expect(code { try second.write { _ in } } == .closed)
        #expect(code { try second.sync() } == .closed)
    }

    @Test func openingOverAnotherNameOfTheSameDirectoryGivesTheSameEnvironment() throws {
        let first = try store.open()
        let second = try Environment.open(at: store.path + "/../" + store.path.split(separator: "/").last!)
        #expect(first === second)
    }

    @Test func optionsThatDoNotFitAreRefused() throws {
        try store.fill()
        let environment = try store.open { $0.access = .readOnly }
        #expect(code { try store.open() } == .conflictingOptions)
        try environment.close()
        let writer = try store.open()
        #expect(code { try store.open { $0.durability = .disposable } } == .conflictingOptions)
        try writer.close()
    }

    @Test func theLastReferenceClosesTheStore() throws {
        for round in 0..<20 as Range<UInt64> {
            let environment = try store.open()
            let table = try environment.openTables(["t"])[0]
            try environment.write { try $0.put(table, round, [1]) }
            #expect(try environment.read { try $0.count(table) } == Int(round) + 1)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").allSatisfy { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return target?.hasPrefix(store.path) != true
            })
    }

    @Test func manyThreadsOpenAndCloseOneStore() throws {
        try store.fill()
        let failures = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for _ in 0..<20 {
                    let environment = try Environment.open(at: store.path)
                    let table = try environment.openTables(["t"])[0]
                    let count = try environment.read { try $0.count(table) }
                    if count != 10 { failures.withLock { $0.append("\(count) records") } }
                    if thread % 2 == 0 { try environment.close() }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test func closingWaitsForTransactionsButNotForEver() throws {
        let environment = try store.open { $0.drainTimeout = .milliseconds(30) }
        let reader = try environment.beginRead()
        #expect(code { try environment.close() } == .busy)
        environment.end(reader)
        #expect(code { try environment.close() } == nil)
    }

    @Test func readTransactionsAreUsedAgain() throws {
        let environment = try store.open()
        for _ in 0..<1_000 { try environment.read { _ in } }
        #expect(try environment.readers().count == 1)
        let both = [try environment.beginRead(), try environment.beginRead()]
        #expect(try environment.readers().count == 2)
        #expect(try environment.readers().allSatisfy { $0.transaction != nil && $0.processID == getpid() })
        for reader in both { environment.end(reader) }
        #expect(try environment.readers().map(\.transaction) == [nil, nil])
    }

    @Test func aTransactionThatIsKeptIsNotHandedToTheNextReader() throws {
        let environment = try store.open()
        var kept: ReadTransaction?
        try environment.read { kept = $0 }
        #expect(kept?.isOpen == false)
        try environment.read { next in #expect(next !== kept) }
        #expect(try environment.readers().count == 1)
    }

    @Test func aReaderDroppedWithoutEndFreesItsSlot() throws {
        let environment = try store.open { $0.drainTimeout = .milliseconds(100) }
        _ = try environment.beginRead()
        #expect(try environment.readers().isEmpty)
        try environment.close()
    }

    @Test func manyThreadsReadWhileOneWritesAndTheMapGrows() throws {
        let environment = try store.open {
            $0.mapSizeInBytes = 1 << 20
            $0.durability = .disposable
        }
        let table = try environment.openTables(["t"])[0]
        let failures = Locked<[String]>([])
        let isDone = Atomic(false)
        let rounds = 300
        DispatchQueue.concurrentPerform(iterations: 5) { thread in
            do {
                if thread == 0 {
                    defer { isDone.store(true, ordering: .releasing) }
                    for round in 0..<rounds {
                        try environment.write { transaction in
                            for key in 0..<20 {
                                let value = [UInt8](repeating: UInt8(round % 256), count: 2_000)
                                try transaction.append(table, UInt64(round * 20 + key), value)
                            }
                        }
                    }
                } else {
                    while !isDone.load(ordering: .acquiring) {
                        try environment.read { transaction in
                            let count = try transaction.count(table)
                            guard count % 20 == 0 else { return failures.withLock { $0.append("torn \(count)") } }
                            guard count > 0 else { return }
                            // A second one inside the first must not block itself while the map grows.
                            try environment.read { inner in
                                guard try inner.bytes(table, UInt64(count - 1))?.count == 2_000 else {
                                    return failures.withLock { $0.append("lost \(count)") }
                                }
                            }
                        }
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try environment.read { try $0.count(table) } == rounds * 20)
        #expect(environment.mapSizeInBytes >= 16 << 20)
    }

    @Test func aFullMapGrowsAndTheBodyRunsAgain() throws {
        let environment = try store.open {
            $0.mapSizeInBytes = 256 << 10
            $0.growthStepInBytes = 1 << 20
        }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 0, [1]) }
        var runs = 0
        try environment.write { transaction in
            runs += 1
            for key in 1...1_000 as ClosedRange<UInt64> {
                try transaction.put(table, key, [UInt8](repeating: 1, count: 4_000))
            }
        }
        #expect(runs > 1)
        #expect(try environment.read { try $0.count(table) } == 1_001)
        #expect(try environment.read { try $0.bytes(table, 1_000)?.count } == 4_000)
    }

    @Test func aBodyThatHidesAFullMapIsRunAgainAsWell() throws {
        struct Wrapped: Error {}
        let environment = try store.open { $0.mapSizeInBytes = 256 << 10 }
        let table = try environment.openTables(["t"])[0]
        try environment.write { transaction in
            do {
                for key in 1...100 as ClosedRange<UInt64> {
                    try transaction.put(table, key, [UInt8](repeating: 1, count: 4_000))
                }
            } catch {
                throw Wrapped()
            }
        }
        #expect(try environment.read { try $0.count(table) } == 100)
    }

    @Test func theLimitOfTheMapLosesNothing() throws {
        let environment = try store.open {
            $0.mapSizeInBytes = 256 << 10
            $0.maximumMapSizeInBytes = 512 << 10
        }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        let failure = code {
            try environment.write { transaction in
                for key in 2...1_000 as ClosedRange<UInt64> {
                    try transaction.put(table, key, [UInt8](repeating: 1, count: 4_000))
                }
            }
        }
        #expect(failure == .mapFull)
        #expect(try environment.read { try $0.count(table) } == 1)
        try environment.write { try $0.put(table, 2, [2]) }
        #expect(try environment.read { try $0.count(table) } == 2)
    }

    @Test func anOpenReaderStopsGrowthWithAnErrorAndNotWithADanglingMap() throws {
        let environment = try store.open {
            $0.mapSizeInBytes = 256 << 10
            $0.drainTimeout = .milliseconds(50)
        }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [UInt8](repeating: 9, count: 100)) }
        let reader = try environment.beginRead()
        let value = try #require(try reader.get(table, 1))
        let grow = {
            try environment.write { transaction in
                for key in 2...200 as ClosedRange<UInt64> {
                    try transaction.put(table, key, [UInt8](repeating: 1, count: 4_000))
                }
            }
        }
        #expect(code(grow) == .busy)
        #expect(value.allSatisfy { $0 == 9 })
        environment.end(reader)
        #expect(code(grow) == nil)
        #expect(try environment.read { try $0.count(table) } == 200)
    }

    @Test func twoPhaseWritesGrowByHand() throws {
        let environment = try store.open { $0.mapSizeInBytes = 256 << 10 }
        let table = try environment.openTables(["t"])[0]
        var attempts = 0
        while true {
            attempts += 1
            let transaction = try environment.beginWrite()
            do {
                for key in 1...200 as ClosedRange<UInt64> {
                    try transaction.put(table, key, [UInt8](repeating: 1, count: 4_000))
                }
                try transaction.commit()
                break
            } catch {
                if transaction.isOpen { transaction.abort() }
                #expect((error as? LMDBError)?.code == .mapFull)
                try environment.growMap()
            }
        }
        #expect(attempts > 1)
        #expect(try environment.read { try $0.count(table) } == 200)
    }

    @Test func theAddressOfTheMapIsKnown() throws {
        let environment = try store.open { $0.mapSizeInBytes = 1 << 20 }
        #expect(environment.bounds.lower.load(ordering: .relaxed) != 0)
        #expect(environment.mapSizeInBytes == 1 << 20)
    }

    @Test func aSecondWriterOfTheProcessWaitsOrIsTold() throws {
        let environment = try store.open()
        let table = try environment.openTables(["t"])[0]
        let transaction = try environment.beginWrite()
        let result = Locked<LMDBError.Code?>(nil)
        let thread = Thread {
            let found = code { try environment.write(timeout: .milliseconds(50)) { try $0.put(table, 1, [1]) } }
            result.withLock { $0 = found ?? .other(0) }
        }
        thread.start()
        while result.withLock({ $0 }) == nil { usleep(1_000) }
        #expect(result.withLock { $0 } == .busy)
        try transaction.commit()
        try environment.write { try $0.put(table, 1, [1]) }
    }

    @Test(arguments: [EnvironmentOptions.Durability.full, .journaled, .relaxed, .disposable])
    func everyDurabilityKeepsWhatWasWritten(durability: EnvironmentOptions.Durability) throws {
        let environment = try store.open { $0.durability = durability }
        let table = try environment.openTables(["t"])[0]
        try environment.write { try $0.put(table, 1, [1]) }
        try environment.sync()
        try environment.close()
        let again = try store.open { $0.durability = durability }
        let sameTable = try again.openTables(["t"])[0]
        #expect(try again.read { try $0.bytes(sameTable, 1) } == [1])
    }

    @Test func infoCountsPagesAndRecords() throws {
        let environment = try store.open { $0.mapSizeInBytes = 64 << 20 }
        let tables = try environment.openTables(["a", "b"])
        try environment.write { transaction in
            for key in 0..<5_000 as Range<UInt64> {
                try transaction.put(tables[0], key, [UInt8](repeating: 1, count: 100))
            }
            try transaction.put(tables[1], 1, [UInt8](repeating: 1, count: 10_000))
        }
        try environment.write { try $0.clear(tables[0]) }
        let info = try environment.info()
        #expect(info.mapSizeInBytes == 64 << 20)
        #expect(info.fileSizeInBytes == (info.lastPage + 1) * info.pageSizeInBytes)
        #expect(info.freePageCount > 100)
        #expect(info.tables["a"]?.entryCount == 0)
        #expect(info.tables["b"]?.entryCount == 1)
        #expect(info.tables["b"]?.overflowPageCount == 3)
        #expect(info.lastTransaction == 3)
    }
}
