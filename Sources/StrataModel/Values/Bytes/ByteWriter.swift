/// Bytes that grow at their end; the codecs write into it, and `reset` makes it ready for the next record without
/// giving its memory back.
///
/// The memory belongs to this value alone: it cannot be copied, and the pointer leaves it only for the length of a
/// read. That is why it may be sent from one isolation domain to another.
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

    /// What was written; valid until the next change.
    @inlinable package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: written) }

    /// The same to be changed in place; valid until the next append.
    @inlinable package var mutableBytes: UnsafeMutableRawPointer { base }

    /// A copy of what was written.
    package var array: [UInt8] { Array(bytes) }

    /// Forgets what was written and keeps the memory.
    @inlinable package mutating func reset() { written = 0 }

    /// Forgets everything from `count` on.
    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= written, "Cannot cut bytes to more than there are.")
        written = count
    }

    /// Makes sure that `additional` more bytes fit without growing.
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

    /// Least significant byte first.
    @inlinable package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(littleEndian value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value.littleEndian, toByteOffset: written, as: T.self)
        written &+= MemoryLayout<T>.size
    }

    /// Most significant byte first, as ordered keys have it.
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

    /// The bytes of a value without references, as they stand in memory.
    @inlinable package mutating func append<T: BitwiseCopyable>(bytesOf value: T) {
        reserve(MemoryLayout<T>.size)
        base.storeBytes(of: value, toByteOffset: written, as: T.self)
        written &+= MemoryLayout<T>.size
    }

    /// Gives `body` room for `count` bytes, all of which it must fill.
    @inlinable package mutating func append(count: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
        reserve(count)
        body(base + written)
        written &+= count
    }

    /// Writes over four bytes that were appended before: a length known only afterwards.
    @inlinable package mutating func overwrite(littleEndian value: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset <= written - 4, "Cannot overwrite what was not written.")
        base.storeLittleEndian(value, at: offset)
    }

    /// The same of two bytes.
    @inlinable package mutating func overwrite(littleEndian value: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset <= written - 2, "Cannot overwrite what was not written.")
        base.storeLittleEndian(value, at: offset)
    }

    /// Writes over two bytes that were appended before, most significant first.
    @inlinable package mutating func overwrite(bigEndian value: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset <= written - 2, "Cannot overwrite what was not written.")
        base.storeLittleEndian(value.byteSwapped, at: offset)
    }

    /// Turns every bit from `start` to the end, which turns the order of keys.
    @inlinable package mutating func complement(from start: Int) {
        precondition(start >= 0 && start <= written, "Cannot change what was not written.")
        for offset in start..<written {
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            base.storeBytes(of: ~byte, toByteOffset: offset, as: UInt8.self)
        }
    }
}
