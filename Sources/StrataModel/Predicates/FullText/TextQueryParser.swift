/// Reads the language of `FullTextQuery`, by recursive descent.
struct TextQueryParser {
    private let bytes: [UInt8]
    private var offset = 0
    private var level = 0
    private(set) var phrases: [TextPhrase] = []
    private(set) var words: [TextWord] = []
    /// The attributes to which the present part is limited.
    private var columns: [String]?
    private var terms = TermList()

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func parse() throws(StrataError) -> TextNode {
        skipSpace()
        if offset == bytes.count { return .nothing }
        let node = try parseOr()
        guard offset == bytes.count else { throw error("there is a closing parenthesis too many") }
        return node ?? .nothing
    }

    // MARK: Operators

    // A part without words is nil: it is left out of what it is in.

    private mutating func parseOr() throws(StrataError) -> TextNode? {
        var parts = [try parseAnd()]
        while accept(word: "OR") { parts.append(try parseAnd()) }
        let nodes = parts.compactMap(\.self)
        return nodes.count > 1 ? .or(nodes) : nodes.first
    }

    private mutating func parseAnd() throws(StrataError) -> TextNode? {
        var parts = [try parseNot()]
        while accept(word: "AND") { parts.append(try parseNot()) }
        let nodes = parts.compactMap(\.self)
        return nodes.count > 1 ? .and(nodes) : nodes.first
    }

    private mutating func parseNot() throws(StrataError) -> TextNode? {
        var node = try parseRow()
        while accept(word: "NOT") {
            guard let right = try parseRow() else { continue }
            guard let left = node else {
                throw error("NOT needs words before it: what is found, without what is not wanted")
            }
            node = .not(left, right)
        }
        return node
    }

    /// Parts without an operator between them.
    private mutating func parseRow() throws(StrataError) -> TextNode? {
        var nodes: [TextNode] = []
        var count = 0
        while true {
            skipSpace()
            if offset == bytes.count || bytes[offset] == UInt8(ascii: ")") || isOperator { break }
            if let node = try parseNears() { nodes.append(node) }
            count += 1
        }
        if count == 0 {
            throw error(offset == bytes.count ? "a word is missing at the end" : "a word is missing here")
        }
        return nodes.count > 1 ? .and(nodes) : nodes.first
    }

    /// `a NEAR b`, `a NEAR/5 b`.
    private mutating func parseNears() throws(StrataError) -> TextNode? {
        var node = try parsePart()
        while let distance = try acceptNear() {
            let right = try parsePart()
            guard case .phrase(let first)? = node, case .phrase(let second)? = right else {
                if node == nil || right == nil {
                    node = node ?? right
                    continue
                }
                throw error("NEAR takes a word or phrase on each side; write several as NEAR(a b c, 10)")
            }
            node = .near([first, second], distance: distance)
        }
        return node
    }

    private mutating func parsePart() throws(StrataError) -> TextNode? {
        skipSpace()
        guard offset < bytes.count else { throw error("a word is missing at the end") }
        if isOperator { throw error("a word is missing before an operator; an operator in quotes is a word") }
        try refuseForeignSigns()
        if bytes[offset] == UInt8(ascii: "(") { return try parseGroup() }
        if let name = acceptColumn() {
            let outer = columns
            defer { columns = outer }
            columns = outer.map { $0.contains(name) ? [name] : [] } ?? [name]
            return try parsePart()
        }
        if acceptNearGroup() { return try parseNearGroup() }
        return try parsePhrase()
    }

    /// Refuses the signs of other languages that would be passed over, so that the query would find something else: a
    /// minus that leaves out, and the plus of FTS5 that joins two phrases.
    private mutating func refuseForeignSigns() throws(StrataError) {
        let sign = bytes[offset]
        guard sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") else { return }
        let start = offset
        offset += 1
        let isAlone = offset == bytes.count || Self.isSpace(bytes[offset])
        skipSpace()
        let isBeforeColumn = offset < bytes.count && acceptColumn() != nil
        offset = start
        if sign == UInt8(ascii: "-"), !isAlone || isBeforeColumn {
            throw error("a - leaves nothing out; write NOT, or put the word in quotes")
        }
        if sign == UInt8(ascii: "+"), isAlone {
            throw error("a + joins no phrases; write them in one pair of quotes")
        }
    }

