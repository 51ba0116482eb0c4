/// Fields of comma-separated values (RFC 4180).
enum CSVText {
    /// The field, quoted if it has a comma, a quote, a line end, or space at an end. Empty text is quoted, so that it
    /// differs from no value.
    static func field(_ text: String) -> String {
        let quote = UInt8(ascii: "\"")
        let needsQuotes =
            text.isEmpty || text.first?.isWhitespace ?? false || text.last?.isWhitespace ?? false
            || text.utf8.contains { $0 == quote || $0 == UInt8(ascii: ",") || $0 == 0x0A || $0 == 0x0D }
        guard needsQuotes else { return text }
        // Compares bytes, because a quote and an accent after it are one Character.
        var field = [quote]
        field.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            if byte == quote { field.append(quote) }
            field.append(byte)
        }
        field.append(quote)
        return String(decoding: field, as: UTF8.self)
    }
}
