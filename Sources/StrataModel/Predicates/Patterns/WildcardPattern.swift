import StrataModel

/// The pattern of a `LIKE`: `?` matches one scalar, `*` any number; `\` escapes the next character.
struct WildcardPattern: Sendable {
    private enum Sign: Sendable {
        case byte(UInt8)
        case oneScalar
        case anyNumber
    }

    private let signs: [Sign]

    /// - Parameter folding: applied to the characters that are not wildcards.
    init(_ pattern: String, _ folding: StringFolding) {
        var signs: [Sign] = []
        var literal = ""
        func flush() {
            signs += TextFolding.fold(literal, folding).utf8.map { .byte($0) }
            literal = ""
        }
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped:
                flush()
                signs.append(.oneScalar)
            case "*" where !isEscaped:
                flush()
                signs.append(.anyNumber)
            default: literal.unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { literal += "\\" }
        flush()
        self.signs = signs
    }

    /// The folded text with which every match begins.
    var prefix: [UInt8] {
        var prefix: [UInt8] = []
        for case .byte(let byte) in signs.prefix(while: { if case .byte = $0 { true } else { false } }) {
            prefix.append(byte)
        }
        return prefix
    }

    /// Whether a folded text matches as a whole.
    ///
    /// - Complexity: O(length of text x length of pattern), since it returns only to the last star.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var place = 0, sign = 0
        var star: (sign: Int, place: Int)?
        while place < text.count {
            switch sign < signs.count ? signs[sign] : nil {
            case .anyNumber?:
                star = (sign, place)
                sign += 1
                continue
            case .oneScalar?:
                place = Self.endOfScalar(text, place)
                sign += 1
                continue
            case .byte(let byte)? where byte == text[place]:
                place += 1
                sign += 1
                continue
            default: break
            }
            guard let last = star else { return false }
            let next = Self.endOfScalar(text, last.place)
            star = (last.sign, next)
            (sign, place) = (last.sign + 1, next)
        }
        return signs[sign...].allSatisfy { if case .anyNumber = $0 { true } else { false } }
    }

    private static func endOfScalar(_ text: UnsafeRawBufferPointer, _ place: Int) -> Int {
        var place = place + 1
        while place < text.count, text[place] & 0xC0 == 0x80 { place += 1 }
        return place
    }
}
