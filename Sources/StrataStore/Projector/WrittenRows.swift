import StrataModel

/// Where the rows are that a batch has written or removed: a hash table of ids, which stand in one block of memory.
///
/// Ids of eight rows in a row hash to neighbours (linear probing after D. E. Knuth, "The Art of Computer Programming",
/// vol. 3, 6.4), since the rows of a log come in about that order. Rows are never taken out one by one.
struct WrittenRows: ~Copyable {
    /// A row whose new value is in the batch, with its bytes; or one that is gone.
    enum Row {
        case removed
        case written(offset: Int, size: Int)
    }

    private struct Place {
        /// 0 in an empty place: no object has it.
        var id: UInt64
        var offset: Int
        /// -1 for a row that was removed.
        var size: Int
    }

    private var places = UnsafeMutableBufferPointer<Place>(start: nil, count: 0)
    private var count = 0

    deinit { places.deallocate() }

    subscript(_ id: ObjectID) -> Row? {
        guard count > 0 else { return nil }
        let place = places[index(of: id.rawValue)]
        guard place.id != 0 else { return nil }
        return place.size < 0 ? .removed : .written(offset: place.offset, size: place.size)
    }

    mutating func note(_ id: ObjectID, _ row: Row) {
        if count * 2 >= places.count { grow() }
        let index = index(of: id.rawValue)
        if places[index].id == 0 { count += 1 }
        switch row {
        case .removed: places[index] = Place(id: id.rawValue, offset: 0, size: -1)
        case .written(let offset, let size): places[index] = Place(id: id.rawValue, offset: offset, size: size)
        }
    }

    /// Forgets all, keeps the memory.
    mutating func removeAll() {
        if count > 0 { places.update(repeating: Place(id: 0, offset: 0, size: 0)) }
        count = 0
    }

    /// The place of an id, or the empty one where it would stand.
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
        places.initialize(repeating: Place(id: 0, offset: 0, size: 0))
        for place in old where place.id != 0 { places[index(of: place.id)] = place }
        old.deallocate()
    }
}
