extension RowLayout {
    /// The canonical form of an image whose variable values may stand in any order with garbage between them, as
    /// objects in memory leave their private copies.
    ///
    /// - Throws: when the header is not of this layout or a value lies outside the image.
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

    /// Appends the canonical form to `writer` instead of making an array of it.
    package func canonicalize(
        _ bytes: UnsafeRawBufferPointer, into writer: inout ByteWriter
    ) throws(CorruptRecord) {
        let reader = try RowReader(bytes, layout: self)
        let size = try canonicalSize(reader)
        if size.isCanonical { return writer.append(bytes) }
        writer.append(count: size.count) { compact(reader, into: $0) }
    }

    /// Whether an image is canonical as it stands.
    ///
    /// - Throws: as `canonicalize`.
    package func isCanonical(_ bytes: UnsafeRawBufferPointer) throws(CorruptRecord) -> Bool {
        try canonicalSize(RowReader(bytes, layout: self)).isCanonical
    }

    /// Bytes of the canonical form, and whether the image has it already.
    private func canonicalSize(_ reader: RowReader) throws(CorruptRecord) -> (count: Int, isCanonical: Bool) {
        var end = fixedSize
        var isCanonical = true
        for slot in variableSlots where !reader.base.isNull(slot: slot) {
            let bytes = try reader.variableBytes(entries[slot])
            if bytes.baseAddress != reader.base + end { isCanonical = false }
            end += bytes.count
        }
        // Values that share bytes could name more than any image may hold.
        guard end <= Int(UInt32.max) else { throw CorruptRecord("row of 4 GiB or more", at: fixedSize) }
        return (end, isCanonical && end == reader.count)
    }

    /// Every slot's offset was checked by `canonicalSize`, and `target` has room for what it counted.
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
