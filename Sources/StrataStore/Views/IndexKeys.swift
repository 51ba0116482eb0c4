import StrataModel

/// Keys of the `indexes` table: the index's number, its elements, the object's id.
enum IndexKeys {
    /// Writes the whole key of a row into `writer`, which is emptied first.
    ///
    /// - Returns: false when a partial index leaves the row out.
    static func write(
        _ index: IndexSchema, of entity: EntitySchema, _ reader: RowReader, _ layout: RowLayout, _ id: ObjectID,
        _ schema: Schema, into writer: inout ByteWriter
    ) throws -> Bool {
        writer.reset()
        writer.append(bigEndian: index.id.rawValue)
        for element in index.elements {
            let slot = layout.slotNumber(element.slot, of: entity)
            let value = try slot.map { try reader.value($0) } ?? schema.assignment.bornDefaults[element.propertyID] ?? .null
            try InterimKey.append(value, into: &writer)
        }
        writer.append(bigEndian: id.rawValue)
        return true
    }
}

enum InterimKey {
    static func append(_ value: AttributeValue, into writer: inout ByteWriter) throws {
        switch value {
        case .null: writer.append(UInt8(0))
        case .integer(let value):
            writer.append(UInt8(1))
            writer.append(bigEndian: UInt64(bitPattern: value) ^ (1 << 63))
        case .double(let value):
            writer.append(UInt8(1))
            let bits = value.bitPattern
            writer.append(bigEndian: bits >> 63 == 1 ? ~bits : bits | (1 << 63))
        default:
            writer.append(UInt8(1))
            let text = String(describing: value)
            for byte in text.utf8.prefix(100) { writer.append(byte) }
            writer.append(UInt8(0))
        }
    }
}
