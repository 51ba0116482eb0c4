/// Fields of comma-separated values (RFC 4180).
enum CSVText {
    /// In quotes where a comma, a quote, a line end or space at an end calls for them. An empty text is quoted, so that
    /// it is not taken for no value.
    static func field(_ text: String) -> String {
        let needsQuotes =
            text.isEmpty || text.first?.isWhitespace ?? false || text.last?.isWhitespace ?? false
            || text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        guard needsQuotes else { return text }
        // By scalars: a quote and an accent behind it are one character, which is no quote.
        var field = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "\"" { field.append(scalar) }
            field.append(scalar)
        }
        field.append("\"")
        return String(field)
    }
}
