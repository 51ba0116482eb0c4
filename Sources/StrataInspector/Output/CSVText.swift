/// Fields of comma-separated values (RFC 4180).
enum CSVText {
    /// The field, quoted if it has a comma, a quote, a line end, or space at an end. Empty text is quoted, so that it
    /// differs from no value.
    static func field(_ text: String) -> String {
        let needsQuotes =
            text.isEmpty || text.first?.isWhitespace ?? false || text.last?.isWhitespace ?? false
            || text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        guard needsQuotes else { return text }
        // Compares scalars, because a quote and an accent after it are one Character.
        var field = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "\"" { field.append(scalar) }
            field.append(scalar)
        }
        field.append("\"")
        return String(field)
    }
}
