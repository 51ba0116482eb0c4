package import Foundation

/// Reads single slots of a row image without copying or decoding the rest.
///
/// It keeps bare pointers: the bytes and the layout must outlive it. The image is not trusted: `init` checks the
/// header, and variable-width slots are checked when they are read.
@usableFromInline package struct RowReader {
    @usableFromInline package let base: UnsafeRawPointer
    /// The size of the image in bytes.
    @usableFromInline package let count: Int
    @usableFromInline package let entries: UnsafePointer<RowLayout.Entry>
    @usableFromInline package let slotCount: Int
    @usableFromInline package let fixedSize: Int

    /// A reader for an image.
    ///
    /// - Throws: if the header is not that of `layout`, or the fixed area is incomplete.
    @inlinable package init(_ bytes: UnsafeRawBufferPointer, layout: borrowing RowLayout) throws(CorruptRecord) {
        guard let base = bytes.baseAddress, bytes.count >= layout.fixedSize else {
            throw CorruptRecord("row shorter than its fixed area", at: bytes.count)
        }
        guard base.loadLittleEndian(at: 0, as: UInt64.self) == layout.header else {
            throw Self.wrongHeader(base, layout)
        }
        self.base = base
        count = bytes.count
        entries = layout.entries
        slotCount = layout.slotCount
        fixedSize = layout.fixedSize
    }

    @usableFromInline static func wrongHeader(
        _ base: UnsafeRawPointer, _ layout: borrowing RowLayout
    ) -> CorruptRecord {
        if base.loadLittleEndian(at: RowLayout.modelVersionOffset, as: UInt32.self) != layout.version.rawValue {
            return CorruptRecord("row of another model version", at: RowLayout.modelVersionOffset)
        }
        if base.loadLittleEndian(at: RowLayout.entityOffset, as: UInt16.self) != layout.entityID.rawValue {
            return CorruptRecord("row of another entity", at: RowLayout.entityOffset)
        }
        return CorruptRecord("row with another number of slots", at: RowLayout.slotCountOffset)
    }

    @inlinable package func entry(_ slot: Int) -> RowLayout.Entry {
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: slotCount), "The slot belongs to another entity.")
        return entries[slot]
    }

    @inlinable package func kind(_ slot: Int) -> SlotKind { entry(slot).kind }

    /// Whether the property is nil, or not held by rows.
    @inlinable package func isNull(_ slot: Int) -> Bool {
        entry(slot).kind == .absent || base.isNull(slot: slot)
    }

    /// An integer of any width, a position, or a Bool as 0 or 1.
    @inlinable package func integer(_ slot: Int) -> Int64? {
        let entry = entry(slot)
        let offset = Int(entry.offset)
        if base.isNull(slot: slot) { return nil }
        switch entry.kind {
        case .integer16: return Int64(base.loadLittleEndian(at: offset, as: Int16.self))
        case .integer32: return Int64(base.loadLittleEndian(at: offset, as: Int32.self))
        case .integer64, .position: return base.loadLittleEndian(at: offset, as: Int64.self)
        case .boolean: return base.load(fromByteOffset: offset, as: UInt8.self) == 0 ? 0 : 1
        case .absent: return nil
        default: preconditionFailure("The slot holds no integer.")
        }
    }

    /// A Double, a Float widened, or a Date in seconds since 2001-01-01 00:00 UTC.
    @inlinable package func double(_ slot: Int) -> Double? {
        let entry = entry(slot)
        let offset = Int(entry.offset)
        if base.isNull(slot: slot) { return nil }
        switch entry.kind {
        case .double, .date: return base.loadDouble(at: offset)
        case .float: return Double(base.loadFloat(at: offset))
        case .absent: return nil
        default: preconditionFailure("The slot holds no floating-point number.")
        }
    }

    @inlinable package func float(_ slot: Int) -> Float? {
        let entry = entry(slot)
        if base.isNull(slot: slot) || entry.kind == .absent { return nil }
        precondition(entry.kind == .float, "The slot holds no Float.")
        return base.loadFloat(at: Int(entry.offset))
    }

    @inlinable package func boolean(_ slot: Int) -> Bool? {
        let entry = entry(slot)
        if base.isNull(slot: slot) || entry.kind == .absent { return nil }
        precondition(entry.kind == .boolean, "The slot holds no Bool.")
        return base.load(fromByteOffset: Int(entry.offset), as: UInt8.self) != 0
    }

    package func uuid(_ slot: Int) -> UUID? {
        let entry = entry(slot)
        if base.isNull(slot: slot) || entry.kind == .absent { return nil }
        precondition(entry.kind == .uuid, "The slot holds no UUID.")
        return UUID(uuid: base.loadUnaligned(fromByteOffset: Int(entry.offset), as: uuid_t.self))
    }

    package func decimal(_ slot: Int) throws(CorruptRecord) -> Decimal? {
        let entry = entry(slot)
        if base.isNull(slot: slot) || entry.kind == .absent { return nil }
        precondition(entry.kind == .decimal, "The slot holds no Decimal.")
        return try DecimalParts(base, at: Int(entry.offset)).decimal(at: Int(entry.offset))
    }

    /// The target of a to-one, or the object id of an attribute; the id 0 if it is nil.
    @inlinable package func reference(_ slot: Int) -> ObjectID {
        let entry = entry(slot)
        if base.isNull(slot: slot) || entry.kind == .absent { return ObjectID(rawValue: 0) }
        precondition(entry.kind == .reference || entry.kind == .objectID, "The slot holds no object id.")
        return ObjectID(rawValue: base.loadLittleEndian(at: Int(entry.offset)))
    }

    /// The position of the object in the ordered relationship of this hidden slot.
    @inlinable package func position(_ slot: Int) -> Int64? {
        let entry = entry(slot)
        if base.isNull(slot: slot) || entry.kind == .absent { return nil }
        precondition(entry.kind == .position, "The slot holds no position.")
        return base.loadLittleEndian(at: Int(entry.offset))
    }

    /// The bytes of a String, URL, Data, transformable or composite, without the external-storage byte.
    ///
    /// nil if the value is nil, or outside the row as a blob (then `blob(_:)` returns it).
    @inlinable package func bytes(_ slot: Int) throws(CorruptRecord) -> UnsafeRawBufferPointer? {
        let entry = entry(slot)
        if base.isNull(slot: slot) || entry.kind == .absent { return nil }
        let bytes = try variableBytes(entry)
        if !entry.kind.isExternal { return bytes }
        guard let lead = bytes.first, lead <= 1 else {
            throw CorruptRecord("neither value nor blob", at: Int(entry.offset))
        }
        return lead == 0 ? UnsafeRawBufferPointer(rebasing: bytes[1...]) : nil
    }

    /// The blob with the value; nil if the value is nil or in the row.
    package func blob(_ slot: Int) throws(CorruptRecord) -> BlobReference? {
        let entry = entry(slot)
        if !entry.kind.isExternal || base.isNull(slot: slot) { return nil }
        let bytes = try variableBytes(entry)
        guard bytes.first == 1 else { return nil }
        guard bytes.count == 41, let start = bytes.baseAddress else {
            throw CorruptRecord("blob reference of a wrong size", at: Int(entry.offset))
        }
        return BlobReference(
            digest: Data(UnsafeRawBufferPointer(rebasing: bytes[1..<33])),
            sizeInBytes: start.loadLittleEndian(at: 33))
    }

    /// The bytes that a variable-width slot points to, with the external-storage byte.
    @inlinable package func variableBytes(_ entry: RowLayout.Entry) throws(CorruptRecord) -> UnsafeRawBufferPointer {
        precondition(entry.kind.isVariableWidth, "The slot's value has a fixed width.")
        let start = Int(base.loadLittleEndian(at: Int(entry.offset), as: UInt32.self))
        let length = Int(base.loadLittleEndian(at: Int(entry.offset) + 4, as: UInt32.self))
        guard start >= fixedSize, length <= count - start else {
            throw CorruptRecord("value outside its row", at: Int(entry.offset))
        }
        return UnsafeRawBufferPointer(start: base + start, count: length)
    }
}
