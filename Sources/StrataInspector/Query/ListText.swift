/// Reads lists on the command line.
enum ListText {
    /// Checks that no name occurs twice, because the names become keys of one JSON object.
    ///
    /// - Throws: `UsageError` with the first that occurs twice.
    static func checkNoneTwice(_ names: [String]) throws {
        var known: Set<String> = []
        for name in names where !known.insert(name).inserted { throw UsageError("The column '\(name)' occurs twice.") }
    }

    /// Splits at commas outside parentheses, brackets, braces and quotes, and trims space.
    static func parts(_ text: String) -> [String] {
        var parts: [String] = []
        var part = ""
        var depth = 0
        var quote: Character?
        var isEscaped = false
        for character in text {
            if character == ",", depth == 0, quote == nil {
                parts.append(part)
                part = ""
                continue
            }
            part.append(character)
            if let open = quote {
                if character == open, !isEscaped { quote = nil }
                isEscaped = character == "\\" && !isEscaped
            } else {
                switch character {
                case "'", "\"": quote = character
                case "(", "[", "{": depth += 1
                case ")", "]", "}": depth -= 1
                default: break
                }
            }
        }
        parts.append(part)
        return parts.map(trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
