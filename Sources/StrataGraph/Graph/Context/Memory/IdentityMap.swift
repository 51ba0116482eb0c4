import StrataModel

/// The objects of one context by id: one object for each id.
///
/// A table with open addressing of buckets of 16 bytes, an id and a reference, at most half full: 32 to 64 bytes an
/// object, and a lookup touches one cache line. Row numbers are unique in the store whatever the entity, and objects
/// made or read together have neighbouring ones, so eight rows in a row hash to eight buckets in a row.
struct IdentityMap: ~Copyable {
    /// One bucket of the table; without an object the id is `gap`, or `removed` where a search must go on.
    private struct Bucket {
        var id: UInt64
        var object: ManagedObject?

        static let gap: UInt64 = 0
        /// Entity 0xFFFF is never given.
        static let removed = UInt64.max
    }

    private var table: UnsafeMutablePointer<Bucket>
    /// A power of two.
    private var capacity: Int
    /// Buckets that are no gap.
    private var used = 0
    private(set) var count = 0
    /// Sweeping step by step goes down the table: the bucket behind the next one to be looked at, and the objects that
    /// were found held since it began at the end.
    private var hand = 0
    private var heldCount = 0

    private static var smallestCapacity: Int { 16 }
    /// The least capacity that is kept after a sweep: room for the objects that come before the next one.
    private static var leastSweptCapacity: Int { ContextMemory.leastSweepThreshold * 2 }
    /// Buckets that a step of sweeping looks at.
    private static var stepLength: Int { 16 }

    init() {
        capacity = Self.smallestCapacity
        table = Self.emptyTable(capacity)
    }

    deinit {
        table.deinitialize(count: capacity)
        table.deallocate()
    }

    private static func emptyTable(_ capacity: Int) -> UnsafeMutablePointer<Bucket> {
        let table = UnsafeMutablePointer<Bucket>.allocate(capacity: capacity)
        table.initialize(repeating: Bucket(id: Bucket.gap, object: nil), count: capacity)
        return table
    }

    // MARK: Objects

    /// The bucket of the id, or the gap that ends the search for it.
    @inline(__always)
    private func find(_ id: UInt64) -> Int {
        let row = id & 0xFFFF_FFFF_FFFF
        let hash = (row >> 3 &* 0x9E37_79B9_7F4A_7C15) >> 32
        var bucket = Int(truncatingIfNeeded: hash << 3 | row & 7) & (capacity &- 1)
        while true {
            let found = table[bucket].id
            if found == id || found == Bucket.gap { return bucket }
            bucket = (bucket &+ 1) & (capacity &- 1)
        }
    }

    @inline(__always)
    subscript(_ id: ObjectID) -> ManagedObject? { table[find(id.rawValue)].object }

    mutating func insert(_ object: ManagedObject) {
        let id = object.objectID.rawValue
        var bucket = find(id)
        if table[bucket].id == Bucket.gap {
            if used &* 2 >= capacity {
                move(toTableOf: count &* 4 > capacity ? capacity * 2 : capacity)
                bucket = find(id)
            }
            used += 1
            count += 1
            table[bucket].id = id
        }
        table[bucket].object = object
    }

    mutating func remove(_ id: ObjectID) {
        let bucket = find(id.rawValue)
        if table[bucket].id != Bucket.gap { _ = take(bucket) }
    }

    /// Takes the object out of its bucket. Where no search goes on behind it the bucket is a gap again, and so are
    /// removed ones before it.
    private mutating func take(_ bucket: Int) -> ManagedObject? {
        let object = table[bucket].object.take()
        count -= 1
        table[bucket].id = Bucket.removed
        guard table[(bucket + 1) & (capacity - 1)].id == Bucket.gap else { return object }
        var last = bucket
        while table[last].id == Bucket.removed {
            table[last].id = Bucket.gap
            used -= 1
            last = (last - 1) & (capacity - 1)
        }
        return object
    }

    /// Calls `body` with every object; `body` may add and remove some, which it need not see.
    func forEach(_ body: (ManagedObject) throws -> Void) rethrows {
        var all = ContiguousArray<ManagedObject>()
        all.reserveCapacity(count)
        for bucket in 0..<capacity {
            if let object = table[bucket].object { all.append(object) }
        }
        for object in all { try body(object) }
    }

    // MARK: Sweeping

    /// The result of a step of sweeping.
    enum SweepStep {
        /// An object that only the map held, taken out.
        case released(ManagedObject)
        /// Objects that are held, or none.
        case nothing
        /// The last bucket of the table, after this number of objects that are held.
        case end(heldCount: Int)
    }

    /// Looks for an object that only the map holds in the next few buckets.
    ///
    /// The context takes a few such steps for each object it makes, so that freed memory is reused while it is in the
    /// processor's cache. The caller releases the object, because its deinitializer may use the map.
    mutating func sweepStep() -> SweepStep {
        for _ in 0..<Self.stepLength {
            if hand == 0 {
                defer { beginRound() }
                return .end(heldCount: heldCount)
            }
            hand -= 1
            guard table[hand].object != nil else { continue }
            if isKnownUniquelyReferenced(&table[hand].object), let object = take(hand) { return .released(object) }
            heldCount += 1
        }
        return .nothing
    }

    private mutating func beginRound() {
        let fitting = fittingCapacity
        if fitting * 4 <= capacity { move(toTableOf: fitting * 2) }
        hand = capacity
        heldCount = 0
    }

    private var fittingCapacity: Int {
        var fitting = Self.smallestCapacity
        while fitting < count * 4 { fitting *= 2 }
        return max(fitting, min(capacity, Self.leastSweptCapacity))
    }

    /// Releases every object that only the map holds.
    ///
    /// Changed objects are held by the context's lists. The table's reference is the only one exactly when nothing can
    /// reach the object any more, so dropping it changes nothing but memory.
    mutating func sweep() {
        for bucket in 0..<capacity { release(bucket) }
        // A table that was full and is swept empty is about to be filled again.
        let fitting = max(fittingCapacity, capacity / 4)
        if count == 0, fitting == capacity {
            for bucket in 0..<capacity { table[bucket].id = Bucket.gap }
            used = 0
        } else {
            move(toTableOf: fitting)
        }
    }

    /// Releases the object if only the map holds it; a sweep must follow.
    ///
    /// Objects that were made together lie together in memory, in the order of their ids; in the table's order their
    /// memory would be given back here and there.
    mutating func release(_ id: ObjectID) { release(find(id.rawValue)) }

    @inline(__always)
    private mutating func release(_ bucket: Int) {
        guard isKnownUniquelyReferenced(&table[bucket].object) else { return }
        table[bucket].id = Bucket.removed
        count -= 1
        table[bucket].object = nil
    }

    /// Moves the objects into a table of `newCapacity`; what is left of removed ones goes.
    private mutating func move(toTableOf newCapacity: Int) {
        let (old, oldCapacity) = (table, capacity)
        table = Self.emptyTable(newCapacity)
        capacity = newCapacity
        used = count
        hand = newCapacity
        heldCount = 0
        for oldBucket in 0..<oldCapacity where old[oldBucket].object != nil {
            let bucket = find(old[oldBucket].id)
            swap(&table[bucket], &old[oldBucket])
        }
        old.deinitialize(count: oldCapacity)
        old.deallocate()
    }
}
