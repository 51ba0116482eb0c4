import StrataModel

/// A hash table from object ids to small values, in one block of memory.
///
/// The ids of eight consecutive rows hash to neighbours, because the ids in a log come roughly in that order (linear
/// probing after D. E. Knuth, "The Art of Computer Programming", vol. 3, 6.4). Single objects are never removed.
struct ObjectTable<Value: BitwiseCopyable>: ~Copyable {
    private struct Slot: BitwiseCopyable {
        /// 0 in an empty slot: no object has this id.
        var id: UInt64
        var value: Value
    }

    private let empty: Slot
    private var slots = UnsafeMutableBufferPointer<Slot>(start: nil, count: 0)
    private(set) var count = 0

    /// - Parameter filler: any value; it fills empty slots.
    init(filler: Value) { empty = Slot(id: 0, value: filler) }

    deinit { slots.deallocate() }

    subscript(_ id: ObjectID) -> Value? {
        guard count > 0 else { return nil }
        let slot = slots[index(of: id.rawValue)]
        return slot.id == 0 ? nil : slot.value
    }

    /// - Returns: the object's previous value.
    @discardableResult
    mutating func set(_ id: ObjectID, to value: Value) -> Value? {
        if count * 2 >= slots.count { grow() }
        let index = index(of: id.rawValue)
        let before = slots[index]
        if before.id == 0 { count += 1 }
        slots[index] = Slot(id: id.rawValue, value: value)
        return before.id == 0 ? nil : before.value
    }

    /// Removes all values and keeps the memory.
    mutating func removeAll() {
        if count > 0 { slots.update(repeating: empty) }
        count = 0
    }

    /// In no particular order.
    func forEach(_ body: (ObjectID, Value) throws -> Void) rethrows {
        for slot in slots where slot.id != 0 { try body(ObjectID(rawValue: slot.id), slot.value) }
    }

    /// The slot of an id, or the empty slot where it would be.
    private func index(of id: UInt64) -> Int {
        let mask = slots.count - 1
        let block = (id >> 3) &* 0x9E37_79B9_7F4A_7C15 >> 32
        var index = Int(truncatingIfNeeded: block << 3 | id & 7) & mask
        while slots[index].id != 0, slots[index].id != id { index = (index + 1) & mask }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = .allocate(capacity: max(64, old.count * 2))
        slots.initialize(repeating: empty)
        for slot in old where slot.id != 0 { slots[index(of: slot.id)] = slot }
        old.deallocate()
    }
}
