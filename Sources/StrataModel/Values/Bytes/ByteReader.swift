package import Foundation

/// Reads untrusted bytes from front to back. Every read is checked, throws where the bytes end, and allocates nothing
/// before it knows that the bytes for it are there.
///
/// It keeps a bare pointer: the bytes must outlive it.
@usableFromInline package struct ByteReader {
    @usableFromInline package let bytes: UnsafeRawBufferPointer
    /// The number of bytes read so far.
    @usableFromInline package internal(set) var offset: Int
    /// The offset of `bytes` in the record, added to offsets in errors.
    @usableFromInline package let origin: Int

    @inlinable package init(_ bytes: UnsafeRawBufferPointer, origin: Int = 0) {
        self.bytes = bytes
        self.origin = origin
        offset = 0
    }

    /// The number of bytes not read yet.
    @inlinable package var remaining: Int { bytes.count - offset }
    /// Whether all bytes are read.
    @inlinable package var isAtEnd: Bool { offset == bytes.count }

    /// An error about the next byte.
    @inlinable package func corrupt(_ reason: StaticString) -> CorruptRecord {
        CorruptRecord(reason, at: origin + offset)
    }

    @inlinable package mutating func readByte() throws(CorruptRecord) -> UInt8 {
        guard offset < bytes.count else { throw corrupt("record cut short") }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads a little-endian integer.
    @inlinable package mutating func readInteger<T: FixedWidthInteger & BitwiseCopyable>(
        as type: T.Type = T.self
    ) throws(CorruptRecord) -> T {
        let size = MemoryLayout<T>.size
        guard remaining >= size else { throw corrupt("record cut short") }
        defer { offset += size }
        return T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    /// The next `count` bytes, not copied.
    @inlinable package mutating func readBytes(_ count: Int) throws(CorruptRecord) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw corrupt("record cut short") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    /// Reads a length of four bytes, and then that many bytes.
    @inlinable package mutating func readCountedBytes() throws(CorruptRecord) -> UnsafeRawBufferPointer {
        let count = try readInteger(as: UInt32.self)
        return try readBytes(Int(count))
    }

    /// The next `count` bytes as text.
    ///
    /// - Throws: if they are not UTF-8.
    package mutating func readText(_ count: Int) throws(CorruptRecord) -> String {
        let start = offset
        let text = try readBytes(count)
        if text.isASCII { return String(decoding: text, as: UTF8.self) }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw CorruptRecord("text that is not UTF-8", at: origin + start)
        }
        return string
    }

    /// The next `count` bytes as the absolute string of a URL.
    package mutating func readURL(_ count: Int) throws(CorruptRecord) -> URL {
        let start = offset
        let text = try readText(count)
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw CorruptRecord("text that is not a URL", at: origin + start)
        }
        return url
    }

    /// - Throws: if there are bytes left.
    @inlinable package func expectEnd() throws(CorruptRecord) {
        guard isAtEnd else { throw corrupt("bytes after the end of a record") }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether every byte is below 0x80.
    @inlinable package var isASCII: Bool {
        guard let base = baseAddress else { return true }
        var offset = 0
        while count &- offset >= 8 {
            if base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            offset &+= 8
        }
        while offset < count {
            if base.load(fromByteOffset: offset, as: UInt8.self) & 0x80 != 0 { return false }
            offset &+= 1
        }
        return true
    }
}
