// A value with its kind, as events and composite attributes hold it. Format 1. All integers little-endian.
//
//   tag  value       bytes after the tag
//   0    null        -
//   1    false       -
//   2    true        -
//   3    integer     Int64
//   4    float       UInt32, IEEE bits as given
//   5    double      UInt64, IEEE bits as given
//   6    decimal     20, as in a row (RowLayout.swift), normalised
//   7    string      UInt32 length, UTF-8 as given
//   8    date        UInt64, IEEE bits of the seconds since 2001-01-01 00:00 UTC
//   9    uuid        16
//   10   url         UInt32 length, the absolute string in UTF-8
//   11   data        UInt32 length, bytes
//   12   blob        32 digest (SHA-256), UInt64 size in bytes
//   13   objectID    UInt64
//   14   composite   UInt32 count, then for each element: UInt32 length, name in UTF-8, a value; names ascend by bytes,
//                    none twice (canonically equivalent names are one name); composites nest at most 16 deep
//   15   previous    -   in a before-image only: the value as of the previous event of this object
//   16   encrypted   UInt32 length, bytes (EncryptedValue.swift)
//
// Floating point keeps every bit, so -0.0 and NaN payloads survive; text is not normalised.

package import Foundation

/// A value in an event: the value itself, or a reference to the object's previous event.
package enum RecordedValue: Sendable, Hashable {
    case value(AttributeValue)
    /// The value as of the previous event of this object; written instead of a before-image over 1 KiB.
    case previous
}

/// Writes and reads single values in the format at the head of this file.
package enum ValueCodec {
    package static let formatVersion = 1
    /// The deepest nesting of composites.
    package static let maximumDepth = 16

    enum Tag {
        static let null: UInt8 = 0
        static let no: UInt8 = 1
        static let yes: UInt8 = 2
        static let integer: UInt8 = 3
        static let float: UInt8 = 4
        static let double: UInt8 = 5
        static let decimal: UInt8 = 6
        static let string: UInt8 = 7
        static let date: UInt8 = 8
        static let uuid: UInt8 = 9
        static let url: UInt8 = 10
        static let data: UInt8 = 11
        static let blob: UInt8 = 12
        static let objectID: UInt8 = 13
        static let composite: UInt8 = 14
        static let previous: UInt8 = 15
        static let encrypted: UInt8 = 16
    }

    /// Appends a value. If it throws, the writer is as before.
    package static func encode(_ value: AttributeValue, into writer: inout ByteWriter) throws(UnstorableValue) {
        let start = writer.count
        do {
            try encode(value, into: &writer, depth: 0)
        } catch {
            writer.truncate(to: start)
            throw error
        }
    }

    /// Appends a value, or the tag of `previous`.
    package static func encode(_ value: RecordedValue, into writer: inout ByteWriter) throws(UnstorableValue) {
        switch value {
        case .value(let value): try encode(value, into: &writer)
        case .previous: writer.append(Tag.previous)
        }
    }

    /// Reads one value.
    package static func decode(_ reader: inout ByteReader) throws(CorruptRecord) -> AttributeValue {
        try decode(&reader, depth: 0)
    }

    /// Reads one value, or the tag of `previous`.
    package static func decodeRecorded(_ reader: inout ByteReader) throws(CorruptRecord) -> RecordedValue {
        if reader.nextByte == Tag.previous {
            _ = try reader.readByte()
            return .previous
        }
        return .value(try decode(&reader))
    }
}

// MARK: Skipping

extension ValueCodec {
    /// Skips one value, or the tag of `previous`. Checks lengths only.
    ///
    /// - Returns: whether it was a value.
    package static func skipRecorded(_ reader: inout ByteReader) throws(CorruptRecord) -> Bool {
        if reader.nextByte == Tag.previous {
            _ = try reader.readByte()
            return false
        }
        try skip(&reader, depth: 0)
        return true
    }

