/// A query for text as a tree. Phrases are numbered from left to right, and their words too.
package indirect enum TextNode: Sendable, Hashable {
    /// A phrase by its number.
    case phrase(Int)
    /// Phrases that are close to each other: at most `distance` words lie between the first and the last.
    case near([Int], distance: Int)
    case and([TextNode])
    case or([TextNode])
    /// The first holds and the second does not.
    case not(TextNode, TextNode)
    /// A condition that no text meets, such as a query without words.
    case nothing
}

/// Words that follow each other.
package struct TextPhrase: Sendable, Hashable {
    /// The numbers of its words.
    package var words: Range<Int>
    /// Whether the phrase begins the text.
    package var isInitial = false
    /// The names of the attributes in which it is sought; nil for all.
    package var columns: [String]?
}

/// A word of a query.
package struct TextWord: Sendable, Hashable {
    package var term: [UInt8]
    /// Whether the term stands for all words that begin with it.
    package var isPrefix = false
}

/// The position of a word: a column in the high half, and the number of the word in it in the low half.
package typealias TextPosition = UInt64

extension TextPosition {
    package init(column: Int, word: Int) { self = UInt64(column) << 32 | UInt64(word) }
    package var column: Int { Int(self >> 32) }
    package var word: UInt64 { self & 0xFFFF_FFFF }
}
