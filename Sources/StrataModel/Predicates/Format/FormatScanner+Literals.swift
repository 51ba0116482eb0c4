import Foundation

// Scans the literals of format strings: quoted text and numbers.

extension FormatScanner {
    /// Scans text between two quotes of the same kind.
    mutating func quotedText() throws(FetchFormatError) -> String {
        let start = offset
        guard let quote = peek else { throw missing("text") }
        offset += 1
        var writer: [UInt8] = []
        while let byte = peek {
            if byte == quote {
                offset += 1
                return String(decoding: writer, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                try appendEscape(to: &writer)
            } else {
                writer.append(byte)
                offset += 1
            }
        }
        throw error(
            "this text is not closed by \(Character(Unicode.Scalar(quote))).", expected: "a closing quote", at: start)
    }

    /// Scans an escape: `\n` and similar ones, `\ooo`, `\xhh`, `\uhhhh`, `\Uhhhhhhhh`. A backslash before punctuation
    /// means the character itself.
    private mutating func appendEscape(to writer: inout [UInt8]) throws(FetchFormatError) {
        let start = offset
        offset += 1
        guard let byte = peek else { throw missing("the rest of an escape") }
        offset += 1
        switch byte {
        case UInt8(ascii: "n"): writer.append(0x0A)
        case UInt8(ascii: "r"): writer.append(0x0D)
        case UInt8(ascii: "t"): writer.append(0x09)
        case UInt8(ascii: "b"): writer.append(0x08)
        case UInt8(ascii: "f"): writer.append(0x0C)
        case UInt8(ascii: "v"): writer.append(0x0B)
        case UInt8(ascii: "a"): writer.append(0x07)
        case UInt8(ascii: "e"): writer.append(0x1B)
        case UInt8(ascii: "x"): try append(try digits(2, radix: 16, start), to: &writer, start)
        case UInt8(ascii: "u"): try appendUTF16(start, to: &writer)
        case UInt8(ascii: "U"): try append(try digits(8, radix: 16, start), to: &writer, start)
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            offset -= 1
            try append(try digits(3, radix: 8, start), to: &writer, start)
        case let letter where Self.isLetterOrDigit(letter):
            let sign = Character(Unicode.Scalar(letter))
            throw error("there is no escape \\\(sign); a backslash itself is written \\\\.", at: start)
        default: writer.append(byte)
        }
    }

    /// Scans the digits of `\u`, and of a second `\u` if the first is a high surrogate.
    private mutating func appendUTF16(_ start: Int, to writer: inout [UInt8]) throws(FetchFormatError) {
        var code = try digits(4, radix: 16, start)
        if (0xD800..<0xDC00).contains(code), isNext("\\u") {
            offset += 2
            let low = try digits(4, radix: 16, start)
            guard (0xDC00..<0xE000).contains(low) else {
                throw error("this is only half of a surrogate pair.", at: start)
            }
            code = 0x1_0000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        try append(code, to: &writer, start)
    }

    private func append(_ code: UInt32, to writer: inout [UInt8], _ start: Int) throws(FetchFormatError) {
        guard let scalar = Unicode.Scalar(code) else {
            throw error("this number is not a Unicode character.", at: start)
        }
        writer += Array(String(Character(scalar)).utf8)
    }

    private mutating func digits(_ count: Int, radix: Int, _ start: Int) throws(FetchFormatError) -> UInt32 {
        let end = min(offset + count, bytes.count)
        let text = text(offset..<end)
        guard text.utf8.count == count, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let number = UInt32(text, radix: radix)
        else {
            throw error("this escape needs \(count) \(radix == 8 ? "octal" : "hexadecimal") digits.", at: start)
        }
        offset = end
        return number
    }

    // MARK: Numbers

    /// Scans a number without sign: whole, with a point or an exponent, or after `0x`, `0o` or `0b`. A whole number
    /// that does not fit into 64 bits becomes a decimal.
    mutating func number() throws(FetchFormatError) -> AttributeValue {
        let start = offset
        if peek == UInt8(ascii: "0"), let sign = peek(1), let radix = Self.radix(sign) {
            offset += 2
            let range = alphanumerics()
            guard let value = UInt64(text(range), radix: radix) else {
                throw error("this is not a whole number of at most 64 bits.", expected: "digits", at: start)
            }
            return Int64(exactly: value).map(AttributeValue.integer) ?? .decimal(Decimal(value))
        }
        skipDigits()
        var isWhole = true
        if peek == UInt8(ascii: "."), isPointOfNumber {
            isWhole = false
            offset += 1
            skipDigits()
        }
        if skipExponent() { isWhole = false }
        let range = start..<offset
        let behind = nameParts(at: offset)
        if !behind.isEmpty, !InfixOperator.isWord(text(behind)) {
            throw error("\(text(start..<behind.upperBound)) is not a number.", at: start)
        }
        guard range.count <= 512, let value = isWhole ? Self.whole(text(range)) : Self.double(text(range)) else {
            throw error("this number is too large.", at: start)
        }
        return value
    }

    /// Whether the next point belongs to the number before it, as in `1.5`, `5.` and `5.e3`, and does not begin a key
    /// path.
    private var isPointOfNumber: Bool {
        guard let next = peek(1) else { return true }
        if Self.isDigit(next) { return true }
        var ahead = self
        ahead.offset += 1
        if ahead.skipExponent() { return true }
        ahead.skipSpace()
        guard let sign = ahead.peek else { return true }
        return !"@#$%.".utf8.contains(sign) && (ahead.offset > offset + 1 || ahead.name(at: ahead.offset).isEmpty)
    }

    private static func radix(_ sign: UInt8) -> Int? {
        switch sign {
        case UInt8(ascii: "x"), UInt8(ascii: "X"): 16
        case UInt8(ascii: "o"), UInt8(ascii: "O"): 8
        case UInt8(ascii: "b"), UInt8(ascii: "B"): 2
        default: nil
        }
    }

    private static func whole(_ text: String) -> AttributeValue? {
        if let value = Int64(text) { return .integer(value) }
        return text.utf8.count <= 38 ? Decimal(string: text).map(AttributeValue.decimal) : double(text)
    }

    private static func double(_ text: String) -> AttributeValue? {
        Double(text).flatMap { $0.isFinite ? .double($0) : nil }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether the byte is an ASCII letter or digit.
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte < 0x80 && byte != UInt8(ascii: "_") && PredicateWord.isNamePart(Unicode.Scalar(byte))
    }

    private mutating func skipDigits() {
        while let byte = peek, Self.isDigit(byte) { offset += 1 }
    }

    private mutating func skipExponent() -> Bool {
        guard peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") else { return false }
        let hasSign = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
        guard let digit = peek(hasSign ? 2 : 1), Self.isDigit(digit) else { return false }
        offset += hasSign ? 2 : 1
        skipDigits()
        return true
    }

    private mutating func alphanumerics() -> Range<Int> {
        let start = offset
        while let byte = peek, Self.isLetterOrDigit(byte) || byte == UInt8(ascii: "_") { offset += 1 }
        return start..<offset
    }
}
