import LMDB
import StrataModel
import StrataTestSupport
import Testing

@testable import StrataStore

/// A table and its buffers beside a set that was told the same.
@Suite struct BufferedTableTests {
    private final class World {
        let environment: Environment
        var tables: StoreTables
        var random: SeededGenerator
        var expected: Set<[UInt8]> = []
        /// Keys that stood once.
        var gone: Set<[UInt8]> = []
        /// After how many batches removals waited.
        var batchesWithRemovals = 0
        /// Whether batches leave the greatest key alone.
        var isLastKept = false

        init(_ limits: BufferLimits, seed: UInt64) throws {
            (environment, tables) = try BareTables.make()
            tables.bufferLimits = limits
            random = SeededGenerator(seed: seed)
        }

        var sorted: [[UInt8]] { expected.sorted { $0.lexicographicallyPrecedes($1) } }

        func key() -> [UInt8] {
            // Few beginnings, so that neighbours are found again, and ends of several lengths.
            [UInt8(random.next() % 3), UInt8(random.next() & 255)]
                + (0..<Int(8 + random.next() % 3)).map { _ in UInt8(random.next() & 255) }
        }

        /// New entries, some of which stood before, removals, and removals of what is put again.
        func batch(_ puts: Int) throws {
            var batch = WriteBatch(tables: tables)
            batch.removesWhatStands = random.next() % 2 == 0
            for key in gone.sorted(by: { $0.lexicographicallyPrecedes($1) }) where random.next() % 3 == 0 {
                key.withUnsafeBytes { batch.put(.indexes, key: $0, value: .empty) }
                gone.remove(key)
                expected.insert(key)
            }
            for key in isLastKept ? sorted.dropLast() : sorted[...] where random.next() % 12 == 0 {
                key.withUnsafeBytes { batch.remove(.indexes, key: $0) }
                if random.next() % 2 == 0 {
                    key.withUnsafeBytes { batch.put(.indexes, key: $0, value: .empty) }
                } else {
                    expected.remove(key)
                    gone.insert(key)
                    // Whoever removes a key twice does no harm, nor who removes what comes and goes in one batch.
                    if random.next() % 4 == 0 { key.withUnsafeBytes { batch.remove(.indexes, key: $0) } }
                    if random.next() % 4 == 0 {
                        let passing = self.key()
                        guard !expected.contains(passing) else { continue }
                        passing.withUnsafeBytes { batch.put(.indexes, key: $0, value: .empty) }
                        passing.withUnsafeBytes { batch.remove(.indexes, key: $0) }
                    }
                }
            }
            for _ in 0..<puts {
                let key = key()
                guard expected.insert(key).inserted else { continue }
                key.withUnsafeBytes { batch.put(.indexes, key: $0, value: .empty) }
            }
            try environment.write { try batch.flush(into: $0) }
            if try counts().removals > 0 { batchesWithRemovals += 1 }
            // As before the next save.
            if random.next() % 3 > 0 { try environment.write { try BufferFold.run(tables, $0) } }
        }

        func counts() throws -> (main: Int, buffer: Int, removals: Int) {
            let (buffer, removals) = (tables.indexes.buffer, tables.indexes.removals)
            return try environment.read {
                (
                    try $0.count(tables.indexes.main), try buffer.map($0.count) ?? 0, try removals.map($0.count) ?? 0
                )
            }
        }

        /// All keys of one of the tables.
        func keys(_ table: Table) throws -> Set<[UInt8]> {
            var keys: Set<[UInt8]> = []
            try environment.read { transaction in
                try transaction.withCursor(table) { cursor in
                    while try cursor.next() { keys.insert(Array(cursor.key)) }
                }
            }
            return keys
        }

        func read<R>(_ body: (inout EntryCursor) throws -> R) throws -> R {
            try environment.read { try tables.indexes.withCursor($0, body) }
        }
    }

    private static let shapes = [
        BufferLimits.eager,
        BufferLimits(fewestPages: 1, mostEntriesForEachPage: 1_000_000, fewestLeaving: 50, sizeInRoots: 4),
        BufferLimits(fewestPages: 2, mostEntriesForEachPage: 20, fewestLeaving: 10, sizeInRoots: 10),
        BufferLimits(fewestPages: 1, mostEntriesForEachPage: 100, fewestLeaving: 5, sizeInRoots: 0),
    ]

