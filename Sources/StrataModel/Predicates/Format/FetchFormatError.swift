/// The problem with a format string and its location. It is the `cause` of the `StrataError` that is thrown.
///
/// Its description shows the string with a caret below the problem:
///
/// ```
/// name == "Ann" AN rating > 4
///               ^
/// ```
public struct FetchFormatError: Error, Sendable, Hashable {
    /// The whole format string.
    public let format: String
    /// The number of the character at which the problem is, from 1.
    public let column: Int
    /// The correct content there, such as "a value"; nil if nothing is missing.
    public let expected: String?
    /// The problem as a sentence.
    public let sentence: String
}

extension FetchFormatError: CustomStringConvertible {
    /// The number of characters shown on each side of the caret.
    private static let window = 60

    /// The line of the string with the problem, and a caret below it.
    public var description: String {
        var before = Array(format.prefix(column - 1).suffix(Self.window)), after = Array(format.dropFirst(column - 1))
        let isCut = column - 1 > before.count
        if let lineEnd = before.lastIndex(where: \.isNewline) { before.removeSubrange(...lineEnd) }
        let lineEnd = after.firstIndex(where: \.isNewline) ?? after.count
        after = Array(after[..<min(lineEnd, Self.window)])
        let lead = isCut && before.count == Self.window ? "…" : ""
        let tail = lineEnd > Self.window ? "…" : ""
        // A tab moves the caret as far as it moves the text.
        let space = (lead + before).map { $0 == "\t" ? "\t" : String(repeating: " ", count: TextWidth.of($0)) }
        return "\(lead)\(Self.shown(before))\(Self.shown(after))\(tail)\n\(space.joined())^"
    }

    /// The text with pictures in place of characters that drive a terminal.
    private static func shown(_ text: [Character]) -> String {
        String(
            text.map { character in
                guard character != "\t", let scalar = character.unicodeScalars.first, scalar.drivesTerminal else {
                    return character
                }
                let picture = scalar.value < 0x20 ? 0x2400 + scalar.value : scalar.value == 0x7F ? 0x2421 : 0xFFFD
                return Unicode.Scalar(picture).map(Character.init) ?? "\u{FFFD}"
            })
    }

    /// The column, and the line if the string has several.
    private var location: String {
        let before = format.prefix(column - 1)
        guard let lineEnd = before.lastIndex(where: \.isNewline) else { return "Column \(column)" }
        let line = before.count(where: \.isNewline) + 1
        return "Line \(line), column \(before.distance(from: lineEnd, to: before.endIndex))"
    }

    /// The error to throw, with this problem as its cause.
    var error: StrataError {
        StrataError(.invalidRequest, "\(location): \(sentence)\n\(description)", cause: self)
    }
}
