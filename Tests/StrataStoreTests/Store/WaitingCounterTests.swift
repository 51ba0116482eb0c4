import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// Counters of members beside entries of links that wait.
@Suite struct WaitingCounterTests {
    /// Links of a few owners, beside the sets that they should be.
    private final class World {
        let environment: Environment
        var tables: StoreTables
        var random: SeededGenerator
        var members: [ObjectID: Set<UInt64>] = [:]
        static let link = PropertyID(rawValue: 7)

        init(seed: UInt64, _ limits: BufferLimits) throws {
            (environment, tables) = try BareTables.make()
            tables.bufferLimits = limits
            random = SeededGenerator(seed: seed)
        }

        /// Adds some and removes some, and counts them, as the projector does.
        func batch(_ changes: Int) throws {
            var batch = WriteBatch(tables: tables)
            batch.removesWhatStands = true
            for _ in 0..<changes {
                let owner = ObjectID(rawValue: 1 << 48 | random.next() % 12)
                let member = random.next() % 40
                let isRemoval = members[owner, default: []].remove(member) != nil
                if !isRemoval { members[owner, default: []].insert(member) }
                StoreKey.withLink(Self.link, owner: owner, position: nil, member: ObjectID(rawValue: 2 << 48 | member))
                {
                    if isRemoval { batch.remove(.links, key: $0) } else { batch.put(.links, key: $0, value: .empty) }
                }
                batch.add(isRemoval ? -1 : 1, to: .members(Self.link, owner: owner))
            }
            // Counters of entities are among them.
            batch.add(1, to: .entity(EntityID(rawValue: 1)))
            try environment.write { try batch.flush(into: $0) }
        }

        /// Every counter as it stands, by the key of its owner.
        func walked() throws -> [[UInt8]: Int64] {
            try environment.read { transaction in
                try CounterCursor.with(tables, transaction) { cursor in
                    var cursor = cursor
                    var counters: [[UInt8]: Int64] = [:]
                    var last: [UInt8] = []
                    var found = try cursor.first()
                    while found {
                        #expect(last.lexicographicallyPrecedes(cursor.key))
                        last = Array(cursor.key)
                        counters[last] = try CounterKey.value(cursor.value)
                        found = try cursor.advance()
                    }
                    return counters
                }
            }
        }

        /// What the table of counters itself says.
        func written() throws -> [[UInt8]: Int64] {
            var counters: [[UInt8]: Int64] = [:]
            try environment.read { transaction in
                try transaction.withCursor(tables.counts) { cursor in
                    while try cursor.next() { counters[Array(cursor.key)] = try CounterKey.value(cursor.value) }
                }
            }
            return counters
        }

        func expected(batches: Int) -> [[UInt8]: Int64] {
            var expected = [Self.key(.entity(EntityID(rawValue: 1))): Int64(batches)]
            for (owner, members) in members where !members.isEmpty {
                expected[Self.key(.members(Self.link, owner: owner))] = Int64(members.count)
            }
            return expected
        }

        static func key(_ counter: CounterKey) -> [UInt8] { counter.withBytes { Array($0) } }
    }

    @Test(arguments: RandomTesting.seeds, [false, true])
    func countersLeaveOutWhatWaits(seed: UInt64, isEager: Bool) throws {
        let world = try World(
            seed: seed,
            isEager
                ? .eager
                : BufferLimits(fewestPages: 1, mostEntriesForEachPage: 12, fewestLeaving: 10, sizeInRoots: 8))
        var roundsThatWait = 0
        for round in 1...40 {
            try world.batch(Int(world.random.next() % (round % 5 == 4 ? 200 : 10)))
            let expected = world.expected(batches: round)
            #expect(try world.walked() == expected)
            if try world.written() != expected { roundsThatWait += 1 }
            try expectCountersOfTheMainTable(world)
            if world.random.next() % 2 == 0 { try world.environment.write { try BufferFold.run(world.tables, $0) } }
        }
        #expect(roundsThatWait > 0)
        // When nothing waits any more they are the counters of all.
        world.tables.bufferLimits = BufferLimits(fewestPages: 0, fewestLeaving: 1_000_000, sizeInRoots: -1)
        try world.environment.write { try BufferFold.run(world.tables, $0) }
        #expect(try world.written() == world.expected(batches: 40))
        try world.environment.close()
    }

    /// Stores that were made before counters waited.
    @Test(arguments: RandomTesting.seeds.prefix(3)) func olderStoresCountAtOnce(seed: UInt64) throws {
        let world = try World(seed: seed, .eager)
        world.tables.countsWait = false
        for round in 1...20 {
            try world.batch(Int(world.random.next() % 20))
            #expect(try world.written() == world.expected(batches: round))
            #expect(try world.walked() == world.expected(batches: round))
            try world.environment.write { try BufferFold.run(world.tables, $0) }
        }
        try world.environment.close()
    }

    private func expectCountersOfTheMainTable(_ world: World) throws {
        var entries: [[UInt8]: Int64] = [:]
        try world.environment.read { transaction in
            try transaction.withCursor(world.tables.links.main) { cursor in
                while try cursor.next() { entries[Array(cursor.key.prefix(12)), default: 0] += 1 }
            }
        }
        #expect(try world.written().filter { $0.key.count == 12 } == entries)
    }
}
