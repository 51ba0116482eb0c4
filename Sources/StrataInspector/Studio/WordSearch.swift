import StrataModel

/// The filter for words that a person typed where a condition is meant.
enum WordSearch {
    private static let mostCharacters = 100
    private static let mostAttributes = 8

    /// The condition that the texts of an object have these words.
    ///
    /// It is nil for a text with signs of the format language, and for an entity without texts.
    static func condition(for text: String, of entity: EntitySchema, _ schema: Schema) -> String? {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty, text.count <= mostCharacters, words.allSatisfy(isWord) else { return nil }
        if !schema.fullText(of: entity).isEmpty, words.allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber } }) {
            // In lower case no word is an operator.
            return #"SELF matchesText: "\#(words.map { $0.lowercased() }.joined(separator: " "))*""#
        }
        let attributes = entity.properties.filter(hasReadableText).prefix(mostAttributes)
        guard !attributes.isEmpty else { return nil }
        let whole = FetchExpression.constant(.string(words.joined(separator: " "))).description
        return attributes.map { "\(FetchExpression.keyPath($0.name)) CONTAINS[cd] \(whole)" }
            .joined(separator: " OR ")
    }

    private static func isWord(_ word: String) -> Bool {
        word.allSatisfy { $0.isLetter || $0.isNumber || "-_.,'’&/".contains($0) } && !operators.contains(word)
    }

    private static let operators: Set = [
        "AND", "OR", "NOT", "IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN",
    ]

    private static func hasReadableText(_ property: PropertySchema) -> Bool {
        guard let attribute = property.attribute else { return false }
        return attribute.type == .string && !attribute.isEncrypted && !attribute.isTransient
    }
}
