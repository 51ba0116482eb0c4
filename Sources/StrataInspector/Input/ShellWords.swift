/// Splits a line into words as a shell does: blanks separate, quotes and backslashes keep them together.
enum ShellWords {
    /// - Throws: `UsageError` for a quote without its end.
    static func split(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                // Between double quotes a backslash goes with quotes and backslashes only.
                if quote == "\"", character != "\"", character != "\\" { word = (word ?? "") + "\\" }
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let quote { throw UsageError("The quote \(quote) has no end.") }
        if let word { words.append(word) }
        return words
    }

    /// Returns the beginning of the options behind a text: the first word outside quotes that is `--` and a letter; the
    /// end if there is none.
    static func startOfOptions(in line: Substring) -> Substring.Index {
        var quote: Character?
        var isEscaped = false
        var isAtStart = true
        for index in line.indices {
            let character = line[index]
            if quote == nil, isAtStart, line[index...].hasPrefix("--"),
                line[index...].dropFirst(2).first?.isLetter == true
            {
                return index
            }
            isAtStart = quote == nil && character.isWhitespace
            if isEscaped {
                isEscaped = false
            } else if character == "\\", quote != nil {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            }
        }
        return line.endIndex
    }
}
