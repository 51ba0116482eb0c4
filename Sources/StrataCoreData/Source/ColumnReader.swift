import Foundation
import StrataGraph
import StrataModel

/// What of an attribute matters for each row; a reference, because a description is expensive to copy.
final class ColumnAttribute: Sendable {
    let description: AttributeDescription
    let type: AttributeType
    let isOptional: Bool
    let hasRules: Bool
    let isDerived: Bool
    let allowsExternalStorage: Bool
    /// Whether the bytes are an archive whose value is taken; see `PlainArchive`.
    let isUnpacked: Bool

    init(_ description: AttributeDescription, isUnpacked: Bool = false) {
        self.description = description
        self.isUnpacked = isUnpacked
        type = description.type
        isOptional = description.isOptional
        hasRules = !description.validationRules.isEmpty
        isDerived = description.derivationExpression != nil
        allowsExternalStorage = description.allowsExternalBinaryDataStorage
    }
}

/// Makes values of the columns of a row.
struct ColumnReader {
    /// What a column holds.
    enum Value {
        case sound(AttributeValue)
        /// What is taken instead, and why.
        case unsound(AttributeValue, String)
    }

    private let file: CoreDataFile

    init(_ file: CoreDataFile) { self.file = file }

    func value(_ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute) -> Value {
        let kind = row.kind(column)
        if kind == .null { return .sound(.null) }
        switch attribute.type {
        case .integer16: return integer(row, column, kind, Int64(Int16.min)...Int64(Int16.max))
        case .integer32: return integer(row, column, kind, Int64(Int32.min)...Int64(Int32.max))
        case .integer64: return integer(row, column, kind, Int64.min...Int64.max)
        case .boolean:
            guard let number = Self.double(row, column, kind) else { return .unsound(.null, "is no truth value") }
            return .sound(.boolean(number != 0))
        case .double: return real(row, column, kind) { .double($0) }
        case .float: return real(row, column, kind) { .float(Float($0)) }
        case .date: return real(row, column, kind) { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .decimal: return decimal(row, column, kind)
        case .string: return text(row, column, kind)
        case .uri: return url(row, column, kind)
        case .uuid: return uuid(row, column, kind)
        case .binaryData: return data(row, column, attribute)
        case .transformable where attribute.isUnpacked: return unpacked(row, column, kind)
        case .transformable, .undefined: return .sound(.data(Data(bytes(row, column, kind))))
        case .objectID: return .unsound(.null, "refers to an object of another store")
        case .composite: return .unsound(.null, "is a composite in a single column")
        }
    }

    private static func double(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Double? {
        switch kind {
        case .integer, .real: row.double(column)
        case .text: Double(row.text(column))
        case .blob, .null: nil
        }
    }

    private func integer(
        _ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind, _ range: ClosedRange<Int64>
    ) -> Value {
        let number: Int64? =
            switch kind {
            case .integer: row.integer(column)
            case .real: Int64(exactly: row.double(column))
            case .text: Int64(row.text(column))
            case .blob, .null: nil
            }
        guard let number else { return .unsound(.null, "is no whole number") }
        return range.contains(number) ? .sound(.integer(number)) : .unsound(.null, "is too large for its type")
    }

    private func real(
        _ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind, _ make: (Double) -> AttributeValue
    ) -> Value {
        guard let number = Self.double(row, column, kind) else { return .unsound(.null, "is no number") }
        return .sound(make(number))
    }

    /// A real number is the decimal that its shortest text shows: the file keeps no more.
    private func decimal(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        if kind == .integer { return .sound(.decimal(Decimal(row.integer(column)))) }
        if kind == .text, row.text(column) == "NaN" { return .sound(.decimal(.nan)) }
        let number = Decimal(string: row.text(column), locale: Locale(identifier: "en_US_POSIX"))
        guard kind != .blob, let number, !number.isNaN else { return .unsound(.null, "is no decimal") }
        return .sound(.decimal(number))
    }

    private func text(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        guard kind == .text || kind == .blob else { return .sound(.string(row.text(column))) }
        let bytes = row.bytes(column)
        if let text = String(validating: bytes, as: UTF8.self) { return .sound(.string(text)) }
        let mended = String(decoding: bytes, as: UTF8.self)
        return .unsound(.string(mended), "is no sound text; marks stand for what is not")
    }

    private func url(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        guard kind == .text || kind == .blob, let url = URL(string: row.text(column), encodingInvalidCharacters: false),
            url.absoluteString == row.text(column)
        else { return .unsound(.null, "is no URL") }
        return .sound(.url(url))
    }

    private func uuid(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        let bytes = row.bytes(column)
        if kind == .blob, bytes.count == 16 { return .sound(.uuid(UUID(bytes))) }
        if kind == .text, let id = UUID(uuidString: row.text(column)) { return .sound(.uuid(id)) }
        return .unsound(.null, "is no UUID")
    }

    private func bytes(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> [UInt8] {
        kind == .text || kind == .blob ? Array(row.bytes(column)) : Array(row.text(column).utf8)
    }

    private func unpacked(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        do {
            guard let value = PlainArchive.value(of: bytes(row, column, kind)) else {
                return .unsound(.null, "is an archive of other classes")
            }
            return .sound(.data(try value.storedBytes))
        } catch {
            return .unsound(.null, "cannot be encoded: \(error)")
        }
    }

    /// The contents of a file of Core Data's. A symbolic link could lead to any file of the machine, a pipe to no end.
    private func external(_ name: String) -> Value {
        let descriptor = open(file.externalFile(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            let isLink = errno == ELOOP
            return .unsound(.null, "is in the file \(name), which is \(isLink ? "a symbolic link" : "not there")")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return .unsound(.null, "is in the file \(name), which is no file")
        }
        do {
            return .sound(.data(try handle.readToEnd() ?? Data()))
        } catch {
            return .unsound(.null, "is in the file \(name), which cannot be read")
        }
    }

    /// Data that may be outside the row begins with 1 and goes on in the row, or with 2 and names its file.
    private func data(_ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute) -> Value {
        let bytes = row.bytes(column)
        guard attribute.allowsExternalStorage, let lead = bytes.first else {
            return .sound(.data(Data(bytes)))
        }
        switch lead {
        case 1: return .sound(.data(Data(bytes.dropFirst())))
        case 2:
            let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            guard UUID(uuidString: name) != nil else { return .sound(.data(Data(bytes))) }
            return external(name)
        default: return .sound(.data(Data(bytes)))
        }
    }
}
