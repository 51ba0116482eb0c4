/// Lists on the command line.
enum ListText {
    /// Names that become keys of one object stand once.
    ///
    /// - Throws: `UsageError` with the first that does not.
    static func checkNoneTwice(_ names: [String]) throws {
        var known: Set<String> = []
        for name in names where !known.insert(name).inserted { throw UsageError("The column '\(name)' stands twice.") }
    }

    /// The parts between commas that stand in no parentheses, brackets, braces or quotes, without space around them.
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