    @Test(arguments: RandomTesting.seeds, shapes.indices)
    func theTablesTogetherHoldWhatWasPut(seed: UInt64, shape: Int) throws {
        let world = try World(Self.shapes[shape], seed: seed)
        for round in 0..<40 {
            try world.batch(Int(world.random.next() % (round % 7 == 6 ? 900 : 60)))
            if round % 4 == 0 { _ = try expectEachStandsOnce(world) }
            try expectSame(world)
        }
        // In the third most batches go where they belong.
        #expect(world.batchesWithRemovals > 0 || shape == 2)
        try world.environment.close()
    }

    /// Stores that were made before removals waited.
    @Test(arguments: RandomTesting.seeds.prefix(3), shapes.indices)
    func withoutRemovalsEntriesGoAtOnce(seed: UInt64, shape: Int) throws {
        let world = try World(Self.shapes[shape], seed: seed)
        world.tables = world.tables.withoutRemovals
        #expect(world.tables.indexes.removals == nil && world.tables.indexes.buffer != nil)
        for _ in 0..<20 {
            try world.batch(Int(world.random.next() % 60))
            #expect(try expectEachStandsOnce(world) == 0)
            try expectSame(world)
        }
        try world.environment.close()
    }

    /// What is in the buffer is not in the main table, and what waits to be removed is there.
    ///
    /// - Returns: how many removals wait.
    private func expectEachStandsOnce(_ world: World) throws -> Int {
        let indexes = world.tables.indexes
        let main = try world.keys(indexes.main)
        let buffer = try indexes.buffer.map(world.keys) ?? []
        let removals = try indexes.removals.map(world.keys) ?? []
        #expect(main.isDisjoint(with: buffer) && removals.isSubset(of: main))
        #expect(main.union(buffer).subtracting(removals) == world.expected)
        return removals.count
    }

