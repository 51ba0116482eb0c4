/// XXH64, the 64-bit hash of the xxHash family, after its specification
/// (github.com/Cyan4973/xxHash, doc/xxhash_spec.md, version 0.1.1). It detects accidental damage, not forgery.
@usableFromInline package enum XXH64 {
    @usableFromInline static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    @usableFromInline static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    @usableFromInline static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    @usableFromInline static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    @usableFromInline static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The hash of the bytes.
    ///
    /// - Complexity: O(*n*), 32 bytes a round.
    @inlinable package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        guard let base = bytes.baseAddress else { return finish(seed &+ prime5) }
        var next = base
        let end = base + bytes.count
        var hash = bytes.count >= 32 ? stripes(&next, end, seed) : seed &+ prime5
        hash &+= UInt64(bytes.count)
        while end - next >= 8 {
            hash ^= round(0, next.loadLittleEndian(at: 0))
            hash = rotate(hash, 27) &* prime1 &+ prime4
            next += 8
        }
        if end - next >= 4 {
            hash ^= UInt64(next.loadLittleEndian(at: 0, as: UInt32.self)) &* prime1
            hash = rotate(hash, 23) &* prime2 &+ prime3
            next += 4
        }
        while next < end {
            hash ^= UInt64(next.load(as: UInt8.self)) &* prime5
            hash = rotate(hash, 11) &* prime1
            next += 1
        }
        return finish(hash)
    }

    /// Consumes whole stripes of 32 bytes in four lanes and merges the lanes.
    @inlinable package static func stripes(
        _ next: inout UnsafeRawPointer, _ end: UnsafeRawPointer, _ seed: UInt64
    ) -> UInt64 {
        var lane1 = seed &+ prime1 &+ prime2
        var lane2 = seed &+ prime2
        var lane3 = seed
        var lane4 = seed &- prime1
        while end - next >= 32 {
            lane1 = round(lane1, next.loadLittleEndian(at: 0))
            lane2 = round(lane2, next.loadLittleEndian(at: 8))
            lane3 = round(lane3, next.loadLittleEndian(at: 16))
            lane4 = round(lane4, next.loadLittleEndian(at: 24))
            next += 32
        }
        var hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
        hash = merge(hash, lane1)
        hash = merge(hash, lane2)
        hash = merge(hash, lane3)
        return merge(hash, lane4)
    }

    @inlinable package static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotate(lane &+ input &* prime2, 31) &* prime1
    }

    @inlinable package static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* prime1 &+ prime4
    }

    @inlinable package static func finish(_ hash: UInt64) -> UInt64 {
        var hash = hash
        hash = (hash ^ hash &>> 33) &* prime2
        hash = (hash ^ hash &>> 29) &* prime3
        return hash ^ hash &>> 32
    }

    @inlinable package static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value &<< count | value &>> (64 &- count)
    }
}
