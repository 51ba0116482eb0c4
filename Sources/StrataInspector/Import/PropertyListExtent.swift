/// Counts the values of a binary property list before it is read.
///
/// Its containers name their members by number, and may name one many times: a few hundred bytes can unfold to more
/// values than fit into memory. Foundation unfolds them all at once. The layout is that of CFBinaryPlist.c: objects,
/// then a table of their offsets, then a trailer of 32 bytes.
struct PropertyListExtent {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let root: Int
    private let table: Int
    /// The number of values that each object unfolds to; 0 if not known yet.
    private var extents: [Int]
    private static let mostLevels = 200

    /// - Returns: nil if it is no binary property list, or one that nothing can read.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Array("bplist00".utf8)), bytes.count >= 40 else { return nil }
        self.bytes = bytes
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        func number(_ offset: Int) -> Int? { Self.number(bytes, at: trailer + offset, size: 8) }
        guard let objectCount = number(8), let root = number(16), let table = number(24), 1...8 ~= offsetSize,
            1...8 ~= referenceSize, objectCount <= bytes.count, root < objectCount, table < trailer,
            objectCount * offsetSize <= trailer - table
        else { return nil }
        (self.objectCount, self.root, self.table) = (objectCount, root, table)
        extents = [Int](repeating: 0, count: objectCount)
    }

    /// Whether the list has more values than `limit`, inner ones counted, or is nested too deep.
    mutating func exceeds(_ limit: Int) -> Bool { extent(of: root, level: 0, limit) > limit }

    /// The number of values that an object unfolds to; more than `limit` if that is reached, or for too many levels.
    private mutating func extent(of object: Int, level: Int, _ limit: Int) -> Int {
        guard object < objectCount else { return 1 }
        if extents[object] > 0 { return extents[object] }
        guard level < Self.mostLevels else { return limit + 1 }
        var total = 1
        for member in members(of: object) {
            total += extent(of: member, level: level + 1, limit)
            if total > limit { break }
        }
        extents[object] = total
        return total
    }

    /// The objects that a container names; none for other objects.
    private func members(of object: Int) -> [Int] {
        guard var offset = Self.number(bytes, at: table + object * offsetSize, size: offsetSize), offset < table else {
            return []
        }
        let marker = bytes[offset]
        // Arrays, sets and dictionaries.
        guard [0xA0, 0xB0, 0xC0, 0xD0].contains(marker & 0xF0) else { return [] }
        var count = Int(marker & 0x0F)
        offset += 1
        if count == 15 {
            guard offset < table, bytes[offset] & 0xF0 == 0x10 else { return [] }
            let size = 1 << Int(bytes[offset] & 0x0F)
            guard size <= 8, let long = Self.number(bytes, at: offset + 1, size: size) else { return [] }
            count = long
            offset += 1 + size
        }
        guard count <= (table - offset) / referenceSize else { return [] }
        if marker & 0xF0 == 0xD0 { count = min(2 * count, (table - offset) / referenceSize) }
        return (0..<count).map { Self.number(bytes, at: offset + $0 * referenceSize, size: referenceSize) ?? 0 }
    }

    private static func number(_ bytes: [UInt8], at offset: Int, size: Int) -> Int? {
        guard offset >= 0, offset + size <= bytes.count else { return nil }
        let number = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: number).flatMap { $0 < 1 << 48 ? $0 : nil }
    }
}
