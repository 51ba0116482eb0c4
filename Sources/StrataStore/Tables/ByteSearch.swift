import StrataModel

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
    func contains(_ part: UnsafeRawBufferPointer) -> Bool { ByteSearch.offset(of: part, in: self) != nil }

    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let base = baseAddress, let start = other.baseAddress, !isEmpty else { return true }
        return memcmp(base, start, count) == 0
    }
}

extension [UInt8] {
    func isEqual(to bytes: UnsafeRawBufferPointer) -> Bool { withUnsafeBytes { $0.isSame(as: bytes) } }
}
