import StrataModel

/// The objects of one context by id: one object for each id.
///
/// A table with open addressing of places of 16 bytes, an id and a reference, at most half full: 32 to 64 bytes an object,
/// and a lookup touches one cache line. Row numbers are unique in the store whatever the entity, and objects made or read
/// together have neighbouring ones, so eight rows in a row hash to eight places in a row.
struct IdentityMap: ~Copyable {
    /// One place of the table; without an object the id is `gap`, or `removed` where a search must go on.
    private struct Place {
        var id: UInt64
        var object: ManagedObject?

        static let gap: UInt64 = 0
        /// Entity 0xFFFF is never given.
        static let removed = UInt64.max
    }

    private var table: UnsafeMutablePointer<Place>
    /// A power of two.
    private var capacity: Int
    /// Places that are no gap.
    private var used = 0
    private(set) var count = 0

    private static let smallestCapacity = 16
    /// What is kept after a sweep: room for the objects that come before the next one.
    private static let leastSweptCapacity = ManagedObjectContext.leastSweepThreshold * 2

    init() {
        capacity = Self.smallestCapacity
        table = Self.emptyTable(capacity)
    }

    deinit {
        table.deinitialize(count: capacity)
        table.deallocate()
    }

    private static func emptyTable(_ capacity: Int) -> UnsafeMutablePointer<Place> {
        let table = UnsafeMutablePointer<Place>.allocate(capacity: capacity)
        table.initialize(repeating: Place(id: Place.gap, object: nil), count: capacity)
        return table
    }

    // MARK: Objects

    /// The place of the id, or the gap that ends the search for it.
    @inline(__always)
    private func find(_ id: UInt64) -> Int {
        let row = id & 0xFFFF_FFFF_FFFF
        let hash = (row >> 3 &* 0x9E37_79B9_7F4A_7C15) >> 32
        var place = Int(truncatingIfNeeded: hash << 3 | row & 7) & (capacity &- 1)
        while true {
            let found = table[place].id
            if found == id || found == Place.gap { return place }
            place = (place &+ 1) & (capacity &- 1)
        }
    }

    subscript(_ id: ObjectID) -> ManagedObject? { table[find(id.rawValue)].object }

    mutating func insert(_ object: ManagedObject) {
        let id = object.objectID.rawValue
        var place = find(id)
        if table[place].id == Place.gap {
            if used &* 2 >= capacity {
                move(toTableOf: count &* 4 > capacity ? capacity * 2 : capacity)
                place = find(id)
            }
            used += 1
            count += 1
            table[place].id = id
        }
        table[place].object = object
    }

    mutating func remove(_ id: ObjectID) {
        let place = find(id.rawValue)
        guard table[place].id != Place.gap else { return }
        table[place].id = Place.removed
        count -= 1
        table[place].object = nil
    }

    /// Calls `body` with every object; `body` may add and remove some, which it need not see.
    func forEach(_ body: (ManagedObject) throws -> Void) rethrows {
        var all = ContiguousArray<ManagedObject>()
        all.reserveCapacity(count)
        for place in 0..<capacity {
            if let object = table[place].object { all.append(object) }
        }
        for object in all { try body(object) }
    }

    // MARK: Sweeping

    /// Lets go of every object that nobody else holds.
    ///
    /// Changed objects are held by the context's lists. The table's reference is the only one exactly when nothing can
    /// reach the object any more, so dropping it changes nothing but memory.
    mutating func sweep() {
        for place in 0..<capacity {
            guard isKnownUniquelyReferenced(&table[place].object) else { continue }
            table[place].id = Place.removed
            count -= 1
            table[place].object = nil
        }
        var fitting = Self.smallestCapacity
        while fitting < count * 4 { fitting *= 2 }
        // A table that was full and is swept empty is about to be filled again.
        fitting = max(fitting, min(capacity, Self.leastSweptCapacity), capacity / 4)
        if count == 0, fitting == capacity {
            for place in 0..<capacity { table[place].id = Place.gap }
            used = 0
        } else {
            move(toTableOf: fitting)
        }
    }

    /// Moves the objects into a table of `newCapacity`; what is left of removed ones goes.
    private mutating func move(toTableOf newCapacity: Int) {
        let (old, oldCapacity) = (table, capacity)
        table = Self.emptyTable(newCapacity)
        capacity = newCapacity
        used = count
        for oldPlace in 0..<oldCapacity where old[oldPlace].object != nil {
            let place = find(old[oldPlace].id)
            swap(&table[place], &old[oldPlace])
        }
        old.deinitialize(count: oldCapacity)
        old.deallocate()
    }
}
