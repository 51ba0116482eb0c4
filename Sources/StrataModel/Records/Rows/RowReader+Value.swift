import Foundation

// Decodes the slots of rows into values, and validates whole rows.

extension RowReader {
    /// The value of a slot, in the case of its attribute's type; `null` for properties that rows do not hold.
    ///
    /// A reference is an `objectID`, a position an `integer`, and data outside the row a `blob`.
    package func value(_ slot: Int) throws(CorruptRecord) -> AttributeValue {
        let entry = entry(slot)
        if entry.kind == .absent || base.isNull(slot: slot) { return .null }
        let offset = Int(entry.offset)
        switch entry.kind {
        case .absent: return .null
        case .boolean: return .boolean(try strictBoolean(at: offset))
        case .integer16: return .integer(Int64(base.loadLittleEndian(at: offset, as: Int16.self)))
        case .integer32: return .integer(Int64(base.loadLittleEndian(at: offset, as: Int32.self)))
        case .integer64, .position: return .integer(base.loadLittleEndian(at: offset))
        case .float: return .float(base.loadFloat(at: offset))
        case .double: return .double(base.loadDouble(at: offset))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: base.loadDouble(at: offset)))
        case .decimal: return .decimal(try DecimalParts(base, at: offset).decimal(at: offset))
        case .uuid: return .uuid(UUID(uuid: base.loadUnaligned(fromByteOffset: offset, as: uuid_t.self)))
        case .objectID, .reference: return .objectID(ObjectID(rawValue: base.loadLittleEndian(at: offset)))
        default: return try variableValue(slot, entry)
        }
    }

    private func strictBoolean(at offset: Int) throws(CorruptRecord) -> Bool {
        let byte = base.load(fromByteOffset: offset, as: UInt8.self)
        guard byte <= 1 else { throw CorruptRecord("neither true nor false", at: offset) }
        return byte == 1
    }

    private func variableValue(_ slot: Int, _ entry: RowLayout.Entry) throws(CorruptRecord) -> AttributeValue {
        guard let bytes = try bytes(slot) else {
            guard let blob = try blob(slot) else { return .null }
            return .blob(blob)
        }
        var reader = ByteReader(bytes)
        switch entry.kind {
        case .string: return .string(try reader.readText(bytes.count))
        case .url: return .url(try reader.readURL(bytes.count))
        case .data, .externalData: return .data(Data(bytes))
        case .encrypted, .externalEncrypted: return .encrypted(EncryptedValue(stored: Data(bytes)))
        default:
            let value = try ValueCodec.decode(&reader)
            try reader.expectEnd()
            if entry.kind == .composite, case .composite = value { return value }
            if entry.kind == .undefined { return value }
            throw CorruptRecord("not a composite", at: Int(entry.offset))
        }
    }

    /// Checks that the image is canonical and that every value can be decoded, which `init` and the accessors do not
    /// check.
    package func validate() throws(CorruptRecord) {
        var end = fixedSize
        for slot in 0..<slotCount {
            let entry = entries[slot]
            let offset = Int(entry.offset)
            if entry.kind == .absent {
                guard base.isNull(slot: slot) else { throw CorruptRecord("value in a slot without one", at: offset) }
            } else if base.isNull(slot: slot) {
                let width = entry.kind.width
                guard (0..<width).allSatisfy({ base.load(fromByteOffset: offset + $0, as: UInt8.self) == 0 }) else {
                    throw CorruptRecord("nil slot that is not zero", at: offset)
                }
            } else {
                let value = try value(slot)
                if case .objectID(let id) = value, id.isNil { throw CorruptRecord("object id 0", at: offset) }
                if entry.kind.isVariableWidth { try advance(&end, past: offset) }
            }
        }
        guard end == count else { throw CorruptRecord("bytes after the last value", at: end) }
        try validateSpareNullBits()
    }

    private func advance(_ end: inout Int, past offset: Int) throws(CorruptRecord) {
        guard Int(base.loadLittleEndian(at: offset, as: UInt32.self)) == end else {
            throw CorruptRecord("values out of order", at: offset)
        }
        end += Int(base.loadLittleEndian(at: offset + 4, as: UInt32.self))
    }

    private func validateSpareNullBits() throws(CorruptRecord) {
        for bit in slotCount..<((slotCount + 63) / 64 * 64) where base.isNull(slot: bit) {
            throw CorruptRecord("null bit of no slot", at: RowLayout.nullBitsOffset + bit / 8)
        }
    }
}
