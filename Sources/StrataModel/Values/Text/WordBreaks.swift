// Words are cut by the rules of Unicode Standard Annex 29, section 4.1, with three additions. The colon joins no letters,
// as in versions of the rules after 14.0. Runs without a letter or digit are no words. Letters that the rules leave to
// dictionaries, those of Han, Hiragana, Thai, Lao, Khmer and Burmese among them, are words of one letter each.

/// Finds words in text.
enum WordBreaks {
    /// The class of a scalar in the rules. The values are those of `WordBreakData`.
    enum Kind {
        static let none: UInt8 = 0
        static let letter: UInt8 = 1
        static let hebrew: UInt8 = 2
        static let digit: UInt8 = 3
        static let katakana: UInt8 = 4
        static let joiner: UInt8 = 5
        /// Marks and format characters, which belong to the character before them.
        static let mark: UInt8 = 6
        static let midLetter: UInt8 = 7
        static let midNumber: UInt8 = 8
        static let midBoth: UInt8 = 9
        static let quote: UInt8 = 10
        static let doubleQuote: UInt8 = 11
        /// A letter that is a word by itself.
        static let single: UInt8 = 12
    }

    private static let limit: UInt32 = 0x3_2000

    // Made once, before it is shared, and never freed.
    nonisolated(unsafe) private static let kinds: UnsafePointer<UInt8> = {
        let table = UnsafeMutablePointer<UInt8>.allocate(capacity: Int(limit))
        table.initialize(repeating: Kind.none, count: Int(limit))
        var numbers = GeneratedNumbers(WordBreakData.base64)
        var next = 0
        for _ in 0..<numbers.next() {
            next += numbers.next()
            let packed = numbers.next()
            for scalar in next...(next + packed >> 4) where scalar < Int(limit) { table[scalar] = UInt8(packed & 15) }
            next += packed >> 4 + 1
        }
        return UnsafePointer(table)
    }()

    static func kind(_ scalar: UInt32) -> UInt8 {
        if scalar < limit { return kinds[Int(scalar)] }
        return 0xE_0000...0xE_0FFF ~= scalar ? Kind.mark : Kind.none
    }

    /// Calls `body` with the bytes of each word, in order, and whether they are all ASCII, until it returns false.
    @inline(__always)
    static func forEachWord(
        in text: UnsafeBufferPointer<UInt8>, _ body: (Range<Int>, _ isASCII: Bool) throws -> Bool
    ) rethrows {
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            if byte < 0x80 {
                let kind = kinds[Int(byte)]
                guard kind == Kind.letter || kind == Kind.digit || kind == Kind.joiner else {
                    offset += 1
                    continue
                }
                if let end = asciiWord(text, from: offset) {
                    if end.isWord, try !body(offset..<end.offset, true) { return }
                    offset = end.offset
                    continue
                }
            }
            let word = anyWord(text, from: offset)
            if word.isWord, try !body(offset..<word.end, false) { return }
            offset = word.end
        }
    }

    /// The end of a word of ASCII; nil if the word may go on with another scalar.
    @inline(__always)
    private static func asciiWord(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> (offset: Int, isWord: Bool)? {
        var offset = start
        var last = Kind.none
        var isWord = false
        while offset < text.count {
            let byte = text[offset]
            if byte >= 0x80 { return nil }
            let kind = kinds[Int(byte)]
            if kind == Kind.letter || kind == Kind.digit || kind == Kind.joiner {
                if kind != Kind.joiner { isWord = true }
                last = kind
                offset += 1
                continue
            }
            guard kind != Kind.none, offset + 1 < text.count else { break }
            let next = text[offset + 1]
            if next >= 0x80 { return nil }
            let following = kinds[Int(next)]
            guard following == last, joins(kind, last) else { break }
            offset += 1
        }
        return (offset, isWord)
    }

    /// Whether a scalar between two letters, or two digits, joins them.
    @inline(__always)
    private static func joins(_ kind: UInt8, _ sides: UInt8) -> Bool {
        switch sides {
        case Kind.letter, Kind.hebrew: kind == Kind.midLetter || kind == Kind.midBoth || kind == Kind.quote
        case Kind.digit: kind == Kind.midNumber || kind == Kind.midBoth || kind == Kind.quote
        default: false
        }
    }

    /// The end of the segment that begins at an offset, a word or not.
    private static func anyWord(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> (end: Int, isWord: Bool) {
        let first = DecodedScalar(text, at: start)
        var last = kind(first.value)
        var offset = start + first.length
        if last == Kind.single { return (endOfMarks(text, from: offset), true) }
        guard Kind.letter...Kind.joiner ~= last else { return (offset, false) }
        var isWord = last != Kind.joiner
        while offset < text.count {
            let scalar = DecodedScalar(text, at: offset)
            let kind = kind(scalar.value)
            if kind == Kind.mark {
                offset += scalar.length
                continue
            }
            if isJoined(last, kind) {
                if kind != Kind.joiner { isWord = true }
                last = kind
                offset += scalar.length
                continue
            }
            let after = endOfMarks(text, from: offset + scalar.length)
            let following = after < text.count ? self.kind(DecodedScalar(text, at: after).value) : Kind.none
            let isLetter = following == Kind.letter || following == Kind.hebrew
            if last == Kind.digit ? following == Kind.digit : isLetter, joins(kind, last) {
                offset = after
            } else if last == Kind.hebrew, kind == Kind.doubleQuote, following == Kind.hebrew {
                offset = after
            } else {
                if last == Kind.hebrew, kind == Kind.quote { offset += scalar.length }
                break
            }
        }
        return (offset, isWord)
    }

    private static func isJoined(_ last: UInt8, _ next: UInt8) -> Bool {
        switch last {
        case Kind.letter, Kind.hebrew, Kind.digit:
            next == Kind.letter || next == Kind.hebrew || next == Kind.digit || next == Kind.joiner
        case Kind.katakana: next == Kind.katakana || next == Kind.joiner
        case Kind.joiner: Kind.letter...Kind.joiner ~= next
        default: false
        }
    }

    private static func endOfMarks(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var offset = start
        while offset < text.count {
            let scalar = DecodedScalar(text, at: offset)
            guard kind(scalar.value) == Kind.mark else { break }
            offset += scalar.length
        }
        return offset
    }
}
