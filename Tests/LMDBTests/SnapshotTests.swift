import Foundation
@testable import LMDB
import Synchronization
import Testing

/// A reader's number is that of the commit whose records it sees.
@Suite struct SnapshotTests {
    let store = TemporaryStore()

    /// Commits without a sync, and more readers than cores: some are held up in the middle of beginning, for as long as
    /// many commits take.
    @Test(arguments: [false, true]) func aReaderSeesTheCommitThatItsNumberSays(isNew: Bool) throws {
        let environment = try store.open { $0.durability = .disposable }
        let table = try environment.openTables(["t"])[0]
        func commit() throws {
            try environment.write { transaction in
                try transaction.put(table, 1, withUnsafeBytes(of: transaction.number) { Array($0) })
            }
        }
        try commit()
        let isOver = Atomic(false)
        let reads = Atomic(0)
        let wrong = Mutex<[String]>([])
        let done = DispatchGroup()
        for _ in 0..<8 {
            done.enter()
            Thread.detachNewThread {
                defer { done.leave() }
                do {
                    while !isOver.load(ordering: .relaxed) {
                        // While one is held, a reader takes another, which may be a new one.
                        let kept = isNew ? try environment.beginRead() : nil
                        defer { if let kept { environment.end(kept) } }
                        for _ in 0..<(isNew ? 1 : 100) {
                            try environment.read { transaction in
                                let seen = try transaction.get(table, 1)?.loadUnaligned(as: UInt64.self)
                                reads.add(1, ordering: .relaxed)
                                guard seen != transaction.number else { return }
                                wrong.withLock { $0.append("\(transaction.number) sees \(seen ?? 0)") }
                            }
                        }
                    }
                } catch {
                    wrong.withLock { $0.append("\(error)") }
                }
            }
        }
        let end = ContinuousClock.now + .seconds(2)
        var commits = 0
        while ContinuousClock.now < end {
            try commit()
            commits += 1
        }
        isOver.store(true, ordering: .relaxed)
        done.wait()
        #expect(commits > 100 && reads.load(ordering: .relaxed) > 1000)
        let found = wrong.withLock { $0 }
        #expect(
            found.isEmpty, "\(found.count) of \(reads.load(ordering: .relaxed)), \(commits) commits: \(found.prefix(5))"
        )
        try environment.close()
    }

    @Test func twoReadersSeeTheSameCommitWhileOthersCommit() throws {
        let environment = try store.open { $0.durability = .disposable }
        let table = try environment.openTables(["t"])[0]
        @Sendable func commit(_ number: UInt64) throws {
            try environment.write { transaction in
                try transaction.put(table, 1, withUnsafeBytes(of: number) { Array($0) })
            }
        }
        try commit(1)
        #expect(try environment.readTwice { $1 != nil })
        let isOver = Atomic(false)
        let failures = Mutex<[String]>([])
        let done = DispatchGroup()
        done.enter()
        Thread.detachNewThread {
            defer { done.leave() }
            do {
                var number: UInt64 = 1
                while !isOver.load(ordering: .relaxed) {
                    number += 1
                    try commit(number)
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        var pairs = 0
        let end = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < end {
            try environment.readTwice { first, second in
                guard let second else { return }
                pairs += 1
                let seen = try [first, second].map { try $0.get(table, 1)?.loadUnaligned(as: UInt64.self) }
                if seen[0] != seen[1] { failures.withLock { $0.append("\(seen)") } }
            }
        }
        isOver.store(true, ordering: .relaxed)
        done.wait()
        #expect(pairs > 0)
        #expect(failures.withLock { $0 } == [])
        try environment.close()
    }

    @Test func whereThereIsNoSecondReaderThereIsOne() throws {
        let environment = try store.open { $0.maximumReaders = 2 }
        let held = try environment.beginRead()
        #expect(try environment.readTwice { $1 == nil })
        environment.end(held)
        #expect(try environment.readTwice { $1 != nil })
        try environment.close()
    }
}
