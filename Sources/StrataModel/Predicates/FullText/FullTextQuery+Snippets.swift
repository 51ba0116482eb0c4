extension FullTextQuery {
    /// Returns the ranges of the query's words and phrases in a text, in order and without overlaps.
    ///
    /// Words behind NOT are left out. Restrictions of the query to attributes are ignored.
    public func ranges(in text: String) -> [Range<String.Index>] {
        marks(in: text).map { mark in
            text.utf8.index(
                text.startIndex, offsetBy: mark.bytes.lowerBound)..<text.utf8.index(
                    text.startIndex, offsetBy: mark.bytes.upperBound)
        }
    }

    /// The part of a text that shows the query's matches best, with the found words marked.
    ///
    /// - Parameters:
    ///   - length: the most words of the snippet.
    ///   - before: the text before each word or phrase that was found.
    ///   - after: the text behind it.
    ///   - ellipsis: the replacement of text that is left out.
    /// - Returns: the beginning of the text if none of the words occurs in it.
    public func snippet(
        of text: String, length: Int = 32, before: String = "[", after: String = "]", ellipsis: String = "…"
    ) -> String {
        var words: [Range<Int>] = []
        var terms = TextTerms()
        var text = text
        text.withUTF8 { bytes in
            terms.forEach(in: bytes) { _, range in
                words.append(range)
                return true
            }
        }
        guard !words.isEmpty, length > 0 else { return "" }
        let marks = marks(in: text)
        let first = Self.bestStart(marks, wordCount: words.count, length: length)
        let last = min(words.count, first + length) - 1
        let start = first == 0 ? 0 : words[first].lowerBound
        let end = last == words.count - 1 ? text.utf8.count : words[last].upperBound
        var snippet = first == 0 ? "" : ellipsis
        var offset = start
        let bytes = Array(text.utf8)
        func append(through end: Int) {
            if end > offset { snippet += String(decoding: bytes[offset..<end], as: UTF8.self) }
            offset = max(offset, end)
        }
        for mark in marks where mark.bytes.lowerBound >= offset && mark.bytes.upperBound <= end {
            append(through: mark.bytes.lowerBound)
            snippet += before
            append(through: mark.bytes.upperBound)
            snippet += after
        }
        append(through: end)
        return last == words.count - 1 ? snippet : snippet + ellipsis
    }

    /// A place of a phrase in a text.
    private struct Mark {
        let phrase: Int
        let bytes: Range<Int>
        /// The number of its first word.
        let word: Int
        let wordCount: Int
    }

    /// The places of all phrases that are sought, joined where they overlap.
    private func marks(in text: String) -> [Mark] {
        let scan = TextScan(self)
        var bytes: [TextPosition: Range<Int>] = [:]
        var text = text
        text.withUTF8 { scan.add($0, column: 0) { range, position in bytes[position] = range } }
        let places = phrases.indices.map { positions(of: $0, scan.occurrences, columns: nil) }
        var marks: [Mark] = []
        for (phrase, starts) in sought(root, places).sorted(by: { $0.key < $1.key }) {
            let count = phrases[phrase].words.count
            for start in starts {
                guard let first = bytes[start], let last = bytes[start + UInt64(count - 1)] else { continue }
                marks.append(
                    Mark(
                        phrase: phrase, bytes: first.lowerBound..<last.upperBound, word: Int(start.word),
                        wordCount: count))
            }
        }
        marks.sort { ($0.word, $0.wordCount) < ($1.word, $1.wordCount) }
        var joined: [Mark] = []
        for mark in marks {
            guard let last = joined.last, last.bytes.upperBound > mark.bytes.lowerBound else {
                joined.append(mark)
                continue
            }
            let end = max(last.word + last.wordCount, mark.word + mark.wordCount)
            joined[joined.count - 1] = Mark(
                phrase: last.phrase,
                bytes: last.bytes.lowerBound..<max(last.bytes.upperBound, mark.bytes.upperBound), word: last.word,
                wordCount: end - last.word)
        }
        return joined
    }

    /// The places of the phrases that a text has because of the query.
    private func sought(_ node: TextNode, _ places: [[TextPosition]]) -> [Int: [TextPosition]] {
        switch node {
        case .nothing: return [:]
        case .phrase(let phrase): return [phrase: places[phrase]]
        case .near(let phrases, let distance):
            let kept = near(phrases, distance: distance, phrases.map { places[$0] })
            return Dictionary(zip(phrases, kept), uniquingKeysWith: { first, _ in first })
        case .not(let left, _): return sought(left, places)
        case .and(let parts), .or(let parts):
            return parts.reduce(into: [:]) { $0.merge(sought($1, places)) { first, _ in first } }
        }
    }

    /// The first word of the window with most different phrases, then most places; the earliest of equal ones.
    private static func bestStart(_ marks: [Mark], wordCount: Int, length: Int) -> Int {
        guard let first = marks.first, wordCount > length else { return 0 }
        var best = (start: first.word, phrases: 0, places: 0)
        for (index, mark) in marks.enumerated() {
            var phrases: Set<Int> = []
            var places = 0
            var end = mark.word + 1
            for other in marks[index...] {
                guard other.word + other.wordCount <= mark.word + length else { break }
                phrases.insert(other.phrase)
                places += 1
                end = other.word + other.wordCount
            }
            guard (phrases.count, places) > (best.phrases, best.places) else { continue }
            // The match is in the middle of the snippet.
            let spare = max(0, length - (end - mark.word)) / 2
            best = (max(0, min(mark.word - spare, wordCount - length)), phrases.count, places)
        }
        return max(0, min(best.start, wordCount - length))
    }
}
