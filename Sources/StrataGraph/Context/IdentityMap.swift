import StrataModel

/// The objects of one context by id: one object for each id.
///
/// Row numbers are unique in the store whatever the entity, and objects made or read together have neighbouring ones;
/// so objects stand in pages of eight rows. A page is 72 bytes inside one table with open addressing: objects in a row
/// take 18 to 36 bytes each, scattered ones at most 288, and a lookup touches two cache lines.
///
/// Layout of a page: one word `(row / 8 + 1) << 8 | occupied` (0 is a gap in the table), then eight references.
struct IdentityMap: ~Copyable {
    private var table: UnsafeMutableRawPointer
    /// Pages there is room for; a power of two.
    private var capacity: Int
    private var pageCount = 0
    private(set) var count = 0

    private static let pageSize = 72
    private static let rowsInPage = 8
    private static let smallestCapacity = 16
    /// What is kept after a sweep: room for the scattered objects that come before the next one.
    private static let leastSweptCapacity = ManagedObjectContext.leastSweepThreshold * 2

    init() {
        capacity = Self.smallestCapacity
        table = Self.emptyTable(capacity)
    }

    deinit {
        for place in 0..<capacity { clear(place) }
        table.deallocate()
    }

    private static func emptyTable(_ capacity: Int) -> UnsafeMutableRawPointer {
        let table = UnsafeMutableRawPointer.allocate(byteCount: capacity * pageSize, alignment: 8)
        for place in 0..<capacity {
            (table + place &* pageSize).initializeMemory(as: UInt64.self, to: 0)
        }
        return table
    }

    // MARK: Pages

    @inline(__always)
    private func header(_ place: Int) -> UnsafeMutablePointer<UInt64> {
        (table + place &* Self.pageSize).assumingMemoryBound(to: UInt64.self)
    }

    @inline(__always)
    private func objects(_ place: Int) -> UnsafeMutablePointer<ManagedObject?> {
        (table + (place &* Self.pageSize &+ 8)).assumingMemoryBound(to: ManagedObject?.self)
    }

    /// The place of the row's page, or of the gap where it belongs.
    @inline(__always)
    private func find(_ row: UInt64) -> Int {
        let key = row >> 3 &+ 1
        var place = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & (capacity &- 1)
        while true {
            let word = header(place).pointee
            if word == 0 || word >> 8 == key { return place }
            place = (place &+ 1) & (capacity &- 1)
        }
    }

    /// Lets go of the objects of a page; the page itself stays.
    private func clear(_ place: Int) {
        var rest = header(place).pointee & 0xFF
        while rest != 0 {
            objects(place)[rest.trailingZeroBitCount] = nil
            rest &= rest - 1
        }
    }

    // MARK: Objects

    subscript(_ id: ObjectID) -> ManagedObject? {
        let row = id.row
        let place = find(row)
        guard header(place).pointee != 0, let object = objects(place)[Int(row & 7)] else { return nil }
        return object.objectID == id ? object : nil
    }

    mutating func insert(_ object: ManagedObject) {
        let row = object.objectID.row
        var place = find(row)
        if header(place).pointee == 0 {
            if pageCount &* 2 >= capacity {
                rehash(capacity * 2)
                place = find(row)
            }
            header(place).pointee = (row >> 3 &+ 1) << 8
            (table + (place * Self.pageSize + 8)).initializeMemory(
                as: ManagedObject?.self, repeating: nil, count: Self.rowsInPage)
            pageCount += 1
        }
        let bit = UInt64(1) << (row & 7)
        if header(place).pointee & bit == 0 { count += 1 }
        header(place).pointee |= bit
        objects(place)[Int(row & 7)] = object
    }

    mutating func remove(_ id: ObjectID) {
        let place = find(id.row)
        let bit = UInt64(1) << (id.row & 7)
        guard header(place).pointee & bit != 0 else { return }
        header(place).pointee &= ~bit
        objects(place)[Int(id.row & 7)] = nil
        count -= 1
    }

    /// Calls `body` with every object; `body` may add and remove some, which it need not see.
    func forEach(_ body: (ManagedObject) throws -> Void) rethrows {
        var all = ContiguousArray<ManagedObject>()
        all.reserveCapacity(count)
        for place in 0..<capacity {
            var rest = header(place).pointee & 0xFF
            while rest != 0 {
                if let object = objects(place)[rest.trailingZeroBitCount] { all.append(object) }
                rest &= rest - 1
            }
        }
        for object in all { try body(object) }
    }

    // MARK: Sweeping

    /// Lets go of every object that nobody else holds.
    ///
    /// Changed objects are held by the context's lists. The page's reference is the only one exactly when nothing can
    /// reach the object any more, so dropping it changes nothing but memory.
    mutating func sweep() {
        var remaining = 0
        for place in 0..<capacity {
            let word = header(place).pointee
            var rest = word & 0xFF
            var kept = rest
            while rest != 0 {
                let bit = rest.trailingZeroBitCount
                rest &= rest - 1
                guard isKnownUniquelyReferenced(&objects(place)[bit]) else { continue }
                objects(place)[bit] = nil
                kept &= ~(1 << UInt64(bit))
                count -= 1
            }
            header(place).pointee = word & ~0xFF | kept
            if kept != 0 { remaining += 1 }
        }
        var fitting = Self.smallestCapacity
        while fitting < remaining * 4 { fitting *= 2 }
        // A table that was full and is swept empty is about to be filled again.
        fitting = max(fitting, min(capacity, Self.leastSweptCapacity), capacity / 4)
        if remaining == 0, fitting == capacity {
            for place in 0..<capacity { header(place).pointee = 0 }
            pageCount = 0
        } else {
            rehash(fitting)
        }
    }

    /// Moves the pages into a table of `newCapacity`; empty ones go.
    private mutating func rehash(_ newCapacity: Int) {
        let (old, oldCapacity) = (table, capacity)
        table = Self.emptyTable(newCapacity)
        capacity = newCapacity
        pageCount = 0
        for oldPlace in 0..<oldCapacity {
            let page = old + oldPlace * Self.pageSize
            let word = page.load(as: UInt64.self)
            guard word & 0xFF != 0 else { continue }
            let place = find((word >> 8 - 1) << 3)
            header(place).pointee = word
            (table + (place * Self.pageSize + 8)).moveInitializeMemory(
                as: ManagedObject?.self, from: (page + 8).assumingMemoryBound(to: ManagedObject?.self),
                count: Self.rowsInPage)
            pageCount += 1
        }
        old.deallocate()
    }
}
