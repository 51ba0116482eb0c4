/// What is wrong with a format string, and where: the `cause` of the error that reading it throws.
///
/// Its description shows the string with a caret below the place:
///
/// ```
/// name == "Ann" AN rating > 4
///               ^
/// ```
public struct FetchFormatFault: Error, Sendable, Hashable {
    /// The whole string.
    public let format: String
    /// Where, in characters from 1.
    public let column: Int
    /// What could have stood there, such as "a value"; nil when nothing else was missing.
    public let expected: String?
    /// What is wrong, a sentence.
    public let sentence: String
}

extension FetchFormatFault: CustomStringConvertible {
    /// How much of the string is shown on either side of the caret.
    private static let window = 60

    /// The line of the string, and the caret below it.
    public var description: String {
        var before = Array(format.prefix(column - 1).suffix(Self.window)), after = Array(format.dropFirst(column - 1))
        let isCut = column - 1 > before.count
        if let lineEnd = before.lastIndex(where: \.isNewline) { before.removeSubrange(...lineEnd) }
        let lineEnd = after.firstIndex(where: \.isNewline) ?? after.count
        after = Array(after[..<min(lineEnd, Self.window)])
        let lead = isCut ? "…" : ""
        let tail = lineEnd > Self.window ? "…" : ""
        // A tab moves the caret as far as it moves the text.
        let space = String((lead + String(before)).map { $0 == "\t" ? "\t" : " " })
        return "\(lead)\(String(before))\(String(after))\(tail)\n\(space)^"
    }

    /// The error that is thrown to callers.
    var error: StrataError {
        StrataError(.invalidRequest, "Column \(column): \(sentence)\n\(description)", cause: self)
    }
}
