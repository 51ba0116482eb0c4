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
        let text = Array(text)
        let isOutside = outside(text)
        return text.indices.split { text[$0] == "," && isOutside[$0] }.map { trimmed(String(text[$0])) }
            .filter { !$0.isEmpty }
    }

    /// An expression and the name after its `AS`, which may be in quotes; nil without one.
    ///
    /// - Throws: `UsageError` if no name follows.
    static func alias(_ text: String) throws -> (expression: String, name: String?) {
        let characters = Array(text)
        let isOutside = outside(characters)
        let position = characters.indices.dropLast(3).last { index in
            isOutside[index] && characters[index].isWhitespace && characters[index + 3].isWhitespace
                && String(characters[index + 1...index + 2]).lowercased() == "as"
        }
        guard let position else { return (text, nil) }
        let expression = trimmed(String(characters[..<position]))
        let name = trimmed(String(characters[(position + 4)...]))
        if let quoted = inside(quotes: name) { return (expression, quoted) }
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }), !name.isEmpty else {
            throw UsageError("'\(name)' is no name for a column; put it in quotes: \(expression) AS 'a name'.")
        }
        return (expression, name)
    }

    /// The text between two quotes; nil if there are none, or nothing is between them.
    static func inside(quotes text: String) -> String? {
        guard let quote = text.first, quote == "'" || quote == "\"", text.count > 2, text.last == quote
        else { return nil }
        return String(text.dropFirst().dropLast())
    }

    /// Whether each character is outside parentheses, brackets, braces and quotes.
    private static func outside(_ text: [Character]) -> [Bool] {
        var depth = 0
        var quote: Character?
        var isEscaped = false
        return text.map { character in
            let isOutside = depth == 0 && quote == nil
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
            return isOutside
        }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
