import StrataModel
import StrataTestSupport
import Testing

/// Blocks of events: what was packed is read again, and no bytes of any kind trap.
struct EventBlockTests {
    /// Events that follow each other, of a few kinds and entities, with what a block does not hold set to 0.
    private struct World {
        var generator: SeededGenerator
        let saltsFollow: Bool
        private var previous: UInt64 = 1
        private var row: UInt64 = 1

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
            saltsFollow = seed % 2 == 0
        }

        private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

        mutating func event() -> [UInt8] {
            let kind = [EventKind.inserted, .updated, .deleted, .linked][min(3, random(0...9))]
            let isErased = random(0...15) == 0
            let entity = EntityID(rawValue: UInt16(random(1...3)))
            row = random(0...3) == 0 ? UInt64(random(1...100_000)) : row + 1
            previous = random(0...3) == 0 ? UInt64(random(1...1 << 40)) : previous + 2
            let size = random(0...20) == 0 ? random(0...3000) : kind == .linked ? 36 : random(20...90)
            var payload: [UInt8] = (0..<size).map { UInt8($0 % 7) }
            for _ in 0..<random(0...12) where size > 0 { payload[random(0...size - 1)] = UInt8(random(0...255)) }
            let header = EventHeader(
                kind: kind, flags: isErased ? .redacted : .none, object: ObjectID(entity: entity, row: row),
                transaction: TransactionNumber(rawValue: UInt64(random(7...8))),
                previous: EventNumber(rawValue: previous),
                payloadSize: isErased ? random(0...4000) : payload.count)
            var bytes = [UInt8](repeating: 0, count: EventHeader.size) + payload
            bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { header.encode(into: base) } }
            if isErased {
                let digest = EventHeader.digestOffset..<EventHeader.saltOffset
                for offset in digest { bytes[offset] = UInt8(random(0...255)) }
            } else if !saltsFollow {
                for offset in EventHeader.saltOffset..<EventHeader.size { bytes[offset] = UInt8(random(0...255)) }
            }
            return bytes
        }
    }

    /// Packs events into blocks; an event that fits into none is left out.
    private static func packed(_ events: [[UInt8]], saltsFollow: Bool) -> (blocks: [[UInt8]], packed: [[[UInt8]]]) {
        var builder = EventBlockBuilder(saltsFollow: saltsFollow)
        var blocks: [[UInt8]] = []
        var packed: [[[UInt8]]] = []
        var waiting: [[UInt8]] = []
        let copies = events.map { event in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: event.count, alignment: 8)
            copy.copyBytes(from: event)
            return copy
        }
        defer { for copy in copies { copy.deallocate() } }
        func finish(_ builder: inout EventBlockBuilder) {
            guard builder.count > 0 else { return }
            blocks.append(builder.finish(secret: saltsFollow ? [UInt8](repeating: 9, count: 16) : []))
            packed.append(waiting)
            waiting = []
        }
        for (event, copy) in zip(events, copies) {
            if !builder.add(UnsafeRawBufferPointer(copy)) {
                finish(&builder)
                guard builder.add(UnsafeRawBufferPointer(copy)) else { continue }
            }
            waiting.append(event)
        }
        finish(&builder)
        return (blocks, packed)
    }

    private static func read(_ block: [UInt8], with reader: EventBlockReader) throws -> [[UInt8]] {
        try block.withUnsafeBytes { bytes in
            try reader.open(bytes)
            var events: [[UInt8]] = []
            while try reader.next() { events.append(Array(reader.record)) }
            reader.close()
            return events
        }
    }

    @Test(arguments: RandomTesting.seeds) func packedEventsAreReadAgain(seed: UInt64) throws {
        var world = World(seed: seed)
        let events = (0..<2000).map { _ in world.event() }
        let (blocks, packed) = Self.packed(events, saltsFollow: world.saltsFollow)
        let reader = EventBlockReader()
        var count = 0
        for (block, expected) in zip(blocks, packed) {
            #expect(block.count <= EventBlock.largestSize && block.count >= EventBlock.smallestSize)
            #expect(try Self.read(block, with: reader) == expected, "seed \(seed)")
            count += expected.count
        }
        #expect(count > 1800, "seed \(seed): \(count)")
    }

    @Test(arguments: RandomTesting.seeds.prefix(3)) func anEventIsReadWithoutThoseBeforeIt(seed: UInt64) throws {
        var world = World(seed: seed)
        let events = (0..<200).map { _ in world.event() }
        let (blocks, packed) = Self.packed(events, saltsFollow: world.saltsFollow)
        let reader = EventBlockReader()
        for (block, expected) in zip(blocks, packed) {
            try block.withUnsafeBytes { bytes in
                try reader.open(bytes)
                for index in expected.indices.reversed() {
                    reader.rewind()
                    for _ in 0..<index { try reader.skip() }
                    #expect(try reader.next())
                    #expect(Array(reader.record) == expected[index], "seed \(seed)")
                }
            }
        }
    }

    @Test func rowsOfOneKindTakeWhatDiffers() throws {
        let events = (0..<20).map { index in
            var event = [UInt8](repeating: 0, count: EventHeader.size) + [UInt8](repeating: 5, count: 100)
            let header = EventHeader(
                kind: .inserted, object: ObjectID(entity: EntityID(rawValue: 1), row: UInt64(100 + index)),
                transaction: TransactionNumber(rawValue: 4), previous: .zero, payloadSize: 100)
            event.withUnsafeMutableBytes { if let base = $0.baseAddress { header.encode(into: base) } }
            event[EventHeader.size + 50] = UInt8(index)
            return event
        }
        let (blocks, packed) = Self.packed(events, saltsFollow: true)
        try #require(blocks.count == 1)
        // One byte for each event, and what is written once.
        #expect(blocks[0].count < 20 + 200)
        #expect(try Self.read(blocks[0], with: EventBlockReader()) == packed[0])
    }

    @Test func everyDamagedByteIsNoticed() throws {
        var world = World(seed: 2)
        let (blocks, _) = Self.packed((0..<12).map { _ in world.event() }, saltsFollow: true)
        let reader = EventBlockReader()
        for offset in blocks[0].indices {
            var damaged = blocks[0]
            damaged[offset] ^= 0x10
            #expect(throws: CorruptRecord.self, "byte \(offset)") { try Self.read(damaged, with: reader) }
        }
        for size in 0..<blocks[0].count {
            #expect(throws: CorruptRecord.self) { try Self.read(Array(blocks[0][..<size]), with: reader) }
        }
    }

    /// Bytes that somebody made up, with a checksum that matches: read, or refused.
    @Test(arguments: RandomTesting.seeds) func madeUpBytesNeverTrap(seed: UInt64) throws {
        var world = World(seed: seed)
        let (blocks, _) = Self.packed((0..<60).map { _ in world.event() }, saltsFollow: world.saltsFollow)
        let reader = EventBlockReader()
        var refused = 0
        for round in 0..<4000 {
            var bytes = blocks[round % blocks.count]
            for _ in 0...Int.random(in: 0...3, using: &world.generator) {
                let end = Bool.random(using: &world.generator) ? min(60, bytes.count) : bytes.count
                bytes[Int.random(in: 1..<end, using: &world.generator)] = UInt8.random(
                    in: 0...255, using: &world.generator)
            }
            if round % 5 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count - 12, using: &world.generator)) }
            bytes.withUnsafeMutableBytes { EventHeader.seal($0) }
            do {
                for event in try Self.read(bytes, with: reader) { #expect(event.count >= EventHeader.size) }
            } catch is CorruptRecord {
                refused += 1
            }
        }
        #expect(refused > 100, "seed \(seed)")
    }

    @Test func aBlockHasTheBytesOfItsLayout() throws {
        let events: [[UInt8]] = (0..<2).map { index in
            let payload: [UInt8] = [1, UInt8(7 + index)] + (index == 0 ? [] : [3])
            var event = [UInt8](repeating: 0, count: EventHeader.size) + payload
            let header = EventHeader(
                kind: .updated, object: ObjectID(rawValue: UInt64(5 + index)),
                transaction: TransactionNumber(rawValue: 9), previous: EventNumber(rawValue: UInt64(2 + 3 * index)),
                payloadSize: event.count - EventHeader.size)
            event.withUnsafeMutableBytes { if let base = $0.baseAddress { header.encode(into: base) } }
            return event
        }
        // The groups of events are told apart by the beginning of the payload.
        let (blocks, _) = Self.packed([events[0], events[0]], saltsFollow: true)
        var expected: [UInt8] = [2, 1, 2, 0, 0, 0, 0, 0, 1, 0] + [UInt8](repeating: 9, count: 16)
        // Size of the head, no rest, not verbatim, no steps; nothing differs.
        expected += [74, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 10)
        // Bytes 0, 1, 8, 16, 24, 72, 73 are not 0.
        expected += [0b11, 0b1, 0b1, 0b1, 0, 0, 0, 0, 0, 0b11]
        expected += [1, 2, 5, 9, 2, 1, 7]
        expected.withUnsafeMutableBytes { EventHeader.seal($0) }
        #expect(blocks == [expected])
        let (others, _) = Self.packed([events[0], events[1]], saltsFollow: false)
        #expect(others.first?[8] == 2 && others.first?[10..<12] == [0, 1])
    }
}
