import LMDB
import StrataModel

/// Draws a sample of an index: rows picked at random, their keys, and how many entries share them.
///
/// It reads the base tables without layers, since estimates need not be exact. It takes about a hundred seeks and a few
/// thousand steps, whatever the size of the store.
struct StatisticsSampler {
    private let snapshot: Snapshot
    private static let size = 96
    /// Counting of entries with the same beginning ends here.
    private static let mostNeighbours = 512
    /// The number of keys for which such entries are counted.
    private static let counted = 24
    private static let keyLimit = 32

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    func index(_ index: IndexSchema, rows: Int) throws -> IndexStatistics? {
        guard let declaring = snapshot.schema.entity(index.entityID) else { return nil }
        let prepared = try IndexMap.of(snapshot.schema).index(index.id)
        var writer = ByteWriter()
        var keys: [[UInt8]] = []
        var looked = 0
        try forEachSampledRow(of: declaring.concreteEntityIDs.compactMap(snapshot.schema.entity)) { id, row in
            looked += 1
            let entity = snapshot.schema.entity(id.entityID) ?? declaring
            if try IndexKeys.write(index, of: entity, row, entity.layout, id, snapshot.schema, into: &writer) {
                keys.append(Array(writer.bytes))
            }
        }
        guard looked > 0 else { return nil }
        let share = Double(keys.count) / Double(looked)
        let groups = try groupSizes(keys, rows: Int(Double(rows) * share), prepared)
        let sample = keys.map { Array($0.dropFirst(4).dropLast(8).prefix(Self.keyLimit)) }
        return IndexStatistics(
            rows: rows, share: share, groupSizes: groups,
            sample: sample.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// The average number of members of one owner, from the counters of owners picked at random.
    func members(of link: PropertyID, owners: [EntitySchema]) throws -> Double? {
        var total = 0, looked = 0
        try forEachSampledRow(of: owners) { id, _ in
            total += try snapshot.counter(.members(link, owner: id))
            looked += 1
        }
        return looked == 0 ? nil : Double(total) / Double(looked)
    }

    /// Returns the average number of entries that share each number of leading elements with an entry. They are counted
    /// for some keys; for large groups the number follows from the pairs of the sample that agree.
    private func groupSizes(_ keys: [[UInt8]], rows: Int, _ prepared: IndexMap.PreparedIndex) throws -> [Double] {
        guard keys.count > 1 else { return prepared.index.elements.map { _ in 1 } }
        let lengths = keys.map { key in prepared.codec.prefixLengths(of: Array(key.dropFirst(4).dropLast(8))) }
        return try prepared.index.elements.indices.map { index in
            let prefixes = zip(keys, lengths).map { Array($0[..<(4 + $1[index])]) }
            var sizes: [[UInt8]: Int] = [:]
            for prefix in prefixes { sizes[prefix, default: 0] += 1 }
            let pairs = sizes.values.reduce(0) { $0 + $1 * ($1 - 1) / 2 }
            if pairs >= 6 { return Double(rows) * Double(pairs) / Double(keys.count * (keys.count - 1) / 2) }
            let step = max(1, prefixes.count / Self.counted)
            var total = 0, looked = 0
            for index in stride(from: 0, to: prefixes.count, by: step) {
                total += try neighbours(prefixes[index])
                looked += 1
            }
            return max(1, Double(total) / Double(looked))
        }
    }

    /// The number of entries that begin with these bytes.
    private func neighbours(_ prefix: [UInt8]) throws -> Int {
        try prefix.withUnsafeBytes { prefix in
            try snapshot.tables.indexes.withCursor(snapshot.transaction) { cursor in
                var count = 0
                var isThere = try cursor.seek(atOrAfter: prefix)
                while isThere, cursor.key.hasPrefix(prefix), count < Self.mostNeighbours {
                    count += 1
                    isThere = try cursor.advance()
                }
                return count
            }
        }
    }

    private func forEachSampledRow(
        of entities: [EntitySchema], _ body: (ObjectID, RowReader) throws -> Void
    ) throws {
        var total = 0
        var counts: [Int] = []
        for entity in entities {
            counts.append(try snapshot.counter(.entity(entity.id)))
            total += counts[counts.count - 1]
        }
        guard total > 0 else { return }
        for (entity, count) in zip(entities, counts) where count > 0 {
            try sample(entity, max(4, Self.size * count / total), body)
        }
    }

    /// Rows at random positions between the entity's first and last.
    private func sample(
        _ entity: EntitySchema, _ size: Int, _ body: (ObjectID, RowReader) throws -> Void
    ) throws {
        try snapshot.transaction.withCursor(snapshot.tables.objects) { cursor in
            let lowest = ObjectID(entity: entity.id, row: 0).rawValue
            guard try cursor.seek(atOrAfter: lowest) else { return }
            let first = StoreKey.lastObjectID(cursor.key)
            guard first.entityID == entity.id, try cursor.seek(before: lowest &+ (1 << 48)) else { return }
            let last = StoreKey.lastObjectID(cursor.key)
            // The random numbers depend on the ids only, so that estimates do not change by themselves.
            var state = first.rawValue ^ last.rawValue
            for _ in 0..<size {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let candidate = first.rawValue + (state >> 12) % (last.rawValue - first.rawValue + 1)
                guard try cursor.seek(atOrAfter: candidate) else { continue }
                let id = StoreKey.lastObjectID(cursor.key)
                try snapshot.storedRow(cursor.value, id).withNewestReader(id, snapshot.schema) { try body(id, $0) }
            }
        }
    }
}

extension IndexKeyCodec {
    /// The offset of each element's end in a key; an element that was cut ends with the key.
    func prefixLengths(of key: [UInt8]) -> [Int] {
        var offset = 0
        return elements.map { element in
            offset = min(key.count, offset + length(of: element, in: key[offset...]))
            return offset
        }
    }

    private func length(of element: Element, in key: ArraySlice<UInt8>) -> Int {
        let mask: UInt8 = element.isAscending ? 0 : 0xFF
        guard let first = key.first, first ^ mask != 0 else { return 1 }
        switch element.kind {
        case .integer, .double, .date, .objectID: return 9
        case .uuid, .encrypted: return 17
        case .text, .data:
            var offset = key.startIndex + 1
            while offset < key.endIndex - 1 {
                if key[offset] ^ mask == 0, key[offset + 1] ^ mask == 1 { return offset + 2 - key.startIndex }
                offset += key[offset] ^ mask == 0 ? 2 : 1
            }
            return key.count
        case .decimal:
            // Class, scale, pairs of digits up to a zero; inverted for negative numbers except the class.
            guard key.count > 2 else { return key.count }
            let kind = key[key.startIndex + 1] ^ mask
            if kind == 2 || kind == 4 { return 2 }
            let end: UInt8 = (kind == 1 ? 0xFF : 0) ^ mask
            let rest = key.dropFirst(4)
            return (rest.firstIndex(of: end) ?? rest.endIndex) + 1 - key.startIndex
        }
    }
}
