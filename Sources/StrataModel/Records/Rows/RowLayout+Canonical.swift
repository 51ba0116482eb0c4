// Makes the canonical form of row images.

extension RowLayout {
    /// The canonical form of an image whose variable values may be in any order with unused bytes between them, as in
    /// the private copies of objects in memory.
    ///
    /// - Throws: if the header is not of this layout or a value is outside the image.
    package func canonicalize(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> RowImage {
        let reader = try RowReader(bytes, layout: self)
        let size = try canonicalSize(reader)
        if size.isCanonical { return RowImage(canonical: Array(bytes)) }
        return RowImage(
            canonical: Array(unsafeUninitializedCapacity: size.count) { target, initialized in
                if let start = target.baseAddress { compact(reader, into: UnsafeMutableRawPointer(start)) }
                initialized = size.count
            })
    }

    /// Whether an image is canonical.
    ///
    /// - Throws: as `canonicalize`.
    package func isCanonical(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> Bool {
        try canonicalSize(RowReader(bytes, layout: self)).isCanonical
    }

    /// The size of the canonical form in bytes, and whether the image already has it.
    private func canonicalSize(_ reader: RowReader) throws(CorruptRecord) -> (count: Int, isCanonical: Bool) {
        var end = fixedSize
        var isCanonical = true
        for slot in variableSlots where !reader.base.isNull(slot: slot) {
            let bytes = try reader.variableBytes(entries[slot])
            if bytes.baseAddress != reader.base + end { isCanonical = false }
            end += bytes.count
        }
        // Values in damaged images can share bytes, so the sum can be larger than any image.
        guard end <= Int(UInt32.max) else { throw CorruptRecord("row of 4 GiB or more", at: fixedSize) }
        return (end, isCanonical && end == reader.count)
    }

    /// Writes the canonical form.
    ///
    /// - Precondition: `canonicalSize` has checked every slot, and `target` has room for that many bytes.
    private func compact(_ reader: RowReader, into target: UnsafeMutableRawPointer) {
        target.copyMemory(from: reader.base, byteCount: fixedSize)
        var end = fixedSize
        for slot in variableSlots {
            let offset = Int(entries[slot].offset)
            if reader.base.isNull(slot: slot) {
                target.storeVariable(start: 0, length: 0, at: offset)
                continue
            }
            let bytes = reader.base.variableBytes(at: offset)
            if let start = bytes.baseAddress, !bytes.isEmpty {
                (target + end).copyMemory(from: start, byteCount: bytes.count)
            }
            target.storeVariable(
                start: UInt32(truncatingIfNeeded: end), length: UInt32(truncatingIfNeeded: bytes.count), at: offset)
            end += bytes.count
        }
    }
}
