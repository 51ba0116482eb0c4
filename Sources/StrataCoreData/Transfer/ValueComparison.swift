import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// Compares a value of the new store with the column that it came from, by computing the column's contents from the
/// value.
///
/// It shares nothing with the reading of columns, so that an error there shows.
struct ValueComparison {
    let file: CoreDataFile
    let store: Store

    func isEqual(
        _ value: AttributeValue, _ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute
    ) throws -> Bool {
        let kind = row.kind(column)
        switch value {
        case .null: return kind == .null
        case .boolean(let value): return kind != .null && row.double(column) == (value ? 1 : 0)
        case .integer(let value):
            return kind != .null && row.integer(column) == value && row.double(column) == Double(value)
        case .double(let value): return kind != .null && row.double(column).bitPattern == value.bitPattern
        case .float(let value): return kind != .null && Float(row.double(column)).bitPattern == value.bitPattern
        case .date(let date):
            return kind != .null && row.double(column).bitPattern == date.timeIntervalSinceReferenceDate.bitPattern
        case .decimal(let value): return kind != .null && Self.isEqual(value, row, column, kind)
        case .string(let text): return Self.isEqual(Array(text.utf8), row, column, kind)
        case .url(let url): return Self.isEqual(Array(url.absoluteString.utf8), row, column, kind)
        case .uuid(let id):
            return withUnsafeBytes(of: id.uuid) { Self.isEqual(Array($0), row, column, kind) }
                || kind == .text && row.text(column).uppercased() == id.uuidString
        case .data(let data) where attribute.isUnpacked:
            let value = try PlainValue(storedBytes: data)
            return kind == .blob && PlainArchive.value(of: Array(row.bytes(column))) == value
        case .data(let data): return try isEqual(data, row, column, attribute, kind)
        case .blob(let reference): return try isEqual(reference, row, column, attribute, kind)
        case .objectID, .composite, .encrypted: return false
        }
    }

    private static func isEqual(
        _ bytes: [UInt8], _ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind
    ) -> Bool {
        guard kind == .text || kind == .blob else { return Array(row.text(column).utf8) == bytes }
        return bytes.withUnsafeBytes { Self.isEqual($0, row.bytes(column)) }
    }

    private static func isEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, one.count) == 0
    }

    /// A real number of the file is equal if the decimal is nearest to it.
    private static func isEqual(
        _ value: Decimal, _ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind
    ) -> Bool {
        if value.isNaN { return kind == .text && row.text(column) == "NaN" }
        return switch kind {
        case .real: Double("\(value)") == row.double(column)
        case .integer: "\(value)" == "\(row.integer(column))"
        case .text: DecimalDigits(row.text(column)) == DecimalDigits(value)
        case .blob, .null: false
        }
    }

    private func isEqual(
        _ data: Data, _ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute,
        _ kind: SQLiteStatement.Kind
    ) throws -> Bool {
        let bytes = row.bytes(column)
        guard attribute.allowsExternalStorage, let lead = bytes.first, lead == 1 || lead == 2 else {
            return Self.isEqual(Array(data), row, column, kind)
        }
        if lead == 1 {
            return data.withUnsafeBytes { Self.isEqual($0, UnsafeRawBufferPointer(rebasing: bytes.dropFirst())) }
        }
        let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        // One more byte than there should be shows that the file is longer.
        let handle = FileHandle(forReadingAtPath: file.externalFile(name))
        return try handle?.read(upToCount: data.count + 1) ?? Data() == data
    }

    /// Values outside the row are compared in pieces, by the digest of their bytes.
    private func isEqual(
        _ reference: BlobReference, _ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute,
        _ kind: SQLiteStatement.Kind
    ) throws -> Bool {
        try store.checkBlob(reference)
        guard let bytes = try source(row, column, attribute, kind), UInt64(bytes.count) == reference.sizeInBytes else {
            return false
        }
        return try BlobReference(of: bytes) == reference
    }

    /// The bytes that a column has or names; nil for a number.
    private func source(
        _ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute, _ kind: SQLiteStatement.Kind
    ) throws -> BytesInPieces? {
        guard kind == .text || kind == .blob else { return nil }
        let large = row.large[column]
        let beginning = try large?.beginning(64) ?? Array(row.bytes(column).prefix(64))
        let isMarked = kind == .blob && attribute.allowsExternalStorage && [1, 2].contains(beginning.first)
        if isMarked, beginning.first == 2 {
            let name = String(decoding: beginning.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            let descriptor = open(file.externalFile(name), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            return descriptor < 0 ? nil : BytesInPieces(file: descriptor, path: name)
        }
        let start = isMarked ? 1 : 0
        return large?.pieces(from: start) ?? BytesInPieces(Data(row.bytes(column).dropFirst(start)))
    }
}
