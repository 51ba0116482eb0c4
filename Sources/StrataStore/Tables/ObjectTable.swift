import StrataModel

/// A hash table from object ids to small values, in one block of memory.
///
/// The ids of eight consecutive rows hash to neighbours, because the ids in a log come roughly in that order (linear
/// probing after D. E. Knuth, "The Art of Computer Programming", vol. 3, 6.4). Single objects are never removed.
struct ObjectTable<Value: BitwiseCopyable>: ~Copyable {
    private struct Place: BitwiseCopyable {
        /// 0 in an empty slot: no object has this id.
        var id: UInt64
        var value: Value
    }

    private let empty: Place
    private var places = UnsafeMutableBufferPointer<Place>(start: nil, count: 0)
    private(set) var count = 0

    /// - Parameter filler: any value; it fills empty slots.
    init(filler: Value) { empty = Place(id: 0, value: filler) }

    deinit { places.deallocate() }

    subscript(_ id: ObjectID) -> Value? {
        guard count > 0 else { return nil }
        let place = places[index(of: id.rawValue)]
        return place.id == 0 ? nil : place.value
    }

    /// - Returns: the object's previous value.
    @discardableResult
    mutating func set(_ id: ObjectID, to value: Value) -> Value? {
        if count * 2 >= places.count { grow() }
        let index = index(of: id.rawValue)
        let before = places[index]
        if before.id == 0 { count += 1 }
        places[index] = Place(id: id.rawValue, value: value)
        return before.id == 0 ? nil : before.value
    }

    /// Removes all values and keeps the memory.
    mutating func removeAll() {
        if count > 0 { places.update(repeating: empty) }
        count = 0
    }

    /// In no particular order.
    func forEach(_ body: (ObjectID, Value) throws -> Void) rethrows {
        for place in places where place.id != 0 { try body(ObjectID(rawValue: place.id), place.value) }
    }

    /// The slot of an id, or the empty slot where it would stand.
    private func index(of id: UInt64) -> Int {
        let mask = places.count - 1
        let block = (id >> 3) &* 0x9E37_79B9_7F4A_7C15 >> 32
        var index = Int(truncatingIfNeeded: block << 3 | id & 7) & mask
        while places[index].id != 0, places[index].id != id { index = (index + 1) & mask }
        return index
    }

    private mutating func grow() {
        let old = places
        places = .allocate(capacity: max(64, old.count * 2))
        places.initialize(repeating: empty)
        for place in old where place.id != 0 { places[index(of: place.id)] = place }
        old.deallocate()
    }
}