    private static func skip(_ reader: inout ByteReader, depth: Int) throws(CorruptRecord) {
        let start = reader
        switch try reader.readByte() {
        case Tag.null, Tag.no, Tag.yes: return
        case Tag.integer, Tag.double, Tag.date, Tag.objectID: _ = try reader.readBytes(8)
        case Tag.float: _ = try reader.readBytes(4)
        case Tag.decimal: _ = try reader.readBytes(DecimalParts.size)
        case Tag.uuid: _ = try reader.readBytes(16)
        case Tag.string, Tag.url, Tag.data, Tag.encrypted: _ = try reader.readCountedBytes()
        case Tag.blob: _ = try reader.readBytes(40)
        case Tag.composite:
            guard depth < maximumDepth else { throw start.corrupt("composites nested too deep") }
            for _ in 0..<(try reader.readInteger(as: UInt32.self)) {
                _ = try reader.readCountedBytes()
                try skip(&reader, depth: depth + 1)
            }
        default: throw start.corrupt("unknown kind of value")
        }
    }
}

// MARK: Writing

extension ValueCodec {
    private static func encode(
        _ value: AttributeValue, into writer: inout ByteWriter, depth: Int
    ) throws(UnstorableValue) {
        switch value {
        case .null: writer.append(Tag.null)
        case .boolean(let value): writer.append(value ? Tag.yes : Tag.no)
        case .integer(let value): append(Tag.integer, value, to: &writer)
        case .float(let value): append(Tag.float, value.bitPattern, to: &writer)
        case .double(let value): append(Tag.double, value.bitPattern, to: &writer)
        case .date(let value): append(Tag.date, value.timeIntervalSinceReferenceDate.bitPattern, to: &writer)
        case .objectID(let value): append(Tag.objectID, value.rawValue, to: &writer)
        case .decimal(let value):
            writer.append(Tag.decimal)
            writer.append(count: DecimalParts.size) { DecimalParts(value).store(to: $0, at: 0) }
        case .uuid(let value):
            writer.append(Tag.uuid)
            writer.append(bytesOf: value.uuid)
        case .string(let value): try append(Tag.string, value, to: &writer)
        case .url(let value): try append(Tag.url, text(of: value), to: &writer)
        case .data(let value):
            writer.append(Tag.data)
            try appendLength(value.count, to: &writer)
            value.withUnsafeBytes { writer.append($0) }
        case .encrypted(let value):
            writer.append(Tag.encrypted)
            try appendLength(value.stored.count, to: &writer)
            value.stored.withUnsafeBytes { writer.append($0) }
        case .blob(let value): try append(value, to: &writer)
        case .composite(let elements): try append(elements, to: &writer, depth: depth + 1)
        }
    }

    @inline(__always)
    private static func append<T: FixedWidthInteger & BitwiseCopyable>(
        _ tag: UInt8, _ value: T, to writer: inout ByteWriter
    ) {
        writer.append(tag)
        writer.append(littleEndian: value)
    }

    private static func append(
        _ tag: UInt8, _ text: String, to writer: inout ByteWriter
    ) throws(UnstorableValue) {
        writer.append(tag)
        try append(text, to: &writer)
    }

    private static func append(_ text: String, to writer: inout ByteWriter) throws(UnstorableValue) {
        var text = text
        try appendLength(text.utf8.count, to: &writer)
        text.withUTF8 { writer.append(UnsafeRawBufferPointer($0)) }
    }

    private static func appendLength(_ count: Int, to writer: inout ByteWriter) throws(UnstorableValue) {
        guard let length = UInt32(exactly: count) else { throw UnstorableValue(.tooLong) }
        writer.append(littleEndian: length)
    }

    private static func append(_ blob: BlobReference, to writer: inout ByteWriter) throws(UnstorableValue) {
        guard blob.digest.count == 32 else { throw UnstorableValue(.malformedBlobReference) }
        writer.append(Tag.blob)
        blob.digest.withUnsafeBytes { writer.append($0) }
        writer.append(littleEndian: blob.sizeInBytes)
    }

