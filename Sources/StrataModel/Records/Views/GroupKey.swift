import Foundation

/// The keys of a view's groups: the elements of a key, each as in an index (KeyEncoding.swift), ascending and never
/// cut.
///
/// Text is in its normal form, a negative zero is zero, and every NaN is the same, so a key has the values of its
/// group.
package enum GroupKey {
    /// Appends the value of a slot. Equal values have equal bytes.
    ///
    /// - Parameter path: element names below a composite attribute.
    package static func append(
        _ row: RowReader, _ slot: Int, _ path: [String], _ kind: KeyKind, to writer: inout ByteWriter
    ) throws(CorruptRecord) {
        if row.isNull(slot) { return writer.append(KeyEncoding.null) }
        guard path.isEmpty else { return try append(value(row, slot, path), kind, to: &writer) }
        switch kind {
        case .integer: KeyEncoding.append(row.integer(slot) ?? 0, to: &writer)
        case .double, .date: KeyEncoding.append(row.double(slot) ?? 0, to: &writer)
        case .objectID: KeyEncoding.append(row.reference(slot), to: &writer)
        case .decimal:
            KeyEncoding.append(try DecimalParts(row.base, at: Int(row.entry(slot).offset)), to: &writer)
        case .uuid:
            writer.append(KeyEncoding.present)
            writer.append(UnsafeRawBufferPointer(start: row.base + Int(row.entry(slot).offset), count: 16))
        case .text:
            guard let text = try row.bytes(slot) else { return writer.append(KeyEncoding.null) }
            append(text: text, to: &writer)
        case .encrypted:
            guard let bytes = try row.bytes(slot), let blind = EncryptedValue.blind(of: bytes) else {
                return writer.append(KeyEncoding.null)
            }
            writer.append(KeyEncoding.present)
            writer.append(blind)
        case .data:
            guard let data = try row.bytes(slot) else { return writer.append(KeyEncoding.null) }
            append(data: data, to: &writer)
        }
    }

    /// The value of an element of a composite; nil where it has none.
    package static func value(
        _ row: RowReader, _ slot: Int, _ path: [String]
    ) throws(CorruptRecord) -> AttributeValue {
        var value = try row.value(slot)
        for name in path {
            guard case .composite(let elements) = value else { return .null }
            value = elements[name] ?? .null
        }
        return value
    }

    /// Appends a value. A value of another kind is nil.
    package static func append(_ value: AttributeValue, _ kind: KeyKind, to writer: inout ByteWriter) {
        switch (value, kind) {
        case (.boolean(let value), .integer): KeyEncoding.append(Int64(value ? 1 : 0), to: &writer)
        case (.integer(let value), .integer): KeyEncoding.append(value, to: &writer)
        case (.float(let value), .double): KeyEncoding.append(Double(value), to: &writer)
        case (.double(let value), .double): KeyEncoding.append(value, to: &writer)
        case (.integer(let value), .double): KeyEncoding.append(Double(value), to: &writer)
        case (.date(let value), .date): KeyEncoding.append(value.timeIntervalSinceReferenceDate, to: &writer)
        case (.decimal(let value), .decimal): KeyEncoding.append(DecimalParts(value), to: &writer)
        case (.integer(let value), .decimal): KeyEncoding.append(DecimalParts(Decimal(value)), to: &writer)
        case (.uuid(let value), .uuid): KeyEncoding.append(value, to: &writer)
        case (.objectID(let id), .objectID) where !id.isNil: KeyEncoding.append(id, to: &writer)
        case (.string(var text), .text): text.withUTF8 { append(text: UnsafeRawBufferPointer($0), to: &writer) }
        case (.url(let url), .text):
            var text = url.absoluteString
            text.withUTF8 { append(text: UnsafeRawBufferPointer($0), to: &writer) }
        case (.data(let data), .data): data.withUnsafeBytes { append(data: $0, to: &writer) }
        default: writer.append(KeyEncoding.null)
        }
    }

    private static func append(text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        KeyEncoding.appendUnterminated(text: text, [], limit: .max, to: &writer)
        KeyEncoding.appendTerminator(to: &writer)
    }

    private static func append(data: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        KeyEncoding.appendUnterminated(data: data, limit: .max, to: &writer)
        KeyEncoding.appendTerminator(to: &writer)
    }

    // MARK: Reading

    /// Reads the next element as a value of a type; nil is the type of a to-one.
    package static func value(
        _ reader: inout ByteReader, _ type: AttributeType?
    ) throws(CorruptRecord) -> AttributeValue {
        switch try reader.readByte() {
        case KeyEncoding.null: return .null
        case KeyEncoding.present: break
        default: throw reader.corrupt("element of a group's key with an unknown mark")
        }
        switch type {
        case nil, .objectID?: return .objectID(ObjectID(rawValue: try bigEndian(&reader)))
        case .boolean?: return .boolean(try integer(&reader) != 0)
        case .integer16?, .integer32?, .integer64?: return .integer(try integer(&reader))
        case .double?: return .double(try double(&reader))
        case .float?: return .float(Float(try double(&reader)))
        case .date?: return .date(Date(timeIntervalSinceReferenceDate: try double(&reader)))
        case .decimal?: return .decimal(try decimal(&reader))
        case .uuid?: return .uuid(UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self)))
        case .string?:
            guard let text = String(validating: try terminated(&reader), as: UTF8.self) else {
                throw reader.corrupt("text of a group's key that is not UTF-8")
            }
            return .string(text)
        case .uri?:
            let bytes = try terminated(&reader)
            guard let text = String(validating: bytes, as: UTF8.self),
                let url = URL(string: text, encodingInvalidCharacters: false)
            else { throw reader.corrupt("text of a group's key that is not a URL") }
            return .url(url)
        case .binaryData?, .transformable?: return .data(Data(try terminated(&reader)))
        case .composite?, .undefined?: throw reader.corrupt("element of a group's key without a type")
        }
    }

    private static func bigEndian(_ reader: inout ByteReader) throws(CorruptRecord) -> UInt64 {
        try reader.readInteger(as: UInt64.self).byteSwapped
    }

    private static func integer(_ reader: inout ByteReader) throws(CorruptRecord) -> Int64 {
        Int64(bitPattern: try bigEndian(&reader) ^ KeyEncoding.signBit)
    }

    private static func double(_ reader: inout ByteReader) throws(CorruptRecord) -> Double {
        let bits = try bigEndian(&reader)
        return Double(bitPattern: bits & KeyEncoding.signBit != 0 ? bits ^ KeyEncoding.signBit : ~bits)
    }

    private static func decimal(_ reader: inout ByteReader) throws(CorruptRecord) -> Decimal {
        let kind = try reader.readByte()
        if kind == 2 { return 0 }
        if kind == 4 { return .nan }
        guard kind == 1 || kind == 3 else { throw reader.corrupt("decimal of a group's key of an unknown class") }
        let mask: UInt8 = kind == 1 ? 0xFF : 0
        let first = try reader.readByte() ^ mask
        let second = try reader.readByte() ^ mask
        let scale = (Int(first) << 8 | Int(second)) - 0x8000
        guard (-400...400).contains(scale) else { throw reader.corrupt("decimal of a group's key out of range") }
        var mantissa: UInt128 = 0
        var digitCount = 0
        while true {
            let pair = try reader.readByte() ^ mask
            if pair == 0 { break }
            // Of the 20th pair the second digit is always padding, because a mantissa has at most 39 digits.
            let isLast = digitCount == 38
            let digits = isLast ? (pair &- 1) / 10 : pair &- 1
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: isLast ? 10 : 100)
            let (sum, overflowsAgain) = product.addingReportingOverflow(UInt128(digits))
            guard pair <= 100, digitCount <= 38, !overflows, !overflowsAgain else {
                throw reader.corrupt("decimal of a group's key out of range")
            }
            mantissa = sum
            digitCount += isLast ? 1 : 2
        }
        let parts = DecimalParts(normalizing: mantissa, exponent: scale - digitCount, isNegative: kind == 1)
        return try parts.decimal(at: reader.offset)
    }

    /// The bytes up to the end mark, with zeros as they were.
    private static func terminated(_ reader: inout ByteReader) throws(CorruptRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let byte = try reader.readByte()
            guard byte == 0 else {
                bytes.append(byte)
                continue
            }
            switch try reader.readByte() {
            case KeyEncoding.terminator.1: return bytes
            case KeyEncoding.escape: bytes.append(0)
            default: throw reader.corrupt("text of a group's key without an end")
            }
        }
    }
}
