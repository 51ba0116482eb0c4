import Foundation

// The bytes of a row image, for rows in memory that are known to be sound: unaligned little-endian loads and stores,
// null bits, and values of variable width. Nothing here checks bounds; the offsets come from the layout of the row.

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

extension RowLayout {
    /// Whether two sound images of this layout hold the same value in a slot, bit for bit.
    package func isEqual(slot: Int, _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard let left = left.baseAddress, let right = right.baseAddress else { return false }
        let isNull = left.isNull(slot: slot)
        if isNull || right.isNull(slot: slot) { return isNull == right.isNull(slot: slot) }
        var leftBytes = bytes(of: slot, in: left), rightBytes = bytes(of: slot, in: right)
        if entries[slot].kind == .encrypted,
            let blinds = EncryptedValue.blinds(ofValuesUnderTwoKeys: leftBytes, rightBytes)
        {
            (leftBytes, rightBytes) = blinds
        }
        guard leftBytes.count == rightBytes.count, let first = leftBytes.baseAddress,
            let second = rightBytes.baseAddress
        else { return false }
        return memcmp(first, second, leftBytes.count) == 0
    }

    private func bytes(of slot: Int, in row: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        let entry = entries[slot]
        return entry.kind.isVariableWidth
            ? row.variableBytes(at: Int(entry.offset))
            : UnsafeRawBufferPointer(start: row + Int(entry.offset), count: entry.kind.width)
    }
}
