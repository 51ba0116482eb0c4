// Unaligned little-endian loads and stores, and the parts of a row image that objects in memory read and write in
// their private copies. Nothing here checks bounds: offsets come from the layout of the very row.

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

    /// Whether the null bit of `slot` is set, this being the start of a row image.
    @inlinable package func isNull(slot: Int) -> Bool {
        let byte = load(fromByteOffset: RowLayout.nullBitsOffset + slot &>> 3, as: UInt8.self)
        return byte &>> UInt8(truncatingIfNeeded: slot & 7) & 1 != 0
    }

    /// The bytes that the variable-width slot at `offset` points to, this being the start of a row image that is
    /// known to be sound: in memory, or verified.
    @inlinable package func variableBytes(at offset: Int) -> UnsafeRawBufferPointer {
        let start: UInt32 = loadLittleEndian(at: offset)
        let length: UInt32 = loadLittleEndian(at: offset + 4)
        return UnsafeRawBufferPointer(start: self + Int(start), count: Int(length))
    }

    /// The text that the variable-width slot at `offset` points to; ill-formed UTF-8 is repaired.
    @inlinable package func loadString(at offset: Int) -> String {
        String(decoding: variableBytes(at: offset), as: UTF8.self)
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

    /// Marks `slot` as nil. The caller zeroes its bytes (`zeroSlot`).
    @inlinable package func setNullBit(slot: Int) {
        let offset = RowLayout.nullBitsOffset + slot &>> 3
        let byte = load(fromByteOffset: offset, as: UInt8.self)
        storeBytes(of: byte | 1 &<< UInt8(truncatingIfNeeded: slot & 7), toByteOffset: offset, as: UInt8.self)
    }

    /// Marks `slot` as holding a value.
    @inlinable package func clearNullBit(slot: Int) {
        let offset = RowLayout.nullBitsOffset + slot &>> 3
        let byte = load(fromByteOffset: offset, as: UInt8.self)
        storeBytes(of: byte & ~(1 &<< UInt8(truncatingIfNeeded: slot & 7)), toByteOffset: offset, as: UInt8.self)
    }

    /// Writes zeros over the `width` bytes of a slot, as every nil slot has them.
    @inlinable package func zeroSlot(at offset: Int, width: Int) {
        (self + offset).initializeMemory(as: UInt8.self, repeating: 0, count: width)
    }

    /// Points the variable-width slot at `offset` to `length` bytes at `start` from the image's start.
    @inlinable package func storeVariable(start: UInt32, length: UInt32, at offset: Int) {
        storeLittleEndian(start, at: offset)
        storeLittleEndian(length, at: offset + 4)
    }
}
