import Foundation

/// Reads JSON without rounding numbers: a decimal of thirty digits keeps them all.
enum JSONReader {
    /// - Throws: `InputError` with the line and byte of the error.
    static func value(_ text: String) throws -> InputValue {
        var parser = JSONParser(Array(text.utf8))
        return try parser.whole()
    }

    /// - Parameters:
    ///   - line: the line of the file that the bytes begin in.
    ///   - byte: the number of bytes before them in the file.
    ///   - mostValues: the most values, inner ones counted.
    static func value(
        _ bytes: [UInt8], line: Int = 1, byte: Int = 0, mostValues: Int = .max
    ) throws -> InputValue {
        var parser = JSONParser(bytes, line: line, byte: byte, mostValues: mostValues)
        return try parser.whole()
    }
}

/// The parser: RFC 8259 without extensions.
struct JSONParser {
    private let bytes: [UInt8]
    private var offset = 0
    /// The place of the bytes in their file.
    private let firstLine: Int
    private let bytesBefore: Int
    private static let mostLevels = 200
    private let mostValues: Int
    private var valueCount = 0

    init(_ bytes: [UInt8], line: Int = 1, byte: Int = 0, mostValues: Int = .max) {
        self.mostValues = mostValues
        self.bytes = bytes
        firstLine = line
        bytesBefore = byte
    }

    mutating func whole() throws -> InputValue {
        let value = try value(0)
        skipSpace()
        guard offset == bytes.count else { throw error("there is more after the value") }
        return value
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private mutating func skipSpace() {
        while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private func error(_ text: String) -> InputError {
        let line = bytes[..<min(offset, bytes.count)].reduce(firstLine) { $1 == 0x0A ? $0 + 1 : $0 }
        return InputError("This is not JSON: \(text) (line \(line), byte \(bytesBefore + offset + 1)).")
    }

    // MARK: Values

    private mutating func value(_ level: Int) throws -> InputValue {
        skipSpace()
        guard offset < bytes.count else { throw error("it ends too soon") }
        valueCount += 1
        guard valueCount <= mostValues else { throw error("it has more than \(mostValues) values") }
        guard level < Self.mostLevels else { throw error("it is nested more than \(Self.mostLevels) levels deep") }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return try object(level)
        case UInt8(ascii: "["): return try list(level)
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: StaticString, _ value: InputValue) throws -> InputValue {
        let end = offset + word.utf8CodeUnitCount
        let isThere = word.withUTF8Buffer { end <= bytes.count && bytes[offset..<end].elementsEqual($0) }
        guard isThere else { throw error("there is no value") }
        offset = end
        return value
    }

    private mutating func object(_ level: Int) throws -> InputValue {
        offset += 1
        var members: [String: InputValue] = [:]
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else { throw error("there is no key") }
            let key = try string()
            skipSpace()
            guard take(":") else { throw error("there is no colon") }
            guard members.updateValue(try value(level + 1), forKey: key) == nil else {
                throw error("the key '\(key)' occurs twice")
            }
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("there is no comma or brace") }
        }
    }

    private mutating func list(_ level: Int) throws -> InputValue {
        offset += 1
        var elements: [InputValue] = []
        skipSpace()
        if take("]") { return .list(elements) }
        while true {
            elements.append(try value(level + 1))
            skipSpace()
            if take("]") { return .list(elements) }
            guard take(",") else { throw error("there is no comma or bracket") }
        }
    }

    private mutating func number() throws -> InputValue {
        let start = offset
        _ = take("-")
        let whole = digits()
        guard whole > 0, whole == 1 || bytes[offset - whole] != UInt8(ascii: "0") else {
            throw error("there is no value")
        }
        if take("."), digits() == 0 { throw error("a number ends in its point") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if digits() == 0 { throw error("a number ends in its exponent") }
        }
        return .number(String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    private mutating func digits() -> Int {
        let start = offset
        while offset < bytes.count, 0x30...0x39 ~= bytes[offset] { offset += 1 }
        return offset - start
    }

    // MARK: Text

    private mutating func string() throws -> String {
        offset += 1
        var text: [UInt8] = []
        text.reserveCapacity((bytes[offset...].firstIndex(of: UInt8(ascii: "\"")) ?? offset) - offset)
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                guard let string = String(validating: text, as: UTF8.self) else { throw error("text is not UTF-8") }
                return string
            case UInt8(ascii: "\\"): try escape(&text)
            case 0..<0x20: throw error("text contains a control character")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw error("text does not end")
    }

    private mutating func escape(_ text: inout [UInt8]) throws {
        guard offset + 1 < bytes.count else { throw error("text does not end") }
        offset += 2
        switch bytes[offset - 1] {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"): text.append(contentsOf: Array(String(try scalar()).utf8))
        case let byte where [0x22, 0x5C, 0x2F].contains(byte): text.append(byte)
        default: throw error("there is no such escape")
        }
    }

    /// The scalar after `\u`, from two escapes if it is a surrogate pair.
    private mutating func scalar() throws -> Character {
        let first = try hexadecimal()
        guard 0xD800...0xDBFF ~= first else {
            guard let scalar = Unicode.Scalar(first) else { throw error("half a surrogate pair") }
            return Character(scalar)
        }
        guard take("\\"), take("u") else { throw error("half a surrogate pair") }
        let second = try hexadecimal()
        guard 0xDC00...0xDFFF ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("half a surrogate pair") }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws -> UInt32 {
        guard offset + 4 <= bytes.count else { throw error("text does not end") }
        let digits = bytes[offset..<offset + 4]
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw error("there is no such escape") }
        offset += 4
        return value
    }
}
