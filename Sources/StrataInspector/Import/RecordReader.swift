// Reads the records of imported files: NDJSON, JSON and property lists.

import Foundation

/// One record of an imported file.
struct InputRecord {
    /// Each key once. Records with the same keys have them in the same order.
    let keys: [String]
    /// The value of each key; nil for one that is empty in this record.
    let values: [InputValue?]
    let location: RecordLocation

    init(keys: [String], values: [InputValue?], location: RecordLocation) {
        self.keys = keys
        self.values = values
        self.location = location
    }

    init(_ object: [String: InputValue], location: RecordLocation) {
        let sorted = object.sorted { $0.key < $1.key }
        self.init(keys: sorted.map(\.key), values: sorted.map(\.value), location: location)
    }
}

/// Reads the records of a file one after the other.
protocol RecordReader {
    /// The keys of every record; nil if each record has its own.
    var keys: [String]? { get }

    /// What may be wrong if the keys are not those of the entity, as a sentence behind a blank; empty if nothing is known.
    var hint: String { get }

    /// The next record; nil at the end.
    ///
    /// - Throws: `InputError` with the location of an error in the file.
    mutating func next() throws -> InputRecord?
}

extension RecordReader {
    var keys: [String]? { nil }
    var hint: String { "" }
}

enum RecordReaders {
    static func reader(_ form: RecordForm, _ source: ByteSource, separator: UInt8) throws -> any RecordReader {
        // A property list says itself how it is encoded.
        if form != .plist, source.isUTF16 {
            throw InputError("It is UTF-16, and UTF-8 is needed: iconv -f UTF-16 -t UTF-8 makes it.")
        }
        return switch form {
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
        while let bytes = try bytes() {
            line += 1
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            let value: InputValue
            do {
                value = try JSONReader.value(bytes, line: line, mostValues: source.mostValues)
            } catch let error as InputError {
                throw InputError("line \(line): \(error.message.replacing("(line \(line), byte ", with: "(byte "))")
            }
            guard case .object(let values) = value else { throw InputError("line \(line): This is not an object.") }
            return InputRecord(values, location: .line(line))
        }
        return nil
    }

    private func bytes() throws -> [UInt8]? {
        source.beginRecord()
        do {
            return try source.line()
        } catch let error as ByteSource.RecordTooLong {
            throw error.error("line \(line + 1)")
        }
    }
}

extension ByteSource {
    /// The most values of one record, because a value of a few bytes takes a hundred in memory.
    var mostValues: Int { max(1000, recordLimit / 128) }
    /// The most values of a file that is read whole, whose records have mostly one for each few bytes.
    var mostFileValues: Int { recordLimit / 16 }
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
            source.beginRecord()
            do {
                return try record(try source.rest(), line, byte)
            } catch let error as ByteSource.RecordTooLong {
                throw error.error("the object of line \(line)")
            }
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
        source.beginRecord()
        do {
            try source.collect(into: &bytes) { extent.ends(before: $0) }
        } catch let error as ByteSource.RecordTooLong {
            throw error.error("element \(count + 1) (line \(start))")
        }
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
        let value = try JSONReader.value(bytes, line: line, byte: byte, mostValues: source.mostValues)
        let location = RecordLocation.element(count, line: line)
        guard case .object(let values) = value else { throw InputError("\(location): This is not an object.") }
        return InputRecord(values, location: location)
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
    private let mostValues: Int

    init(_ source: ByteSource) throws {
        mostValues = source.mostValues
        let list: Any
        do {
            source.beginRecord()
            let bytes = try source.rest()
            // A value of the XML form takes two tags.
            let tags = bytes.count { $0 == UInt8(ascii: "<") }
            var extent = PropertyListExtent(bytes)
            if extent?.exceeds(source.mostFileValues) ?? (tags / 2 > source.mostFileValues) {
                throw InputError("The property list has more than \(source.mostFileValues) values.")
            }
            list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        } catch let error as InputError {
            throw error
        } catch let error as ByteSource.RecordTooLong {
            throw error.error("A property list is read whole, and this one")
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
        var converter = PropertyListConverter(valuesLeft: mostValues)
        do {
            return InputRecord(
                try dictionary.mapValues { try converter.value($0) }, location: .element(count, line: nil))
        } catch let error as InputError {
            throw InputError("element \(count): \(error.message)")
        }
    }

    /// The underlying error, which names the line; Foundation's own only says that the format is wrong.
    private static func sentence(_ error: any Error) -> String {
        let detail = (error as NSError).userInfo["NSDebugDescription"] as? String
        return detail.map { $0.hasSuffix(".") ? $0 : $0 + "." } ?? error.localizedDescription
    }
}

/// Makes input values of a property list's objects.
private struct PropertyListConverter {
    /// A binary property list may name one object many times, so that it unfolds to more values than it has bytes.
    var valuesLeft: Int

    mutating func value(_ any: Any) throws -> InputValue {
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw InputError("It has too many values.") }
        switch any {
        case let date as Date: return .date(date)
        case let data as Data: return .data(data)
        case let text as String: return .text(text)
        case let list as [Any]: return .list(try list.map { try value($0) })
        // Property lists have no nil: an export writes an empty dictionary where leaving the key out would mean the default.
        case let dictionary as [String: Any]:
            return dictionary.isEmpty ? .null : .object(try dictionary.mapValues { try value($0) })
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
