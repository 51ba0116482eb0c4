import Foundation

/// One record of an imported file.
struct InputRecord {
    var values: [String: InputValue]
    /// Keys that the file has and that are empty in this record.
    var blanks: [String] = []
    /// Where in the file it is: "line 12".
    let location: String
}

/// Reads the records of a file one after the other.
protocol RecordReader {
    /// The keys of every record; nil if each record has its own.
    var keys: [String]? { get }

    /// The next record; nil at the end.
    ///
    /// - Throws: `InputError` with the location of an error in the file.
    mutating func next() throws -> InputRecord?
}

extension RecordReader {
    var keys: [String]? { nil }
}

enum RecordReaders {
    static func reader(_ form: RecordForm, _ source: ByteSource, separator: UInt8) throws -> any RecordReader {
        switch form {
        case .csv: try CSVRecordReader(source, separator: separator)
        case .ndjson: NDJSONRecordReader(source)
        case .json: JSONRecordReader(source)
        case .plist: try PropertyListRecordReader(source)
        }
    }
}

// MARK: - JSON

/// Reads an object from each line (NDJSON); empty lines are skipped.
struct NDJSONRecordReader: RecordReader {
    private let source: ByteSource
    private var line = 0

    init(_ source: ByteSource) { self.source = source }

    mutating func next() throws -> InputRecord? {
        while let bytes = try source.line() {
            line += 1
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            let value: InputValue
            do {
                value = try JSONReader.value(bytes)
            } catch let error as InputError {
                throw InputError("line \(line): \(error.message)")
            }
            guard case .object(let values) = value else { throw InputError("line \(line): This is not an object.") }
            return InputRecord(values: values, location: "line \(line)")
        }
        return nil
    }
}

/// Reads an array of objects, or one object. Only one element of the array is in memory at a time.
struct JSONRecordReader: RecordReader {
    private enum Form {
        case unknown, array, single, done
    }

    private let source: ByteSource
    private var form = Form.unknown
    private var count = 0
    private var line = 1

    init(_ source: ByteSource) { self.source = source }

    mutating func next() throws -> InputRecord? {
        if form == .unknown { try begin() }
        switch form {
        case .unknown, .done: return nil
        case .array: return try element()
        case .single:
            form = .done
            let (line, byte) = (line, source.position)
            return try record(try source.rest(), line, byte)
        }
    }

    private mutating func begin() throws {
        try skipSpace()
        form = .single
        if try source.peek() == UInt8(ascii: "[") {
            _ = try source.next()
            form = .array
        }
    }

    private mutating func element() throws -> InputRecord? {
        try skipSpace()
        if try count == 0 && source.peek() == UInt8(ascii: "]") {
            _ = try source.next()
            try end()
            return nil
        }
        let (start, byte) = (line, source.position)
        var extent = JSONElementExtent()
        var bytes: [UInt8] = []
        try source.collect(into: &bytes) { extent.ends(before: $0) }
        line += extent.lineCount
        let record = try record(bytes, start, byte)
        guard let separator = try source.next() else { throw error("the array does not end") }
        if separator == UInt8(ascii: "]") { try end() }
        return record
    }

    /// Checks that only space follows the array.
    private mutating func end() throws {
        form = .done
        try skipSpace()
        guard try source.peek() == nil else { throw error("there is more after the array") }
    }

    private mutating func record(_ bytes: [UInt8], _ line: Int, _ byte: Int) throws -> InputRecord {
        count += 1
        let value = try JSONReader.value(bytes, line: line, byte: byte)
        let location = "element \(count) (line \(line))"
        guard case .object(let values) = value else { throw InputError("\(location): This is not an object.") }
        return InputRecord(values: values, location: location)
    }

    private mutating func skipSpace() throws {
        while let byte = try source.peek(), JSONParser.isSpace(byte) {
            if byte == 0x0A { line += 1 }
            _ = try source.next()
        }
    }

    private func error(_ text: String) -> InputError {
        InputError("This is not JSON: \(text) (line \(line), byte \(source.position + 1)).")
    }
}

/// Finds the end of an array's element without parsing it: the next comma or bracket outside texts and inner brackets.
struct JSONElementExtent {
    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private(set) var lineCount = 0

    mutating func ends(before byte: UInt8) -> Bool {
        if isInText {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInText = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 0 { return byte == UInt8(ascii: "]") }
            depth -= 1
        case UInt8(ascii: ","): return depth == 0
        case 0x0A: lineCount += 1
        default: break
        }
        return false
    }
}

// MARK: - Property lists

/// Reads an array of dictionaries, or one dictionary, from a property list of any form.
struct PropertyListRecordReader: RecordReader {
    private var elements: ArraySlice<Any>
    private var count = 0

