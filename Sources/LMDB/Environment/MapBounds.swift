import Synchronization

/// The addresses at which LMDB has mapped the data file: values outside them are damage.
///
/// `lower` and `mapEnd` change only while no transaction is open; `upper` only rises in between.
final class MapBounds: Sendable {
    /// The address of the map; 0 when it is not known.
    let lower = Atomic<UInt>(0)
    /// The address after the last page known to be in the file.
    let upper = Atomic<UInt>(.max)
    /// The address after the map.
    let mapEnd = Atomic<UInt>(.max)
    /// A page's offset in the map, shifted right by this, is its number.
    let pageShift = Atomic<UInt>(12)
    /// The size of the map that `AddressSpace` counts.
    private let size = Atomic<Int>(0)
    /// The number of times that the bounds were set: once for each opening of the file.
    let openings = Atomic<Int>(0)

    /// Tells `AddressSpace` the size of the map; 0 when it is gone.
    func noteSize(_ bytes: Int) {
        AddressSpace.note(bytes, insteadOf: size.exchange(bytes, ordering: .relaxed))
    }

    /// Whether the bytes lie inside the file's part of the map.
    @inline(__always)
    func contain(_ start: UnsafeRawPointer?, count: Int) -> Bool {
        let address = UInt(bitPattern: start)
        let end = upper.load(ordering: .relaxed)
        return address >= lower.load(ordering: .relaxed) && address <= end && UInt(bitPattern: count) <= end - address
    }

    /// Whether the bytes begin outside the map.
    @inline(__always)
    func areOutside(_ start: UnsafeMutableRawPointer?) -> Bool {
        let address = UInt(bitPattern: start)
        return address < lower.load(ordering: .relaxed) || address >= mapEnd.load(ordering: .relaxed)
    }

    func set(lower: UInt, upper: UInt, mapEnd: UInt, pageSize: Int) {
        self.lower.store(lower, ordering: .relaxed)
        self.upper.store(upper, ordering: .relaxed)
        self.mapEnd.store(mapEnd, ordering: .relaxed)
        pageShift.store(UInt(pageSize.trailingZeroBitCount), ordering: .relaxed)
        openings.add(1, ordering: .relaxed)
    }

    /// Finds the address of the map in LMDB's private record of an environment.
    ///
    /// LMDB 0.9 has no function for the address. Its record holds, in a row: the map, the lock table, and the two meta
    /// pages, which begin 16 bytes into the map and one page later. This looks for that pattern; when it is not there
    /// (another build of LMDB), values are not checked against the map.
    static func mapAddress(environment: OpaquePointer, pageSize: Int) -> UInt? {
        let words = UnsafeRawPointer(environment).assumingMemoryBound(to: UInt.self)
        for index in 0..<12 {
            let candidate = words[index]
            guard candidate != 0, candidate % 4096 == 0 else { continue }
            if words[index + 2] == candidate &+ UInt(Page.headerSize),
                words[index + 3] == candidate &+ UInt(Page.headerSize) &+ UInt(pageSize)
            {
                return candidate
            }
        }
        return nil
    }
}
