/// The words and braces of a Swift source, without comments and the text of strings; expressions inside strings count.
struct SourceTokens {
    enum Token: Equatable {
        /// - Parameter isMember: whether a point stands before it.
        case word(String, isMember: Bool)
        case openingBrace
        case closingBrace
    }

    private(set) var tokens: [Token] = []
    private let bytes: [UInt8]
    private var index = 0

    init(_ source: String) {
        bytes = Array(source.utf8)
        scanCode(endsAtParenthesis: false)
    }

    /// - Parameter endsAtParenthesis: whether the code is an expression inside a string.
    private mutating func scanCode(endsAtParenthesis: Bool) {
        var depth = 0
        var isMember = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "/"), starts(with: "//") {
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
                continue
            }
            if byte == UInt8(ascii: "/"), starts(with: "/*") {
                skipComment()
                continue
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "#"), let hashes = hashesOfString() {
                scanString(hashes)
                isMember = false
                continue
            }
            if Self.isWord(byte) {
                let start = index
                while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
                tokens.append(.word(String(decoding: bytes[start..<index], as: UTF8.self), isMember: isMember))
                isMember = false
                continue
            }
            index += 1
            switch byte {
            case UInt8(ascii: "{"): tokens.append(.openingBrace)
            case UInt8(ascii: "}"): tokens.append(.closingBrace)
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                if endsAtParenthesis, depth == 0 { return }
                depth -= 1
            default: break
            }
            if byte != UInt8(ascii: "`") { isMember = byte == UInt8(ascii: ".") }
        }
    }

    /// How many `#` stand before the string that begins here; nil where none begins.
    private func hashesOfString() -> Int? {
        var end = index
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - index : nil
    }

    private mutating func scanString(_ hashes: Int) {
        index += hashes
        let quote = starts(with: "\"\"\"") ? "\"\"\"" : "\""
        let end = quote + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        index += quote.utf8.count
        while index < bytes.count {
            guard [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(bytes[index]) else {
                index += 1
                continue
            }
            if starts(with: end) {
                index += end.utf8.count
                return
            }
            if starts(with: escape + "(") {
                index += escape.utf8.count + 1
                scanCode(endsAtParenthesis: true)
            } else {
                index += starts(with: escape) ? escape.utf8.count + 1 : 1
            }
        }
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                index += 2
            } else if starts(with: "*/") {
                depth -= 1
                index += 2
            } else {
                index += 1
            }
        } while depth > 0 && index < bytes.count
    }

    private func starts(with text: String) -> Bool {
        text.utf8.count <= bytes.count - index && text.utf8.elementsEqual(bytes[index..<index + text.utf8.count])
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

/// The types that one source declares, and those that it names.
struct SourceTypes {
    /// Declared at file scope, to be used from other files.
    private(set) var declared: Set<String> = []
    /// Declared inside other types, or for this file alone.
    private(set) var hidden: Set<String> = []
    /// Begin with a capital letter, and no point before it.
    private(set) var named: Set<String> = []

    private static let keywords: Set<String> = ["class", "struct", "enum", "protocol", "actor", "typealias"]

    init(_ source: String) {
        var depth = 0
        var isPrivate = false
        var isDeclaration = false
        for token in SourceTokens(source).tokens {
            switch token {
            case .openingBrace:
                depth += 1
                isPrivate = false
            case .closingBrace:
                depth -= 1
                isPrivate = false
            case .word(let word, let isMember):
                let isType = word.first?.isUppercase == true
                if isDeclaration, isType {
                    if depth == 0, !isPrivate { declared.insert(word) } else { hidden.insert(word) }
                    isPrivate = false
                } else if isType, !isMember {
                    named.insert(word)
                }
                isDeclaration = Self.keywords.contains(word)
                if word == "private" || word == "fileprivate" { isPrivate = true }
                if ["func", "var", "let", "extension", "import"].contains(word) { isPrivate = false }
            }
        }
        named.subtract(declared.union(hidden))
    }
}