    init(_ source: ByteSource) throws {
        let list: Any
        do {
            list = try PropertyListSerialization.propertyList(from: Data(try source.rest()), format: nil)
        } catch {
            throw InputError("This is not a property list: \(Self.sentence(error))")
        }
        elements = (list as? [Any] ?? [list])[...]
    }

    mutating func next() throws -> InputRecord? {
        guard let element = elements.popFirst() else { return nil }
        count += 1
        guard let dictionary = element as? [String: Any] else {
            throw InputError("element \(count): This is not a dictionary.")
        }
        return InputRecord(values: dictionary.mapValues(Self.value), location: "element \(count)")
    }

    /// The underlying error, which names the line; Foundation's own only says that the format is wrong.
    private static func sentence(_ error: any Error) -> String {
        let detail = (error as NSError).userInfo["NSDebugDescription"] as? String
        return detail.map { $0.hasSuffix(".") ? $0 : $0 + "." } ?? error.localizedDescription
    }

    private static func value(_ any: Any) -> InputValue {
        switch any {
        case let date as Date: return .date(date)
        case let data as Data: return .data(data)
        case let text as String: return .text(text)
        case let list as [Any]: return .list(list.map(value))
        // Property lists have no nil: an export writes an empty dictionary where leaving the key out would mean the default.
        case let dictionary as [String: Any]: return dictionary.isEmpty ? .null : .object(dictionary.mapValues(value))
        case let flag as Bool where Self.isBoolean(any): return .boolean(flag)
        case let number as NSNumber: return .number(number.stringValue)
        default: return .text("\(any)")
        }
    }

    /// Whether a number is really a Boolean: casts also accept the numbers 0 and 1.
    private static func isBoolean(_ any: Any) -> Bool {
        guard type(of: any) != Bool.self, let number = any as? NSNumber else { return true }
        return UInt8(bitPattern: number.objCType.pointee) == UInt8(ascii: "B")
            || UInt8(bitPattern: number.objCType.pointee) == UInt8(ascii: "c")
    }
}

// MARK: - CSV

/// Reads CSV (RFC 4180) with any line ends; the first line names the columns. An empty field without quotes is nil. Empty
/// lines are skipped, except in a file of one column, where they are records.
struct CSVRecordReader: RecordReader {
    private let source: ByteSource
    private let separator: UInt8
    private var line = 1
    private var columns: [String] = []

    init(_ source: ByteSource, separator: UInt8) throws {
        self.source = source
        self.separator = separator
        columns = try fields()?.map { $0.text ?? "" } ?? []
        let named = columns.filter { !$0.isEmpty }
        guard Set(named).count == named.count else { throw InputError("line 1: Two columns have one name.") }
    }

    var keys: [String]? { columns.isEmpty ? nil : columns.filter { !$0.isEmpty } }

    mutating func next() throws -> InputRecord? {
        while true {
            let start = line
            guard let fields = try fields() else { return nil }
            if fields.count == 1, fields[0].text == nil, columns.count != 1 { continue }
            guard fields.count == columns.count else {
                throw InputError("line \(start): It has \(fields.count) fields, the heading has \(columns.count).")
            }
            var record = InputRecord(values: [:], location: "line \(start)")
            for (column, field) in zip(columns, fields) where !column.isEmpty {
                if let text = field.text { record.values[column] = .text(text) } else { record.blanks.append(column) }
            }
            return record
        }
    }

    private struct Field {
        /// nil for an empty field without quotes.
        let text: String?
    }

    private mutating func fields() throws -> [Field]? {
        guard try source.peek() != nil else { return nil }
        var fields: [Field] = []
        while true {
            fields.append(try field())
            guard let byte = try source.next() else { return fields }
            if byte == separator { continue }
            if byte == 0x0D, try source.peek() == 0x0A { _ = try source.next() }
            line += 1
            return fields
        }
    }

    /// Reads a field up to the separator or line end, which is not consumed.
    private mutating func field() throws -> Field {
        var bytes: [UInt8] = []
        let isQuoted = try source.peek() == 0x22
        if isQuoted {
            let start = line
            _ = try source.next()
            try quoted(into: &bytes, from: start)
        }
        while let byte = try source.peek(), byte != separator, byte != 0x0A, byte != 0x0D {
            guard !isQuoted else { throw InputError("line \(line): There is text after a closing quote.") }
            bytes.append(byte)
            _ = try source.next()
        }
        guard isQuoted || !bytes.isEmpty else { return Field(text: nil) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InputError("line \(line): It is not UTF-8.")
        }
        return Field(text: text)
    }

    private mutating func quoted(into bytes: inout [UInt8], from start: Int) throws {
        while let byte = try source.next() {
            if byte == 0x22 {
                guard try source.peek() == 0x22 else { return }
                _ = try source.next()
            }
            if byte == 0x0A { line += 1 }
            bytes.append(byte)
        }
        throw InputError("line \(start): A quote is not closed.")
    }
}
