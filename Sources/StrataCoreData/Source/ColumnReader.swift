// Reads values of attributes from the columns of a Core Data file, and reports unsound ones.

import Foundation
import StrataGraph
import StrataModel
import StrataStore

/// The facts of an attribute that are needed for each row; a reference, because a description is expensive to copy.
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
    /// The value of a column.
    enum Value {
        case sound(AttributeValue, FaultList.Remark? = nil)
        /// The value that replaces an unsound one, the reason, and the words for the outcome.
        case unsound(AttributeValue, String, outcome: String = FaultOutcome.leftOut)
        /// Data that has not been read, because it may be too much for memory.
        case pieces(BytesInPieces, FaultList.Remark? = nil)
    }

    private let file: CoreDataFile

    init(_ file: CoreDataFile) { self.file = file }

    /// The most bytes of a value in a row: the log and the object both have it, and one save writes both.
    static let mostBytesInRow = 100 << 20

    func value(_ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute) -> Value {
        let kind = row.kind(column)
        if kind == .null { return .sound(.null) }
        if let sentence = tooLong(row, column, attribute, kind) { return .unsound(.null, sentence) }
        switch attribute.type {
        case .integer16: return integer(row, column, kind, Int64(Int16.min)...Int64(Int16.max))
        case .integer32: return integer(row, column, kind, Int64(Int32.min)...Int64(Int32.max))
        case .integer64: return integer(row, column, kind, Int64.min...Int64.max)
        case .boolean: return boolean(row, column, kind)
        case .double: return real(row, column, kind) { .double($0) }
        case .float: return float(row, column, kind)
        case .date: return real(row, column, kind) { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .decimal: return decimal(row, column, kind)
        case .string: return text(row, column, kind)
        case .uri: return url(row, column, kind)
        case .uuid: return uuid(row, column, kind)
        case .binaryData: return data(row, column, attribute, kind)
        case .transformable where attribute.isUnpacked: return unpacked(row, column, kind)
        case .transformable, .undefined: return data(bytes(row, column, kind), kind)
        case .objectID: return .unsound(.null, "refers to an object of another store")
        case .composite: return .unsound(.null, "is a composite in a single column")
        }
    }

    /// What is wrong with a text or data that is longer than its type allows, or than a row can hold.
    private func tooLong(
        _ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute, _ kind: SQLiteStatement.Kind
    ) -> String? {
        guard kind == .text || kind == .blob else { return nil }
        let count = row.byteCount(column)
        switch attribute.type {
        case .binaryData where kind == .blob && attribute.allowsExternalStorage: return nil
        case .string, .uri, .binaryData, .transformable, .undefined:
            let most = Self.mostBytesInRow
            if count > most { return "has \(count) bytes, and a row has at most \(most) of a value" }
            guard let before = row.large[column]?.countBefore, before + count > most else { return nil }
            return "has \(count) bytes, and the long values of a row have at most \(most) together"
        default: return count > Self.mostBytesOfOtherTypes ? "has \(count) bytes, which no value of its type has" : nil
        }
    }

    /// Far more than a number, a date or a UUID has.
    private static let mostBytesOfOtherTypes = 1 << 20

    /// The outcomes for a text where Core Data writes another type.
    private static let numberTaken = "its number is taken"
    private static let bytesTaken = "its bytes are taken"

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
        guard let number else { return .unsound(.null, "is no whole number of its type") }
        guard range.contains(number) else { return .unsound(.null, "is too large for its type") }
        return sound(.integer(number), kind)
    }

    /// A number, which is a fault if it is in a text.
    private func sound(_ value: AttributeValue, _ kind: SQLiteStatement.Kind) -> Value {
        kind == .text
            ? .unsound(value, "is a text in place of a number", outcome: Self.numberTaken) : .sound(value)
    }

    private func boolean(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        guard let number = Self.double(row, column, kind), !number.isNaN else {
            return .unsound(.null, "is no truth value")
        }
        guard number == 0 || number == 1 else {
            return .unsound(.boolean(true), "is a truth value other than 0 and 1", outcome: "it is taken as true")
        }
        return sound(.boolean(number != 0), kind)
    }

    private func real(
        _ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind, _ make: (Double) -> AttributeValue
    ) -> Value {
        guard let number = Self.double(row, column, kind) else { return .unsound(.null, "is no number") }
        if kind == .integer, Int64(exactly: number) != row.integer(column) {
            return .unsound(make(number), "has more digits than its type keeps", outcome: "the nearest is taken")
        }
        return sound(make(number), kind)
    }

    private func float(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        guard let number = Self.double(row, column, kind) else { return .unsound(.null, "is no number") }
        let float = Float(number)
        guard number.isFinite == float.isFinite else { return .unsound(.null, "is too large for its type") }
        guard (number == 0) == (float == 0) else { return .unsound(.null, "is too small for its type") }
        if kind == .text { return sound(.float(float), kind) }
        return .sound(.float(float), Double(float) == number || number.isNaN ? nil : .rounded)
    }

    /// A real number becomes the decimal of its shortest text: the file keeps no more digits.
    private func decimal(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        if kind == .integer { return .sound(.decimal(Decimal(row.integer(column)))) }
        let text = row.text(column)
        if kind == .text, text == "NaN" { return .sound(.decimal(.nan)) }
        // Foundation's reading stops at the first character that it does not know.
        guard kind != .blob, let digits = DecimalDigits(text),
            let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !number.isNaN
        else { return .unsound(.null, "is no decimal") }
        guard DecimalDigits(number) == digits else {
            return .unsound(.decimal(number), "has more digits than a decimal keeps", outcome: "the nearest is taken")
        }
        return .sound(.decimal(number))
    }

    private func text(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        guard kind == .text || kind == .blob else {
            return .unsound(
                .string(row.text(column)), "is a number in place of a text", outcome: "its digits are taken")
        }
        let bytes = row.bytes(column)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .unsound(
                .string(String(decoding: bytes, as: UTF8.self)), "is no sound text",
                outcome: "marks stand for what is not")
        }
        return kind == .text
            ? .sound(.string(text)) : .unsound(.string(text), "is data in place of a text", outcome: Self.bytesTaken)
    }

    private func url(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        guard kind == .text || kind == .blob, let url = URL(string: row.text(column), encodingInvalidCharacters: false),
            url.absoluteString == row.text(column)
        else { return .unsound(.null, "is no URL") }
        return kind == .text
            ? .sound(.url(url)) : .unsound(.url(url), "is data in place of a text", outcome: Self.bytesTaken)
    }

    private func uuid(_ row: SQLiteStatement, _ column: Int, _ kind: SQLiteStatement.Kind) -> Value {
        let bytes = row.bytes(column)
        if kind == .blob, bytes.count == 16 { return .sound(.uuid(UUID(bytes))) }
        if kind == .text, let id = UUID(uuidString: row.text(column)) {
            return .unsound(.uuid(id), "is a text in place of 16 bytes", outcome: "its UUID is taken")
        }
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
        guard let bytes = BytesInPieces(file: descriptor, path: file.externalFile(name)) else {
            return .unsound(.null, "is in the file \(name), which is no file")
        }
        guard bytes.count <= Self.mostBytesOfExternalFileAtOnce else { return .pieces(bytes) }
        do {
            return .sound(.data(try bytes.data()))
        } catch {
            return .unsound(.null, "is in the file \(name), which cannot be read")
        }
    }

    private static let mostBytesOfExternalFileAtOnce = 1 << 20

    private func data(_ bytes: [UInt8], _ kind: SQLiteStatement.Kind) -> Value {
        kind == .blob
            ? .sound(.data(Data(bytes)))
            : .unsound(
                .data(Data(bytes)), "is a \(kind == .text ? "text" : "number") in place of data",
                outcome: Self.bytesTaken)
    }

    private static func pieces(_ value: LargeValue) -> Value {
        let beginning: [UInt8]
        do throws(StrataError) {
            beginning = try value.beginning(1)
        } catch {
            return .unsound(.null, "cannot be read")
        }
        switch beginning.first {
        case 1: return .pieces(value.pieces(from: 1))
        case 2: return .unsound(.null, noNameOfAFile)
        default: return .pieces(value.pieces(from: 0), .unmarked)
        }
    }

    private static let noNameOfAFile = "is said to be in a file, and what names the file is no UUID"

    /// Data that may be outside the row begins with 1 and goes on in the row, or with 2 and names its file.
    private func data(
        _ row: SQLiteStatement, _ column: Int, _ attribute: ColumnAttribute, _ kind: SQLiteStatement.Kind
    ) -> Value {
        guard kind == .blob else { return data(bytes(row, column, kind), kind) }
        if attribute.allowsExternalStorage, let value = row.large[column] { return Self.pieces(value) }
        let bytes = row.bytes(column)
        guard attribute.allowsExternalStorage, let lead = bytes.first else { return .sound(.data(Data(bytes))) }
        switch lead {
        case 1: return .sound(.data(Data(bytes.dropFirst())))
        case 2:
            let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            guard UUID(uuidString: name) != nil else {
                return .unsound(.null, Self.noNameOfAFile)
            }
            return external(name)
        // The attribute was of the row alone when the value was written.
        default: return .sound(.data(Data(bytes)), .unmarked)
        }
    }
}
