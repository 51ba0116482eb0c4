#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A buffer that grows, and is emptied as a whole: keys, rows and events of one batch need no allocation each.
///
/// Not Sendable. Positions in it are offsets, because growing moves the bytes.
package struct Arena: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int = 1 << 16) {
        self.capacity = max(64, capacity)
        base = Self.memory(malloc(self.capacity), self.capacity)
    }

    deinit { free(base) }

    /// The base of all offsets; changes with the next allocation.
    var start: UnsafeRawPointer { UnsafeRawPointer(base) }

    /// Removes everything and keeps the memory.
    package mutating func removeAll() { count = 0 }

    /// Reserves `size` bytes, uninitialised. The pointer is valid until the next call.
    package mutating func allocate(_ size: Int) -> (offset: Int, bytes: UnsafeMutableRawBufferPointer) {
        if count + size > capacity { grow(to: count + size) }
        let offset = count
        count += size
        return (offset, UnsafeMutableRawBufferPointer(start: base + offset, count: size))
    }

    /// Copies `bytes` and returns their offset.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let room = allocate(bytes.count)
        if let source = bytes.baseAddress { room.bytes.baseAddress?.copyMemory(from: source, byteCount: bytes.count) }
        return room.offset
    }

    /// Removes everything from `offset` on.
    package mutating func truncate(to offset: Int) { count = offset }

    package func bytes(at offset: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + offset, count: count)
    }

    package func mutableBytes(at offset: Int, count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base + offset, count: count)
    }

    /// The system moves large blocks without copying them.
    private mutating func grow(to needed: Int) {
        capacity = max(needed, capacity * 2)
        base = Self.memory(realloc(base, capacity), capacity)
    }

    private static func memory(_ block: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer {
        guard let block else { preconditionFailure("There is no memory for \(size) bytes.") }
        if size >= largeSize { preferLargePages(block, size) }
        return block
    }

    private static let largeSize = 4 << 20

    /// Asks for pages of 2 MiB. Each ordinary page costs a page fault when it is first written, which took a tenth of a
    /// large save.
    private static func preferLargePages(_ block: UnsafeMutableRawPointer, _ size: Int) {
        #if os(Linux)
            let pageSize = UInt(getpagesize())
            let start = (UInt(bitPattern: block) + pageSize - 1) & ~(pageSize - 1)
            let end = (UInt(bitPattern: block) + UInt(size)) & ~(pageSize - 1)
            // A system without large pages returns an error, which does not matter.
            if start < end { _ = madvise(UnsafeMutableRawPointer(bitPattern: start), Int(end - start), MADV_HUGEPAGE) }
        #endif
    }
}
