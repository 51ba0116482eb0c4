#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Memory for the rows of objects.
///
/// `UnsafeMutableRawPointer.allocate` asks the C library for aligned memory, which costs twice what `malloc` does; its
/// blocks are aligned to 16 bytes anyway.
enum RowAllocation {
    @inline(__always)
    static func allocate(_ sizeInBytes: Int) -> UnsafeMutableRawPointer {
        guard let memory = malloc(sizeInBytes) else { preconditionFailure("Out of memory.") }
        return memory
    }

    @inline(__always)
    static func free(_ memory: UnsafeMutableRawPointer?) {
        #if canImport(Glibc)
            Glibc.free(memory)
        #elseif canImport(Musl)
            Musl.free(memory)
        #else
            Darwin.free(memory)
        #endif
    }
}
