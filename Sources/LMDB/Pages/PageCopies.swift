#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Copies of a file's pages, made with plain reads: a page that cannot be read is nil, where a look at the map would
/// end the process, and nothing beside it is brought into memory.
final class PageCopies {
    private let descriptor: Int32
    let pageSize: Int
    /// Memory for one page each, made when it is first used.
    private var slots: [UnsafeMutableRawBufferPointer] = []

    /// - Parameter descriptor: stays open as long as the copies are used.
    init(descriptor: Int32, pageSize: Int) {
        self.descriptor = descriptor
        self.pageSize = pageSize
    }

    deinit {
        for slot in slots { slot.deallocate() }
    }

    /// A page of the file; nil where the file ends before. Valid until the slot is used again.
    func page(_ number: UInt64, slot: Int) -> UnsafeRawBufferPointer? {
        while slots.count <= slot { slots.append(.allocate(byteCount: pageSize, alignment: 16)) }
        guard pread(descriptor, slots[slot].baseAddress, pageSize, off_t(number) * off_t(pageSize)) == pageSize else {
            return nil
        }
        return UnsafeRawBufferPointer(slots[slot])
    }

    /// The bytes of a value that has pages of its own; nil where the file ends before.
    func longValue(from first: UInt64, sizeInBytes: Int) -> [UInt8]? {
        [UInt8](descriptor, at: Int(first) * pageSize + Page.headerSize, count: sizeInBytes)
    }
}

extension [UInt8] {
    /// Reads bytes of an open file; nil where the file ends before, or cannot be read.
    init?(_ descriptor: Int32, at offset: Int, count: Int) {
        self.init(unsafeUninitializedCapacity: count) { buffer, size in
            size = Swift.max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
        if self.count != count { return nil }
    }
}
