import Foundation
import Locking
import StrataGraph
import StrataModel
import StrataStore
import StrataTestSupport
import Testing

/// Clocks that jump, and disks that are full.
@Suite struct SharedHardshipTests {
    private func note(_ text: String, in store: Store) throws {
        let entity = try #require(store.schema.entity(named: "Note"))
        var changes = ChangeSet(base: try store.head(), modelVersion: store.schema.version)
        var builder = RowBuilder(entity.layout)
        try builder.set(try #require(entity.property(named: "text")).slot, .string(text))
        changes.insertions.append(.init(id: try store.newObjectID(in: entity.id), image: try builder.finish()))
        guard case .saved = try store.save(changes) else { throw StrataError(.merge, "stale") }
    }

    /// Each store's clock jumps by days, in both directions, with every look at it.
    @Test func theOrderDoesNotDependOnClocks() throws {
        let log = MemoryLog()
        let stores = try (0..<3).map { number in
            let random = Locked(SeededGenerator(seed: UInt64(number) + 1))
            var options = StoreOptions()
            options.sharedLog = log.connection()
            options.clock = {
                let jump = random.withLock { Double.random(in: -1e6...1e6, using: &$0) }
                return Date(timeIntervalSince1970: 1_800_000_000 + jump)
            }
            return try Store.open(.inMemory, model: try RaceWorld.model(), options: options)
        }
        defer { for store in stores { store.close() } }
        for number in 0..<60 { try note("\(number)", in: stores[number % 3]) }
        for store in stores { try store.catchUp() }
        let dates = try stores[0].transactions(limit: .max).map(\.microseconds)
        #expect(zip(dates, dates.dropFirst()).allSatisfy { $0 < $1 })
        #expect(Set(try stores.map { try $0.logPosition() }).count == 1)
        #expect(log.transactions.count == dates.count)
        for store in stores { #expect(try store.verify().isSound) }
    }

    /// The map of a store's file is full while the views of a save are written, which the log already has.
    @Test(arguments: TestLog.all) func aMapThatGrowsDoublesNothing(log: TestLog) throws {
        for length in stride(from: 500, to: 4_500, by: 1_000) {
            let connection = try log.make()
            var options = StoreOptions()
            options.sharedLog = connection
            options.mapSizeInBytes = 256 << 10
            let store = try Store.open(.inMemory, model: try RaceWorld.model(), options: options)
            defer { store.close() }
            let start = try store.transactions(limit: .max).count
            for number in 0..<100 { try note("\(number) " + String(repeating: "x", count: length), in: store) }
            let client = try connection.connect()
            defer { client.close() }
            let made = try store.transactions(limit: .max)
            #expect(made.count == start + 100 && Set(made.map(\.id)).count == made.count)
            #expect(try client.readAll().map(\.id) == made.map(\.id))
            #expect(try store.verify().isSound)
        }
    }

    /// A store whose own disk is full says so, keeps what it has, and goes on when there is room. What the log took is
    /// there once, whatever the store could write of it.
    @Test(.enabled(if: MountedDisk.isPermitted, "mounting a file system is not permitted here"))
    func aFullDiskLosesAndDoublesNothing() throws {
        let log = MemoryLog()
        let disk = try MountedDisk(sizeInBytes: 6 << 20)
        let full = try RaceWorld.container(
            at: .url(disk.root.appending(path: "full")), log: PersistentStoreLog(log.connection()))
        let other = try RaceWorld.container(at: .inMemory, log: PersistentStoreLog(log.connection()))
        defer {
            full.close()
            other.close()
        }
        var history = SharedHistory()
        var codes: Set<StrataError.Code> = []
        let text = String(repeating: "much ", count: 10_000)
        func save(_ author: String, _ container: PersistentContainer, node: Int) throws {
            let begin = ContinuousClock.now
            var outcome = SharedHistory.Outcome.acknowledged
            let context = container.newBackgroundContext()
            context.transactionAuthor = author
            do {
                try context.insertNewObject(forEntityName: "Note").setValue(text, forKey: "text")
                try context.save()
            } catch let error as StrataError {
                codes.insert(error.code)
                outcome = error.code == .noSpace ? .refused : .unknown
            }
            history.saves.append(.init(author: author, node: node, begin: begin, end: .now, outcome: outcome))
        }
        for number in 0..<200 {
            try save("full \(number)", full, node: 0)
            if number % 20 == 0 { try save("other \(number)", other, node: 1) }
        }
        #expect(!codes.isEmpty && codes.isSubset(of: [.noSpace, .inDoubt]))
        try disk.grow(toBytes: 64 << 20)
        try save("at last", full, node: 0)
        try full.catchUp()
        try other.catchUp()
        try history.take(log.transactions)
        history.ends = try [full, other].map { try $0.store.logPosition().digest }
        history.views = try [full, other].map { "\(try RaceWorld.state($0.newBackgroundContext()))" }
        #expect(history.violations == [])
        #expect(history.saves.last?.outcome == .acknowledged)
        #expect(try full.verify().isSound)
    }
}
