import StrataModel

/// The objects of one context by id: one object for each id.
///
/// Row numbers are unique in the store whatever the entity, and objects made or read together have neighbouring
/// ones; so objects stand in pages of 64 rows, found by open addressing over the page's number.
struct IdentityMap: ~Copyable {
    private struct Page {
        /// One bit an occupied place.
        var occupied: UInt64
        let places: UnsafeMutablePointer<ManagedObject?>
    }

    private var keys: UnsafeMutablePointer<UInt64>
    private var pages: UnsafeMutablePointer<Page>
    /// A power of two.
    private var capacity: Int
    private var pageCount = 0
    private(set) var count = 0

    private static let emptyKey = UInt64.max

    init() {
        capacity = 16
        keys = .allocate(capacity: 16)
        keys.initialize(repeating: Self.emptyKey, count: 16)
        pages = .allocate(capacity: 16)
    }

    deinit {
        for place in 0..<capacity where keys[place] != Self.emptyKey {
            pages[place].places.deinitialize(count: 64)
            pages[place].places.deallocate()
        }
        keys.deallocate()
        pages.deallocate()
    }

    private static func home(_ key: UInt64, _ capacity: Int) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & (capacity - 1)
    }

    /// The place of the page, or of the gap where it belongs.
    private func find(_ key: UInt64) -> Int {
        var place = Self.home(key, capacity)
        while keys[place] != key, keys[place] != Self.emptyKey { place = (place + 1) & (capacity - 1) }
        return place
    }

    subscript(_ id: ObjectID) -> ManagedObject? {
        let row = id.row
        let place = find(row >> 6)
        guard keys[place] != Self.emptyKey, let object = pages[place].places[Int(row & 63)] else { return nil }
        return object.objectID == id ? object : nil
    }

    mutating func insert(_ object: ManagedObject) {
        let row = object.objectID.row
        var place = find(row >> 6)
        if keys[place] == Self.emptyKey {
            if pageCount * 2 >= capacity {
                grow()
                place = find(row >> 6)
            }
            addPage(row >> 6, at: place)
        }
        let bit = UInt64(1) << (row & 63)
        if pages[place].occupied & bit == 0 { count += 1 }
        pages[place].occupied |= bit
        pages[place].places[Int(row & 63)] = object
    }

    mutating func remove(_ id: ObjectID) {
        let place = find(id.row >> 6)
        let bit = UInt64(1) << (id.row & 63)
        guard keys[place] != Self.emptyKey, pages[place].occupied & bit != 0 else { return }
        pages[place].occupied &= ~bit
        pages[place].places[Int(id.row & 63)] = nil
        count -= 1
    }

    private mutating func addPage(_ key: UInt64, at place: Int) {
        let places = UnsafeMutablePointer<ManagedObject?>.allocate(capacity: 64)
        places.initialize(repeating: nil, count: 64)
        keys[place] = key
        (pages + place).initialize(to: Page(occupied: 0, places: places))
        pageCount += 1
    }

    private mutating func grow() { rehash(capacity * 2) }

    /// Moves the pages into a table of `newCapacity`; empty ones are freed.
    private mutating func rehash(_ newCapacity: Int) {
        let (oldKeys, oldPages, oldCapacity) = (keys, pages, capacity)
        capacity = newCapacity
        keys = .allocate(capacity: capacity)
        keys.initialize(repeating: Self.emptyKey, count: capacity)
        pages = .allocate(capacity: capacity)
        pageCount = 0
        for old in 0..<oldCapacity where oldKeys[old] != Self.emptyKey {
            if oldPages[old].occupied == 0 {
                oldPages[old].places.deinitialize(count: 64)
                oldPages[old].places.deallocate()
                continue
            }
            let place = find(oldKeys[old])
            keys[place] = oldKeys[old]
            (pages + place).initialize(to: oldPages[old])
            pageCount += 1
        }
        oldKeys.deallocate()
        oldPages.deallocate()
    }

    func forEach(_ body: (ManagedObject) throws -> Void) rethrows {
        for place in 0..<capacity where keys[place] != Self.emptyKey {
            var rest = pages[place].occupied
            while rest != 0 {
                let bit = rest.trailingZeroBitCount
                rest &= rest - 1
                if let object = pages[place].places[bit] { try body(object) }
            }
        }
    }

    /// Lets go of every object that nobody else holds.
    ///
    /// Changed objects are held by the context's lists. The page's reference is the only one exactly when nothing can
    /// reach the object any more, so dropping it changes nothing but memory.
    mutating func sweep() {
        for place in 0..<capacity where keys[place] != Self.emptyKey {
            var rest = pages[place].occupied
            while rest != 0 {
                let bit = rest.trailingZeroBitCount
                rest &= rest - 1
                guard isKnownUniquelyReferenced(&pages[place].places[bit]) else { continue }
                pages[place].places[bit] = nil
                pages[place].occupied &= ~(1 << UInt64(bit))
                count -= 1
            }
        }
        rehash(Self.powerOfTwo(atLeast: occupiedPages * 4))
    }

    private var occupiedPages: Int {
        var sum = 0
        for place in 0..<capacity where keys[place] != Self.emptyKey && pages[place].occupied != 0 { sum += 1 }
        return sum
    }

    private static func powerOfTwo(atLeast number: Int) -> Int {
        var power = 16
        while power < number { power *= 2 }
        return power
    }
}
