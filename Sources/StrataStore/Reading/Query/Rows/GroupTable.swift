import LMDB
import StrataModel

/// Numbers groups by their keys: 0 for the first key it meets, 1 for the next new one.
///
/// Keys are in one buffer and are found by open addressing, so a row of a known group needs no allocation.
struct GroupTable: ~Copyable {
    private struct Group {
        let offset: Int
        let count: Int
        let hash: UInt64
    }

    private var keys = ByteWriter(capacity: 4096)
    private var groups: [Group] = []
    /// Group number + 1, or 0 for a free slot. Their number is a power of two; at most half are taken.
    private var slots = [UInt32](repeating: 0, count: 64)

    var count: Int { groups.count }

    /// The number of the group with this key.
    mutating func number(of key: UnsafeRawBufferPointer) -> (group: Int, isNew: Bool) {
        let hash = XXH64.hash(key)
        let mask = UInt64(slots.count - 1)
        var slot = hash & mask
        while slots[Int(slot)] != 0 {
            let number = Int(slots[Int(slot)]) - 1
            let group = groups[number]
            if group.hash == hash, bytes(of: group).isSame(as: key) { return (number, false) }
            slot = (slot + 1) & mask
        }
        slots[Int(slot)] = UInt32(groups.count + 1)
        groups.append(Group(offset: keys.count, count: key.count, hash: hash))
        keys.append(key)
        if groups.count * 2 > slots.count { grow() }
        return (groups.count - 1, true)
    }

    /// The number of the group with this key; nil if there is none.
    func knownNumber(of key: UnsafeRawBufferPointer) -> Int? {
        let hash = XXH64.hash(key)
        let mask = UInt64(slots.count - 1)
        var slot = hash & mask
        while slots[Int(slot)] != 0 {
            let number = Int(slots[Int(slot)]) - 1
            if groups[number].hash == hash, bytes(of: groups[number]).isSame(as: key) { return number }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The key of a group; valid until the next new group.
    func key(_ number: Int) -> UnsafeRawBufferPointer { bytes(of: groups[number]) }

    /// Group numbers in the order of their keys.
    func inKeyOrder() -> [Int] {
        // Most keys differ in their first sixteen bytes, which are compared as one number.
        let entries = groups.indices.map { (start: Self.start(of: bytes(of: groups[$0])), number: $0) }
        return entries.sorted { left, right in
            if left.start != right.start { return left.start < right.start }
            return bytes(of: groups[left.number]).compare(with: bytes(of: groups[right.number])) < 0
        }.map(\.number)
    }

    /// The first sixteen bytes of a key, with zeros behind a shorter one.
    private static func start(of key: UnsafeRawBufferPointer) -> UInt128 {
        var start: UInt128 = 0
        withUnsafeMutableBytes(of: &start) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: key.prefix(16))) }
        return start.bigEndian
    }

    private func bytes(of group: Group) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: keys.bytes[group.offset..<group.offset + group.count])
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 4)
        let mask = UInt64(slots.count - 1)
        for (number, group) in groups.enumerated() {
            var slot = group.hash & mask
            while slots[Int(slot)] != 0 { slot = (slot + 1) & mask }
            slots[Int(slot)] = UInt32(number + 1)
        }
    }
}
