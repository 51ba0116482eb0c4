/// A value of fixed width, or nil, as bits: a fast path between rows and events that makes no `AttributeValue`.
///
/// Decimals, UUIDs and values of variable width are not among them.
package struct FixedValue: Sendable {
    /// The tag of the value codec, which gives the meaning of the bits.
    private let tag: UInt8
    /// Integers are sign-extended; a Float is in the low half.
    private let bits: UInt64

    private init(_ tag: UInt8, _ bits: UInt64 = 0) {
        self.tag = tag
        self.bits = bits
    }

    /// The value of a slot; nil if it is of another kind, or damaged.
    package init?(_ slot: Int, of row: RowReader) {
        let entry = row.entry(slot)
        let (base, offset) = (row.base, Int(entry.offset))
        if base.isNull(slot: slot) {
            guard Self.isFixed(entry.kind) else { return nil }
            self.init(ValueCodec.Tag.null)
            return
        }
        switch entry.kind {
        case .boolean:
            let byte = base.load(fromByteOffset: offset, as: UInt8.self)
            guard byte <= 1 else { return nil }
            self.init(byte == 1 ? ValueCodec.Tag.yes : ValueCodec.Tag.no)
        case .integer16: self.init(integer: Int64(base.loadLittleEndian(at: offset, as: Int16.self)))
        case .integer32: self.init(integer: Int64(base.loadLittleEndian(at: offset, as: Int32.self)))
        case .integer64, .position: self.init(integer: base.loadLittleEndian(at: offset))
        case .float: self.init(ValueCodec.Tag.float, UInt64(base.loadLittleEndian(at: offset, as: UInt32.self)))
        case .double: self.init(ValueCodec.Tag.double, base.loadLittleEndian(at: offset))
        case .date: self.init(ValueCodec.Tag.date, base.loadLittleEndian(at: offset))
        case .objectID, .reference: self.init(ValueCodec.Tag.objectID, base.loadLittleEndian(at: offset))
        default: return nil
        }
    }

    private init(integer: Int64) { self.init(ValueCodec.Tag.integer, UInt64(bitPattern: integer)) }

    /// Reads a value in the format of `ValueCodec`; nil if it is of another kind. The reader's offset is then
    /// undefined.
    package init?(_ reader: inout ByteReader) throws(CorruptRecord) {
        tag = try reader.readByte()
        switch tag {
        case ValueCodec.Tag.null, ValueCodec.Tag.no, ValueCodec.Tag.yes: bits = 0
        case ValueCodec.Tag.float: bits = UInt64(try reader.readInteger(as: UInt32.self))
        case ValueCodec.Tag.integer, ValueCodec.Tag.double, ValueCodec.Tag.date, ValueCodec.Tag.objectID:
            bits = try reader.readInteger()
        default: return nil
        }
    }

    /// Whether both are stored as the same bytes, as `AttributeValue.isIdentical(to:)`.
    package func isIdentical(to other: FixedValue) -> Bool { tag == other.tag && bits == other.bits }

    /// Appends the value in the format of `ValueCodec`.
    package func append(to writer: inout ByteWriter) {
        writer.append(tag)
        switch tag {
        case ValueCodec.Tag.null, ValueCodec.Tag.no, ValueCodec.Tag.yes: return
        case ValueCodec.Tag.float: writer.append(littleEndian: UInt32(truncatingIfNeeded: bits))
        default: writer.append(littleEndian: bits)
        }
    }

    /// Writes the value into a slot of a row.
    ///
    /// - Returns: false if it does not fit the slot's kind; nothing is written then.
    package func store(in slot: Int, of row: UnsafeMutableRawPointer, _ entry: RowLayout.Entry) -> Bool {
        let offset = Int(entry.offset)
        switch (tag, entry.kind) {
        case (ValueCodec.Tag.null, let kind):
            guard Self.isFixed(kind) else { return false }
            row.setNullBit(slot: slot)
            row.zeroSlot(at: offset, width: kind.width)
            return true
        case (ValueCodec.Tag.no, .boolean): row.storeLittleEndian(UInt8(0), at: offset)
        case (ValueCodec.Tag.yes, .boolean): row.storeLittleEndian(UInt8(1), at: offset)
        case (ValueCodec.Tag.integer, .integer16):
            guard let value = Int16(exactly: Int64(bitPattern: bits)) else { return false }
            row.storeLittleEndian(value, at: offset)
        case (ValueCodec.Tag.integer, .integer32):
            guard let value = Int32(exactly: Int64(bitPattern: bits)) else { return false }
            row.storeLittleEndian(value, at: offset)
        case (ValueCodec.Tag.float, .float):
            row.storeLittleEndian(UInt32(truncatingIfNeeded: bits), at: offset)
        case (ValueCodec.Tag.integer, .integer64), (ValueCodec.Tag.integer, .position),
            (ValueCodec.Tag.double, .double), (ValueCodec.Tag.date, .date):
            row.storeLittleEndian(bits, at: offset)
        case (ValueCodec.Tag.objectID, .objectID), (ValueCodec.Tag.objectID, .reference):
            guard bits != 0 else { return false }
            row.storeLittleEndian(bits, at: offset)
        default: return false
        }
        row.clearNullBit(slot: slot)
        return true
    }

    private static func isFixed(_ kind: SlotKind) -> Bool { kind != .absent && !kind.isVariableWidth }
}

extension EventView {
    /// Writes the new values of an `updated` event into an image in the newest layout of the entity.
    ///
    /// - Parameter changed: receives the properties in the event.
    /// - Returns: false if a value is not a `FixedValue`; the image must not be used then.
    package func patch(
        _ image: UnsafeMutableRawPointer, of entity: EntitySchema, _ changed: inout [PropertyID]
    ) throws(CorruptRecord) -> Bool {
        var reader = ByteReader(payload)
        changed.removeAll(keepingCapacity: true)
        for _ in 0..<(try reader.readInteger(as: UInt16.self)) {
            let property = PropertyID(rawValue: try reader.readInteger(as: UInt32.self))
            _ = try ValueCodec.skipRecorded(&reader)
            guard let slot = entity.slot(of: property), let value = try FixedValue(&reader),
                value.store(in: slot, of: image, entity.layout.entries[slot])
            else { return false }
            changed.append(property)
        }
        guard reader.remaining == 0 else { throw CorruptRecord("bytes after the last change", at: reader.offset) }
        return true
    }
}
