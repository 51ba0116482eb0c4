/// A growing buffer that the codecs write records into. `reset` empties it for the next record and keeps its memory.
///
/// Sendable, because its memory belongs to this value alone: the value cannot be copied, and callers use the pointer only
/// during a read.
@usableFromInline package struct ByteWriter: ~Copyable, @unchecked Sendable {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    @usableFromInline var written: Int

    package init(capacity: Int = 64) {
        self.capacity = max(16, capacity)
        base = .allocate(byteCount: self.capacity, alignment: 16)
        written = 0
    }

    deinit { base.deallocate() }

    /// Bytes written so far.
    @inlinable package var count: Int { written }

    /// The bytes written; valid until the next change.
    @inlinable package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: written) }

    /// The bytes written, to be changed in place; valid until the next append.
    @inlinable package var mutableBytes: UnsafeMutableRawPointer { base }

    /// A copy of the bytes written.
    package var array: [UInt8] { Array(bytes) }

    /// Removes all bytes and keeps the memory.
    @inlinable package mutating func reset() { written = 0 }

    /// Removes all bytes from offset `count` on.
    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= written, "Cannot truncate to more bytes than were written.")
        written = count
    }

    /// Makes room for `additional` more bytes.
    @inlinable package mutating func reserve(_ additional: Int) {
        if capacity &- written < additional { grow(additional) }
    }

    @usableFromInline mutating func grow(_ additional: Int) {
        let wanted = max(capacity * 2, written + additional)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
        larger.copyMemory(from: base, byteCount: written)
        base.deallocate()
        base = larger
        capacity = wanted
    }
}

extension ByteWriter {
    @inlinable package mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
        written &+= 1
    }

    /// Appends an integer, least significant byte first.
    @inlinable package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.littleEndian, toByteOffset: written, as: T.self)
        written &+= MemoryLayout<T>.size
    }

    /// Appends an integer, most significant byte first, as ordered keys have it.
    @inlinable package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(bigEndian value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.bigEndian, toByteOffset: written, as: T.self)
        written &+= MemoryLayout<T>.size
    }

    @inlinable package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count)
        (base + written).copyMemory(from: start, byteCount: bytes.count)
        written &+= bytes.count
    }

    /// Appends the bytes of a value as they are in memory.
    @inlinable package mutating func append<T: BitwiseCopyable>(bytesOf value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value, toByteOffset: written, as: T.self)
        written &+= MemoryLayout<T>.size
    }

    /// Appends `count` bytes, all of which `body` must write.
    @inlinable package mutating func append(count: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
        reserve(count)
        body(base + written)
        written &+= count
    }

    /// Replaces a byte that was appended before.
    @inlinable package mutating func set(_ byte: UInt8, at offset: Int) {
        precondition(offset >= 0 && offset < written, "Cannot overwrite bytes that were not written.")
        base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }

    /// Replaces four bytes that were appended before, such as a length that was not known then.
    @inlinable package mutating func overwrite(littleEndian value: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset <= written - 4, "Cannot overwrite bytes that were not written.")
        base.storeLittleEndian(value, at: offset)
    }

    /// Replaces two bytes that were appended before.
    @inlinable package mutating func overwrite(littleEndian value: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset <= written - 2, "Cannot overwrite bytes that were not written.")
        base.storeLittleEndian(value, at: offset)
    }

    /// Replaces two bytes that were appended before, most significant first.
    @inlinable package mutating func overwrite(bigEndian value: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset <= written - 2, "Cannot overwrite bytes that were not written.")
        base.storeLittleEndian(value.byteSwapped, at: offset)
    }

    /// Inverts every bit from `start` to the end, which reverses the order of keys.
    @inlinable package mutating func complement(from start: Int) {
        precondition(start >= 0 && start <= written, "Cannot change bytes that were not written.")
        for offset in start..<written {
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            base.storeBytes(of: ~byte, toByteOffset: offset, as: UInt8.self)
        }
    }
}
