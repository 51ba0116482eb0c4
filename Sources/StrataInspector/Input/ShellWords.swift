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

    private static let listOptions: Set<String> = ["--columns", "--sort", "--group-by"]

    /// Makes one word of a list behind `--columns`, `--sort` or `--group-by`: it goes on behind a comma and around `AS`.
    static func joiningLists(_ words: [String]) -> [String] {
        var joined: [String] = []
        var isInList = false
        for (index, word) in words.enumerated() {
            if isInList, let last = joined.last, index > 0 {
                let before = words[index - 1]
                let isMore =
                    listOptions.contains(before) ? false : goesOn(before) || word.hasPrefix(",") || isAlias(word)
                if isMore, !word.hasPrefix("--") {
                    joined[joined.count - 1] = last + " " + word
                    continue
                }
                if !listOptions.contains(before) { isInList = false }
            }
            if listOptions.contains(word) { isInList = true }
            joined.append(word)
        }
        return joined
    }

    private static func goesOn(_ word: String) -> Bool { word.hasSuffix(",") || isAlias(word) }

    private static func isAlias(_ word: String) -> Bool { word.lowercased() == "as" }

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
