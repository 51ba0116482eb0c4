/// A query for words in text.
///
/// ```swift
/// let query = try FullTextQuery("stalk* NEAR zone NOT \"the room\"")
/// if query.matches(movie.title) { print(query.snippet(of: movie.title)) }
/// ```
///
/// | query | finds texts |
/// |---|---|
/// | `zone room` | with both words |
/// | `"the zone"` | with these words in a row |
/// | `stalk*` | with a word that begins so |
/// | `"the zo"*`, `"the zo*"` | with the phrase whose last word begins so |
/// | `^stalker` | that begin with the word |
/// | `zone OR room`, `zone AND room`, `zone NOT room` | that meet either, both, or the first alone |
/// | `NEAR(zone room, 5)` | with at most 5 words between the two |
/// | `zone NEAR room`, `zone NEAR/5 room` | the same, with 10 and 5 |
/// | `title: zone`, `title: (zone OR room)` | with the word in this attribute |
///
/// Operators are written in capitals. NOT binds closest, then AND, then OR; words without an operator between them bind
/// closer than all. Words are compared without case and diacritical marks. Characters that belong to no word (`-`, `/`)
/// separate words, so `foo-bar` is the phrase of both. A letter of Chinese, Japanese or Thai is a word; several in a
/// row are a phrase.
public struct FullTextQuery: Sendable, Hashable {
    /// The text of the query.
    public let text: String
    package let root: TextNode
    package let phrases: [TextPhrase]
    package let words: [TextWord]

    /// The most bytes of a query's text.
    public static let longestTextInBytes = 16_384
    /// The most words of a query.
    public static let mostWords = 64
    /// The most levels of parentheses.
    public static let mostLevels = 64

    /// Reads a query.
    ///
    /// - Throws: `invalidRequest` with what is wrong and where, also for a query of more than `longestTextInBytes` bytes,
    ///   `mostWords` words or `mostLevels` levels.
    public init(_ text: String) throws(StrataError) {
        guard text.utf8.count <= Self.longestTextInBytes else {
            throw StrataError(
                .invalidRequest,
                "The text query has \(text.utf8.count) bytes; \(Self.longestTextInBytes) is the maximum.")
        }
        var parser = TextQueryParser(text)
        root = try parser.parse()
        phrases = parser.phrases
        words = parser.words
        self.text = text
    }

    /// The names of the attributes that the query names.
    public var attributeNames: Set<String> { Set(phrases.flatMap { $0.columns ?? [] }) }

    /// Refuses a query of one attribute that names others, of which it would find nothing.
    ///
    /// - Throws: `invalidRequest`.
    package func checkNames(in attribute: String) throws(StrataError) {
        let others = attributeNames.subtracting([attribute]).sorted()
        guard let other = others.first else { return }
        throw StrataError(
            .invalidRequest,
            "The text query asks for words in \(others.joined(separator: ", ")), and only \(attribute) is searched. Leave "
                + "'\(other):' out, or ask the whole full text with SELF matchesText:.",
            context: .init(key: other))
    }

    /// Whether the query has no word, and so finds nothing.
    public var isEmpty: Bool { words.isEmpty }
}

extension FullTextQuery: CustomStringConvertible {
    /// The text of the query.
    public var description: String { text }
}
