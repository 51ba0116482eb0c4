import Foundation
import StrataGraph
import StrataModel

/// Compares a value of the new store with the column that it came from, by computing the column's contents from the
/// value.
///
/// It shares nothing with the reading of columns, so that an error there shows.
struct ValueComparison {
    let file: CoreDataFile
    /// The bytes of a value outside the row.
    let blob: (BlobReference) throws -> Data

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
        case .data(let data): return isEqual(data, row, column, attribute, kind)
        case .blob(let reference): return isEqual(try blob(reference), row, column, attribute, kind)
        case .objectID, .composite, .encrypted: return false
        }
    }

    private static func isEqual(
        _ bytes: [UInt8], _ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind
    ) -> Bool {
        kind == .text || kind == .blob ? row.bytes(column).elementsEqual(bytes) : Array(row.text(column).utf8) == bytes
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
    ) -> Bool {
        let bytes = row.bytes(column)
        guard attribute.allowsExternalStorage, let lead = bytes.first, lead == 1 || lead == 2 else {
            return Self.isEqual(Array(data), row, column, kind)
        }
        if lead == 1 { return bytes.dropFirst().elementsEqual(data) }
        let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        return FileManager.default.contents(atPath: file.externalFile(name)) == data
    }
}
