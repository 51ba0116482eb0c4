import Foundation
import StrataModel

/// Writes bytes that are the same for equal values: numbers by value, text in its normal form.
enum RowKey {
    static func write(_ value: AttributeValue, into writer: inout ByteWriter) {
        switch value {
        case .null: writer.append(UInt8(0))
        case .boolean(let value): write(whole: value ? 1 : 0, into: &writer)
        case .integer(let value): write(whole: value, into: &writer)
        case .float(let value): write(Double(value.description) ?? Double(value), into: &writer)
        case .double(let value): write(value, into: &writer)
        case .decimal(let value):
            if let whole = Int64(value.description) { return write(whole: whole, into: &writer) }
            write(Double(value.description) ?? .nan, into: &writer)
        case .date(let value): write(3, value.timeIntervalSinceReferenceDate.bitPattern, into: &writer)
        case .objectID(let value): write(4, value.rawValue, into: &writer)
        case .string(let text): write(5, Array(TextFolding.fold(text, []).utf8), into: &writer)
        case .url(let url): write(6, Array(url.absoluteString.utf8), into: &writer)
        case .data(let data): write(7, Array(data), into: &writer)
        case .uuid(let value):
            writer.append(UInt8(8))
            writer.append(bytesOf: value.uuid)
        case .blob(let blob): write(9, Array(blob.digest), into: &writer)
        case .encrypted(let value): write(11, Array(value.stored), into: &writer)
        case .composite(let elements):
            writer.append(UInt8(10))
            writer.append(littleEndian: UInt32(elements.count))
            for (name, value) in elements.sorted(by: { $0.key < $1.key }) {
                write(5, Array(name.utf8), into: &writer)
                write(value, into: &writer)
            }
        }
    }

    private static func write(whole value: Int64, into writer: inout ByteWriter) {
        write(1, UInt64(bitPattern: value), into: &writer)
    }

    private static func write(_ value: Double, into writer: inout ByteWriter) {
        if let whole = Int64(exactly: value) { return write(whole: whole, into: &writer) }
        write(2, value.isNaN ? Double.nan.bitPattern : value.bitPattern, into: &writer)
    }

    private static func write(_ tag: UInt8, _ bits: UInt64, into writer: inout ByteWriter) {
        writer.append(tag)
        writer.append(littleEndian: bits)
    }

    private static func write(_ tag: UInt8, _ bytes: [UInt8], into writer: inout ByteWriter) {
        writer.append(tag)
        writer.append(littleEndian: UInt32(truncatingIfNeeded: bytes.count))
        bytes.withUnsafeBytes { writer.append($0) }
    }
}
