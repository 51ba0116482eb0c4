// Unaligned little-endian loads and stores, and the access of objects in memory to their rows. Nothing here checks
// bounds: offsets must come from the layout of the row.

extension UnsafeRawPointer {
    /// An integer at `offset` bytes from here.
    @inlinable package func loadLittleEndian<T: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: T.Type = T.self
    ) -> T {
        T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    @inlinable package func loadFloat(at offset: Int) -> Float {
        Float(bitPattern: loadLittleEndian(at: offset))
    }

    @inlinable package func loadDouble(at offset: Int) -> Double {
        Double(bitPattern: loadLittleEndian(at: offset))
    }

    /// Whether the null bit of a slot is set. The pointer must be to the start of a row image.
    @inlinable package func isNull(slot: Int) -> Bool {
        let byte = load(fromByteOffset: RowLayout.nullBitsOffset + slot &>> 3, as: UInt8.self)
        return byte &>> UInt8(truncatingIfNeeded: slot & 7) & 1 != 0
    }

    /// The bytes that the variable-width slot at `offset` points to. The pointer must be to the start of a row image
    /// that is known to be valid, in memory or verified.
    @inlinable package func variableBytes(at offset: Int) -> UnsafeRawBufferPointer {
        let start: UInt32 = loadLittleEndian(at: offset)
        let length: UInt32 = loadLittleEndian(at: offset + 4)
        return UnsafeRawBufferPointer(start: self + Int(start), count: Int(length))
    }
}

extension UnsafeMutableRawPointer {
    @inlinable package func loadLittleEndian<T: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: T.Type = T.self
    ) -> T {
        UnsafeRawPointer(self).loadLittleEndian(at: offset)
    }

    /// Writes an integer at `offset` bytes from here.
    @inlinable package func storeLittleEndian<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
    }

    @inlinable package func store(_ value: Float, at offset: Int) { storeLittleEndian(value.bitPattern, at: offset) }

    @inlinable package func store(_ value: Double, at offset: Int) { storeLittleEndian(value.bitPattern, at: offset) }

    @inlinable package func isNull(slot: Int) -> Bool { UnsafeRawPointer(self).isNull(slot: slot) }

    /// Marks a slot as nil. The caller must also zero its bytes with `zeroSlot`.
    @inlinable package func setNullBit(slot: Int) {
        let offset = RowLayout.nullBitsOffset + slot &>> 3
        let byte = load(fromByteOffset: offset, as: UInt8.self)
        storeBytes(of: byte | 1 &<< UInt8(truncatingIfNeeded: slot & 7), toByteOffset: offset, as: UInt8.self)
    }

    /// Marks a slot as having a value.
    @inlinable package func clearNullBit(slot: Int) {
        let offset = RowLayout.nullBitsOffset + slot &>> 3
        let byte = load(fromByteOffset: offset, as: UInt8.self)
        storeBytes(of: byte & ~(1 &<< UInt8(truncatingIfNeeded: slot & 7)), toByteOffset: offset, as: UInt8.self)
    }

    /// Zeroes the `width` bytes of a slot, as every nil slot must be.
    @inlinable package func zeroSlot(at offset: Int, width: Int) {
        (self + offset).initializeMemory(as: UInt8.self, repeating: 0, count: width)
    }

    /// Points the variable-width slot at `offset` to `length` bytes at `start` from the image's start.
    @inlinable package func storeVariable(start: UInt32, length: UInt32, at offset: Int) {
        storeLittleEndian(start, at: offset)
        storeLittleEndian(length, at: offset + 4)
    }
}