    private mutating func parseGroup() throws(StrataError) -> TextNode? {
        offset += 1
        level += 1
        defer { level -= 1 }
        guard level <= FullTextQuery.mostLevels else {
            throw error("this is nested more than \(FullTextQuery.mostLevels) levels deep")
        }
        let node = try parseOr()
        skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ")") else {
            throw error("a closing parenthesis is missing")
        }
        offset += 1
        return node
    }

    /// Parses the text after `NEAR(`.
    private mutating func parseNearGroup() throws(StrataError) -> TextNode? {
        var near: [Int] = []
        var distance = Self.usualDistance
        while true {
            skipSpace()
            guard offset < bytes.count else { throw error("a closing parenthesis is missing") }
            if bytes[offset] == UInt8(ascii: ")") { break }
            if bytes[offset] == UInt8(ascii: ",") {
                offset += 1
                skipSpace()
                distance = try number()
                skipSpace()
                guard offset < bytes.count, bytes[offset] == UInt8(ascii: ")") else {
                    throw error("the distance ends NEAR: NEAR(a b, 5)")
                }
                break
            }
            if bytes[offset] == UInt8(ascii: "(") { throw error("NEAR takes words and phrases only") }
            if case .phrase(let phrase)? = try parsePhrase(endsAtComma: true) { near.append(phrase) }
        }
        offset += 1
        if near.count < 2 { return near.first.map(TextNode.phrase) }
        return .near(near, distance: distance)
    }

    // MARK: Phrases

    private mutating func parsePhrase(endsAtComma: Bool = false) throws(StrataError) -> TextNode? {
        let isInitial = bytes[offset] == UInt8(ascii: "^")
        if isInitial {
            offset += 1
            skipSpace()
        }
        let start = offset
        var text: [UInt8] = []
        var isPrefix = false
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") {
            text = try quoted()
            isPrefix = try endsInPrefix(text, start)
        } else {
            while offset < bytes.count, !endsWord(bytes[offset], endsAtComma) { offset += 1 }
            text = Array(bytes[start..<offset])
        }
        if offset == start { throw error("a word is missing here") }
        if acceptStar() { isPrefix = true }
        let first = words.count
        for term in terms.terms(of: text) { words.append(TextWord(term: term)) }
        guard words.count > first else { return nil }
        guard words.count <= FullTextQuery.mostWords else {
            throw error("the query has more than \(FullTextQuery.mostWords) words")
        }
        words[words.count - 1].isPrefix = isPrefix
        phrases.append(TextPhrase(words: first..<words.count, isInitial: isInitial, columns: columns))
        return .phrase(phrases.count - 1)
    }

    /// The star that makes a prefix of the word before it, or of the last word of a phrase.
    private mutating func acceptStar() -> Bool {
        var star = offset
        while star < bytes.count, Self.isSpace(bytes[star]) { star += 1 }
        guard star < bytes.count, bytes[star] == UInt8(ascii: "*") else { return false }
        offset = star + 1
        return true
    }

    /// Whether the last word in quotes ends in a star. Any other star behind a word is refused: all words of a phrase but
    /// the last are whole.
    private mutating func endsInPrefix(_ text: [UInt8], _ start: Int) throws(StrataError) -> Bool {
        let end = text.lastIndex { !Self.isSpace($0) } ?? 0
        for (index, byte) in text.enumerated().dropFirst() where byte == UInt8(ascii: "*") {
            guard isNameByte(text[index - 1]) else { continue }
            if index == end { return true }
            guard Self.isSpace(text[index + 1]) else { continue }
            offset = start
            throw error("only the last word of a phrase can be a prefix")
        }
        return false
    }

    /// The text in quotes; a quote in it is doubled.
    private mutating func quoted() throws(StrataError) -> [UInt8] {
        let start = offset
        var text: [UInt8] = []
        offset += 1
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\"") {
                offset += 1
                guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else { return text }
            }
            text.append(bytes[offset])
            offset += 1
        }
        offset = start
        throw error("a closing quote is missing")
    }

    // MARK: Tokens

    private static let usualDistance = 10

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 9...13 ~= byte }

    private func endsWord(_ byte: UInt8, _ endsAtComma: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: ":"),
            UInt8(ascii: "^"):
            true
        case UInt8(ascii: ","): endsAtComma
        default: Self.isSpace(byte)
        }
    }

    private mutating func skipSpace() { while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 } }

    /// The end of an operator that begins here.
    private func end(of word: StaticString) -> Int? {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count,
            word.withUTF8Buffer({ bytes[offset..<end].elementsEqual($0) }),
            end == bytes.count || endsWord(bytes[end], false)
        else { return nil }
        return end
    }

    private var isOperator: Bool { end(of: "AND") != nil || end(of: "OR") != nil || end(of: "NOT") != nil || isNear }

    /// Whether an infix NEAR begins here.
    private var isNear: Bool {
        if let end = end(of: "NEAR") { return end == bytes.count || bytes[end] != UInt8(ascii: "(") }
        return bytes[offset...].starts(with: "NEAR/".utf8)
    }

    private mutating func accept(word: StaticString) -> Bool {
        skipSpace()
        guard let end = end(of: word) else { return false }
        offset = end
        return true
    }

    private mutating func acceptNearGroup() -> Bool {
        guard bytes[offset...].starts(with: "NEAR(".utf8) else { return false }
        offset += 5
        return true
    }

    private mutating func acceptNear() throws(StrataError) -> Int? {
        skipSpace()
        guard offset < bytes.count, isNear else { return nil }
        offset += 4
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "/") else { return Self.usualDistance }
        offset += 1
        return try number()
    }

    private mutating func number() throws(StrataError) -> Int {
        let start = offset
        var value = 0
        while offset < bytes.count, bytes[offset] &- 0x30 < 10, value < 1_000_000 {
            value = value * 10 + Int(bytes[offset] - 0x30)
            offset += 1
        }
        guard offset > start, value <= 1_000_000 else {
            throw error("NEAR takes a number of words up to 1000000 here")
        }
        return value
    }

    /// The name of an attribute before a colon.
    private mutating func acceptColumn() -> String? {
        var end = offset
        while end < bytes.count, bytes[end] == 0x5F || isNameByte(bytes[end]) { end += 1 }
        guard end > offset else { return nil }
        var colon = end
        while colon < bytes.count, Self.isSpace(bytes[colon]) { colon += 1 }
        guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        defer { offset = colon + 1 }
        return String(decoding: bytes[offset..<end], as: UTF8.self)
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
    }

    private func error(_ sentence: String) -> StrataError {
        StrataError(.invalidRequest, "The text query cannot be read at byte \(offset + 1): \(sentence).")
    }
}

/// The terms of parts of a query.
private final class TermList {
    private var terms = TextTerms()

    func terms(of text: [UInt8]) -> [[UInt8]] {
        var list: [[UInt8]] = []
        text.withUnsafeBufferPointer { text in
            terms.forEach(in: text) { term, _ in
                list.append(Array(term))
                return list.count <= FullTextQuery.mostWords
            }
        }
        return list
    }
}