    private static func append(
        _ elements: [String: AttributeValue], to writer: inout ByteWriter, depth: Int
    ) throws(UnstorableValue) {
        guard depth <= maximumDepth else { throw UnstorableValue(.nestedTooDeep) }
        writer.append(Tag.composite)
        try appendLength(elements.count, to: &writer)
        for (name, value) in elements.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            try append(name, to: &writer)
            try encode(value, into: &writer, depth: depth)
        }
    }

    /// The absolute string of a URL.
    ///
    /// - Throws: if `URL` cannot read that string.
    static func text(of url: URL) throws(UnstorableValue) -> String {
        let text = url.absoluteString
        guard URL(string: text, encodingInvalidCharacters: false) != nil else { throw UnstorableValue(.malformedURL) }
        return text
    }
}

// MARK: Reading

extension ValueCodec {
    private static func decode(_ reader: inout ByteReader, depth: Int) throws(CorruptRecord) -> AttributeValue {
        let start = reader
        switch try reader.readByte() {
        case Tag.null: return .null
        case Tag.no: return .boolean(false)
        case Tag.yes: return .boolean(true)
        case Tag.integer: return .integer(try reader.readInteger())
        case Tag.float: return .float(Float(bitPattern: try reader.readInteger()))
        case Tag.double: return .double(Double(bitPattern: try reader.readInteger()))
        case Tag.decimal: return .decimal(try reader.readDecimal())
        case Tag.string: return .string(try reader.readCountedText())
        case Tag.date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.readInteger())))
        case Tag.uuid: return .uuid(UUID(uuid: try reader.readBytes(16).loadUnaligned(as: uuid_t.self)))
        case Tag.url:
            let count = try reader.readInteger(as: UInt32.self)
            return .url(try reader.readURL(Int(count)))
        case Tag.data: return .data(Data(try reader.readCountedBytes()))
        case Tag.encrypted: return .encrypted(EncryptedValue(stored: Data(try reader.readCountedBytes())))
        case Tag.blob:
            let digest = Data(try reader.readBytes(32))
            return .blob(BlobReference(digest: digest, sizeInBytes: try reader.readInteger()))
        case Tag.objectID: return .objectID(ObjectID(rawValue: try reader.readInteger()))
        case Tag.composite: return .composite(try elements(&reader, depth: depth + 1))
        default: throw start.corrupt("unknown kind of value")
        }
    }

    private static func elements(
        _ reader: inout ByteReader, depth: Int
    ) throws(CorruptRecord) -> [String: AttributeValue] {
        guard depth <= maximumDepth else { throw reader.corrupt("composites nested too deep") }
        let count = Int(try reader.readInteger(as: UInt32.self))
        // An element takes at least five bytes: the length of its name and a tag.
        guard count <= reader.remaining / 5 else { throw reader.corrupt("more elements than there are bytes") }
        var elements: [String: AttributeValue] = [:]
        var last: UnsafeRawBufferPointer?
        for _ in 0..<count {
            let start = reader
            var ahead = reader
            let name = try ahead.readCountedBytes()
            if let last, !last.lexicographicallyPrecedes(name) { throw start.corrupt("elements out of order") }
            last = name
            let text = try reader.readCountedText()
            let value = try decode(&reader, depth: depth)
            guard elements.updateValue(value, forKey: text) == nil else { throw start.corrupt("an element twice") }
        }
        return elements
    }
}

extension ByteReader {
    /// The next byte, not read; nil at the end.
    package var nextByte: UInt8? { isAtEnd ? nil : bytes[offset] }

    /// Reads a length of four bytes, and then that many bytes of UTF-8.
    package mutating func readCountedText() throws(CorruptRecord) -> String {
        let count = try readInteger(as: UInt32.self)
        return try readText(Int(count))
    }

    /// Reads the twenty bytes of a Decimal.
    package mutating func readDecimal() throws(CorruptRecord) -> Decimal {
        let start = origin + offset
        let bytes = try readBytes(DecimalParts.size)
        guard let base = bytes.baseAddress else { throw corrupt("record cut short") }
        return try DecimalParts(base, at: 0).decimal(at: start)
    }
}