    private func expectSame(_ world: World) throws {
        let sorted = world.sorted
        let indexes = world.tables.indexes
        #expect(try world.environment.read { try indexes.count($0) } == sorted.count)
        #expect(try Self.all(world) { try $0.first() } == sorted)
        for _ in 0..<4 {
            let low = world.random.next() % 2 == 0 ? world.key() : sorted.randomElement(using: &world.random) ?? [1]
            let high = world.key()
            #expect(
                try Self.all(world) { cursor in try low.withUnsafeBytes { try cursor.seek(atOrAfter: $0) } }
                    == sorted.filter { !$0.lexicographicallyPrecedes(low) })
            for included in [false, true] {
                let below = sorted.filter {
                    $0.lexicographicallyPrecedes(low) || included && $0 == low
                }
                #expect(
                    try Self.all(world) { cursor in
                        try low.withUnsafeBytes { try cursor.seek(before: $0, orAt: included) }
                    } == below.reversed())
            }
            let inside = sorted.filter { !$0.lexicographicallyPrecedes(low) && $0.lexicographicallyPrecedes(high) }
            for limit in [1, 10, Int.max] {
                let count = try world.read { cursor in
                    try low.withUnsafeBytes { low in
                        guard try cursor.seek(atOrAfter: low) else { return 0 }
                        return try high.withUnsafeBytes { try cursor.count(below: $0, atMost: limit) }
                    }
                }
                #expect(count == min(limit, inside.count))
            }
            #expect(
                try world.environment.read { transaction in
                    try low.withUnsafeBytes { try indexes.contains($0, transaction) }
                } == world.expected.contains(low))
            try expectSameGroups(world, low, high, inside)
        }
    }

    private static func all(_ world: World, _ start: (inout EntryCursor) throws -> Bool) throws -> [[UInt8]] {
        try world.read { cursor in
            var found: [[UInt8]] = []
            var isThere = try start(&cursor)
            while isThere {
                found.append(Array(cursor.key))
                isThere = try cursor.advance()
            }
            return found
        }
    }

    private func expectSameGroups(_ world: World, _ low: [UInt8], _ high: [UInt8], _ inside: [[UInt8]]) throws {
        var groups: [[UInt64]] = []
        try world.environment.read { transaction in
            try world.tables.indexes.withCursors(transaction) { main, buffer in
                try low.withUnsafeBytes { low in
                    try high.withUnsafeBytes { high in
                        var first = try EntryGroups(main, from: low, below: high)
                        guard let buffer else {
                            while let group = try first.next({ _ in 2 }) {
                                groups.append([group.first.rawValue, UInt64(group.count)])
                            }
                            return
                        }
                        var second = try EntryGroups(MainCursor(buffer), from: low, below: high)
                        try first.merge(&second, { _ in 2 }) { groups.append([$0.rawValue, UInt64($1)]) }
                        #expect(first.isWhole && second.isWhole)
                    }
                }
            }
        }
        let expected = Dictionary(grouping: inside) { Array($0.prefix(2)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { _, keys in
                [keys.map { $0.withUnsafeBytes { StoreKey.lastObjectID($0).rawValue } }.min() ?? 0, UInt64(keys.count)]
            }
        #expect(groups == expected)
    }

    /// As `verify` looks for entries: some hundred bytes of keys at a time, in any order, in both tables.
    @Test(arguments: RandomTesting.seeds.prefix(3)) func expectedKeysAreFoundOrNamed(seed: UInt64) throws {
        let world = try World(.eager, seed: seed)
        for _ in 0..<10 { try world.batch(60) }
        let counts = try world.counts()
        #expect(counts.main > 0 && counts.buffer > 0 && counts.removals > 0)
        let absent = Set((0..<50).map { _ in world.key() }).union(world.gone).subtracting(world.expected)
        var keys = ExpectedKeys(world.tables.indexes, mostBytes: 300)
        var (missing, lookUps) = ([[UInt8]](), 0)
        try world.environment.read { transaction in
            for key in world.sorted.shuffled(using: &world.random) + Array(absent) {
                key.withUnsafeBytes { keys.add($0) }
                guard keys.isFull else { continue }
                lookUps += 1
                try keys.lookUp(transaction) { missing.append(Array($0)) }
            }
            try keys.lookUp(transaction) { missing.append(Array($0)) }
        }
        #expect(lookUps > 2)
        #expect(missing.count == absent.count && Set(missing) == absent)
        #expect(keys.foundCount == world.expected.count)
        try world.environment.close()
    }

    @Test func aBufferStaysSmallAndEveryEntryHasItsTurn() throws {
        let world = try World(
            BufferLimits(fewestPages: 1, mostEntriesForEachPage: 1_000_000, fewestLeaving: 20, sizeInRoots: 2), seed: 1)
        for _ in 0..<200 { try world.batch(20) }
        try world.environment.write { try BufferFold.run(world.tables, $0) }
        let (main, buffer, removals) = try world.counts()
        #expect(buffer + removals <= Int(2 * Double(main).squareRoot()) + 20, "\(buffer), \(removals) of \(main)")
        #expect(main > 0)
        try world.environment.close()
    }

    @Test(arguments: RandomTesting.seeds.prefix(3))
    func aBatchWithManyEntriesForEachPageEmptiesTheBufferBetweenItsKeys(seed: UInt64) throws {
        let world = try World(
            BufferLimits(fewestPages: 1, mostEntriesForEachPage: 40, fewestLeaving: 1_000_000, sizeInRoots: 1000),
            seed: seed)
        try world.batch(500)
        for _ in 0..<5 { try world.batch(10) }
        // Behind all that follows.
        let last: [UInt8] = [255] + Array(repeating: 7, count: 9)
        var batch = WriteBatch(tables: world.tables)
        last.withUnsafeBytes { batch.put(.indexes, key: $0, value: .empty) }
        world.expected.insert(last)
        try world.environment.write { try batch.flush(into: $0) }
        #expect(try world.counts().buffer > 1)
        world.isLastKept = true
        try world.batch(5000)
        #expect(try world.counts().buffer == 1)
        try expectSame(world)
        try world.environment.close()
    }

    /// In a damaged store an entry may be removed that is not there. Who puts it again finds it.
    @Test func whatWasRemovedWithoutBeingThereIsPutAgain() throws {
        let world = try World(.eager, seed: 5)
        for _ in 0..<5 { try world.batch(30) }
        let key = world.key()
        var batch = WriteBatch(tables: world.tables)
        batch.removesWhatStands = true
        key.withUnsafeBytes { batch.remove(.indexes, key: $0) }
        try world.environment.write { try batch.flush(into: $0) }
        #expect(try world.keys(#require(world.tables.indexes.removals)).contains(key))
        key.withUnsafeBytes { batch.put(.indexes, key: $0, value: .empty) }
        try world.environment.write { try batch.flush(into: $0) }
        world.expected.insert(key)
        _ = try expectEachStandsOnce(world)
        try expectSame(world)
        try world.environment.close()
    }

    @Test func droppingTakesAll() throws {
        let world = try World(.eager, seed: 3)
        for _ in 0..<10 { try world.batch(30) }
        let counts = try world.counts()
        #expect(counts.buffer > 0 && counts.removals > 0)
        try world.environment.write { try $0.drop(world.tables.indexes.parts) }
        #expect(try world.counts() == (0, 0, 0))
        try world.environment.close()
    }
}
