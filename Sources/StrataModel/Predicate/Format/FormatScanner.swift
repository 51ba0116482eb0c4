// Everything is done on UTF-8: the language's own signs are ASCII, and names may hold any other bytes.

/// Reads a format string sign by sign.
struct FormatScanner {
    let format: String
    let bytes: [UInt8]
    var place = 0

    init(_ format: String) throws(FetchFormatFault) {
        self.format = format
        bytes = Array(format.utf8.prefix(FormatLimits.lengthInBytes + 1))
        if bytes.count > FormatLimits.lengthInBytes {
            throw FetchFormatFault(
                format: String(format.prefix(200)), column: 1, expected: nil,
                sentence: "the format string is longer than \(FormatLimits.lengthInBytes) bytes.")
        }
    }

    // MARK: Errors

    /// An error at `place`, or where `at` says.
    func fault(_ sentence: String, expected: String? = nil, at: Int? = nil) -> FetchFormatFault {
        let column = String(decoding: bytes[..<(at ?? place)], as: UTF8.self).count + 1
        return FetchFormatFault(format: format, column: column, expected: expected, sentence: sentence)
    }

    /// An error that says what could stand here and what does.
    mutating func missing(_ expected: String, hint: String = "") -> FetchFormatFault {
        skipSpace()
        return fault("expected \(expected), found \(found)\(hint.isEmpty ? "." : "; \(hint)")", expected: expected)
    }

    /// What stands here, for errors.
    var found: String {
        guard place < bytes.count else { return "the end" }
        var end = place
        while end < bytes.count, PredicateWord.isNamePart(bytes[end]) { end += 1 }
        if end == place { end += 1 }
        let text = String(decoding: bytes[place..<min(end, place + 40)], as: UTF8.self)
        return end - place > 40 ? "\"\(text)…\"" : text == "\"" ? "'\"'" : "\"\(text)\""
    }

    // MARK: Signs

    var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    func peek(_ offset: Int) -> UInt8? { place + offset < bytes.count ? bytes[place + offset] : nil }

    mutating func skipSpace() {
        while let byte = peek {
            switch byte {
            case 0x20, 0x09...0x0D: place += 1
            // A no-break space is what some editors put in.
            case 0xC2 where peek(1) == 0xA0: place += 2
            default: return
            }
        }
    }

    func isNext(_ text: StaticString) -> Bool {
        guard bytes.count - place >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { bytes[place..<place + $0.count].elementsEqual($0) }
    }

    /// After any space.
    mutating func accept(_ text: StaticString) -> Bool {
        skipSpace()
        guard isNext(text) else { return false }
        place += text.utf8CodeUnitCount
        return true
    }

    mutating func expect(_ text: StaticString, _ what: String) throws(FetchFormatFault) {
        guard accept(text) else { throw missing(what) }
    }

    // MARK: Words

    /// The name or word that begins at `start`; empty when none does.
    func name(at start: Int) -> Range<Int> {
        guard start < bytes.count, PredicateWord.isNameStart(bytes[start]) else { return start..<start }
        var end = start + 1
        while end < bytes.count, PredicateWord.isNamePart(bytes[end]) { end += 1 }
        return start..<end
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The word after any space, in upper case, with its range; nil for anything else.
    mutating func peekWord() -> (word: String, range: Range<Int>)? {
        skipSpace()
        let range = name(at: place)
        // No word of the language is as long as sixteen letters.
        guard !range.isEmpty, range.count <= 16 else { return nil }
        return (text(range).uppercased(), range)
    }

    /// Whether, after any space from `start`, the byte follows.
    func follows(_ byte: UInt8, from start: Int) -> Bool {
        var place = start
        while place < bytes.count, bytes[place] == 0x20 || (0x09...0x0D).contains(bytes[place]) { place += 1 }
        return place < bytes.count && bytes[place] == byte
    }
}
