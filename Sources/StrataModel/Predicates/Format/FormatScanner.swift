/// Scans a format string for signs, words, names and literals, on behalf of the parser.
///
/// It works on UTF-8 bytes: the signs of the language are ASCII, and names may have other characters.
struct FormatScanner {
    let format: String
    let bytes: [UInt8]
    var offset = 0

    init(_ format: String) throws(FetchFormatError) {
        self.format = format
        bytes = Array(format.utf8.prefix(PredicateLimits.formatLengthInBytes + 1))
        if bytes.count > PredicateLimits.formatLengthInBytes {
            throw FetchFormatError(
                format: String(format.prefix(200)), column: 1, expected: nil,
                sentence: "the format string is longer than \(PredicateLimits.formatLengthInBytes) bytes.")
        }
    }

    // MARK: Errors

    /// An error at the current offset, or at another.
    func error(_ sentence: String, expected: String? = nil, at: Int? = nil) -> FetchFormatError {
        let column = String(decoding: bytes[..<(at ?? offset)], as: UTF8.self).count + 1
        return FetchFormatError(format: format, column: column, expected: expected, sentence: sentence)
    }

    /// An error with the expected and the actual content at the current offset.
    mutating func missing(_ expected: String, hint: String = "") -> FetchFormatError {
        skipSpace()
        let hint = hint.isEmpty ? usualHint : hint
        return error("expected \(expected), found \(found)\(hint.isEmpty ? "." : "; \(hint)")", expected: expected)
    }

    /// A hint for syntax of other languages and for typographic quotes; empty if there is none.
    private var usualHint: String {
        guard offset < bytes.count else { return "" }
        let word = text(nameParts(at: offset)).uppercased()
        if word == "IS" { return "to test for nil, write == nil" }
        if peek == 0x22 || peek == 0x27, isAfterDateWord { return "a date is written as text: '1999-12-31'" }
        return switch scalar(at: offset).scalar {
        case "“", "”", "„", "‘", "’", "‚", "«", "»", "`", "´": "write text between two ' or two \""
        case "≠": "it is written !="
        case "≤": "it is written <="
        case "≥": "it is written >="
        case "−", "–", "—": "a minus is written -"
        case "×": "it is written *"
        case "÷": "it is written /"
        case "?": "write a choice as TERNARY(condition, value, value)"
        case "%" where peek(1) == 0x20: "write the remainder as %%"
        default: ""
        }
    }

    /// Whether the word before the current offset is one that begins a date in SQL.
    private var isAfterDateWord: Bool {
        var end = offset
        while end > 0, bytes[end - 1] == 0x20 { end -= 1 }
        var start = end
        while start > 0, bytes[start - 1] | 0x20 >= 0x61, bytes[start - 1] | 0x20 <= 0x7A { start -= 1 }
        return ["DATE", "TIME", "DATETIME", "TIMESTAMP"].contains(text(start..<end).uppercased())
    }

    /// The text at the current offset, for errors.
    var found: String {
        guard offset < bytes.count else { return "the end" }
        var end = nameParts(at: offset).upperBound
        if end == offset { end += scalar(at: offset).length }
        let text = String(decoding: bytes[offset..<min(end, offset + 40)], as: UTF8.self)
        return end - offset > 40 ? "\"\(text)…\"" : text == "\"" ? "'\"'" : "\"\(text)\""
    }

    // MARK: Signs

    var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    func peek(_ distance: Int) -> UInt8? { offset + distance < bytes.count ? bytes[offset + distance] : nil }

    mutating func skipSpace() { offset = endOfSpace(from: offset) }

    private func endOfSpace(from start: Int) -> Int {
        var offset = start
        while offset < bytes.count {
            if bytes[offset] == 0x20 || (0x09...0x0D).contains(bytes[offset]) {
                offset += 1
                continue
            }
            guard bytes[offset] >= 0x80 else { break }
            let (scalar, length) = scalar(at: offset)
            // Text copied from web pages has many kinds of spaces, and invisible characters.
            guard scalar.properties.isWhitespace || scalar == "\u{200B}" || scalar == "\u{FEFF}" else { break }
            offset += length
        }
        return offset
    }

    /// The scalar at `start` and the number of its bytes.
    func scalar(at start: Int) -> (scalar: Unicode.Scalar, length: Int) {
        let first = bytes[start]
        let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var code = length == 1 ? UInt32(first) : UInt32(first) & (0x7F >> UInt32(length))
        for byte in bytes[start...].dropFirst().prefix(length - 1) { code = code << 6 | UInt32(byte & 0x3F) }
        return (Unicode.Scalar(code) ?? "\u{FFFD}", length)
    }

    func isNext(_ text: StaticString) -> Bool {
        guard bytes.count - offset >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { bytes[offset..<offset + $0.count].elementsEqual($0) }
    }

    /// Skips space, and then the text if it follows; returns whether it did.
    mutating func accept(_ text: StaticString) -> Bool {
        skipSpace()
        guard isNext(text) else { return false }
        offset += text.utf8CodeUnitCount
        return true
    }

    mutating func expect(_ text: StaticString, _ what: String) throws(FetchFormatError) {
        guard accept(text) else { throw missing(what) }
    }

    // MARK: Words

    /// The range of the name or word at `start`; empty if there is none.
    func name(at start: Int) -> Range<Int> {
        guard start < bytes.count, PredicateWord.isNameStart(scalar(at: start).scalar) else { return start..<start }
        return nameParts(at: start)
    }

    /// The range of characters from `start` that can be part of a name.
    func nameParts(at start: Int) -> Range<Int> {
        var end = start
        while end < bytes.count {
            let (scalar, length) = scalar(at: end)
            guard PredicateWord.isNamePart(scalar) else { break }
            end += length
        }
        return start..<end
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The next word after space, in upper case, and its range; nil if no word follows.
    mutating func peekWord() -> (word: String, range: Range<Int>)? {
        skipSpace()
        let range = name(at: offset)
        // All words of the language are ASCII and shorter than sixteen letters. Other letters must not match, although
        // the upper case of some is ASCII.
        guard !range.isEmpty, range.count <= 16, bytes[range].allSatisfy({ $0 < 0x80 }) else { return nil }
        return (text(range).uppercased(), range)
    }

    /// Whether a byte follows after any space at `start`.
    func follows(_ byte: UInt8, from start: Int) -> Bool {
        let offset = endOfSpace(from: start)
        return offset < bytes.count && bytes[offset] == byte
    }
}
