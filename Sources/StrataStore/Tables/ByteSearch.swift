#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// A match is always of whole scalars, because the UTF-8 of a scalar never begins inside another's.
extension UnsafeRawBufferPointer {
    func hasPrefix(_ part: UnsafeRawBufferPointer) -> Bool {
        guard count >= part.count else { return false }
        return UnsafeRawBufferPointer(rebasing: self[..<part.count]).isSame(as: part)
    }

    func hasSuffix(_ part: UnsafeRawBufferPointer) -> Bool {
        guard count >= part.count else { return false }
        return UnsafeRawBufferPointer(rebasing: self[(count - part.count)...]).isSame(as: part)
    }

    /// Whether `part` occurs in these bytes.
    func contains(_ part: UnsafeRawBufferPointer) -> Bool {
        guard count >= part.count else { return false }
        guard let base = baseAddress, let start = part.baseAddress, let first = part.first else { return true }
        var offset = 0
        while offset <= count - part.count {
            guard let found = memchr(base + offset, Int32(first), count - part.count - offset + 1) else { return false }
            if memcmp(found, start, part.count) == 0 { return true }
            offset = UnsafeRawPointer(found) - base + 1
        }
        return false
    }

    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let base = baseAddress, let start = other.baseAddress, !isEmpty else { return true }
        return memcmp(base, start, count) == 0
    }
}

extension [UInt8] {
    func isEqual(to bytes: UnsafeRawBufferPointer) -> Bool { withUnsafeBytes { $0.isSame(as: bytes) } }
}
