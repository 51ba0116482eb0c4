// Evaluates a query for one text whose words are known. The store finds texts in its lists of words and calls the same
// functions for phrases, so that both agree.

extension FullTextQuery {
    /// The positions of the query's words in a text, by the numbers of the words; ascending.
    package typealias Occurrences = [[TextPosition]]

    /// The result of a query for a text.
    package struct Verdict: Sendable {
        package var holds: Bool
        /// The number of times that each phrase occurs in the text; for those of a NEAR only where they are near.
        package var counts: [Int]
        /// Whether each phrase occurs in the text at all.
        package var isThere: [Bool]
    }

    /// Returns the positions of the first words of a phrase's occurrences.
    ///
    /// - Parameter columns: the numbers of the attributes in which it is sought; nil for all.
    package func positions(
        of phrase: Int, _ occurrences: Occurrences, columns: [Int]?
    ) -> [TextPosition] {
        let phrase = phrases[phrase]
        var found: [TextPosition] = []
        let first = occurrences[phrase.words.lowerBound]
        var next = Array(repeating: 0, count: phrase.words.count)
        for start in first {
            if phrase.isInitial, start.word != 0 { continue }
            if let columns, !columns.contains(start.column) { continue }
            var isThere = true
            for (index, word) in phrase.words.enumerated().dropFirst() {
                let wanted = start + UInt64(index)
                let list = occurrences[word]
                while next[index] < list.count, list[next[index]] < wanted { next[index] += 1 }
                isThere = next[index] < list.count && list[next[index]] == wanted
                if !isThere { break }
            }
            if isThere { found.append(start) }
        }
        return found
    }

    /// Returns those places of several phrases that are near each other: some choice of one place of each phrase, in
    /// one
    /// column, with at most `distance` words between the end of the first and the beginning of the last. It finds the
    /// places that SQLite's FTS5 finds: a window over sorted lists, which moves on where the next place is the first.
    ///
    /// - Parameter lists: the places of each phrase; empty lists if none is near.
    package func near(_ near: [Int], distance: Int, _ lists: [[TextPosition]]) -> [[TextPosition]] {
        var kept = lists.map { _ in [TextPosition]() }
        guard lists.allSatisfy({ !$0.isEmpty }) else { return kept }
        // A window that begins at the smallest place: the others are the nearest ones that are not before it.
        var next = lists.map { _ in 0 }
        let lengths = near.map { UInt64(phrases[$0].words.count) }
        while true {
            // The phrases all move on to the last one's reach, as long as they are too far before it.
            var last: TextPosition = 0
            for index in lists.indices { last = max(last, lists[index][next[index]]) }
            var moved = false
            for index in lists.indices {
                while lists[index][next[index]] + lengths[index] + UInt64(distance) < last {
                    next[index] += 1
                    if next[index] == lists[index].count { return kept }
                    moved = true
                }
                last = max(last, lists[index][next[index]])
            }
            if moved { continue }
            for index in lists.indices where kept[index].last != lists[index][next[index]] {
                kept[index].append(lists[index][next[index]])
            }
            // On to the next window: the phrase moves whose next place is the first of all.
            var mover = 0
            var nearest = TextPosition.max
            for index in lists.indices where next[index] + 1 < lists[index].count {
                if lists[index][next[index] + 1] < nearest { (mover, nearest) = (index, lists[index][next[index] + 1]) }
            }
            if nearest == .max { return kept }
            next[mover] += 1
        }
    }

    /// Evaluates the query for a text.
    ///
    /// - Parameter columns: the numbers of the attributes of each phrase; nil for all of them.
    package func verdict(_ occurrences: Occurrences, columns: [[Int]?]) -> Verdict {
        let places = phrases.indices.map { positions(of: $0, occurrences, columns: columns[$0]) }
        var counts = places.map(\.count)
        let isThere = places.map { !$0.isEmpty }
        let holds = holds(root, places, &counts)
        return Verdict(holds: holds, counts: counts, isThere: isThere)
    }

    /// Whether a part holds. Phrases of parts that do not hold count as not there, and so do those behind NOT.
    private func holds(_ node: TextNode, _ places: [[TextPosition]], _ counts: inout [Int]) -> Bool {
        var isFound = false
        switch node {
        case .nothing: break
        case .phrase(let phrase): isFound = !places[phrase].isEmpty
        case .near(let phrases, let distance):
            let kept = near(phrases, distance: distance, phrases.map { places[$0] })
            for (phrase, kept) in zip(phrases, kept) { counts[phrase] = kept.count }
            isFound = !(kept.first?.isEmpty ?? true)
        case .and(let parts): isFound = parts.allSatisfy { holds($0, places, &counts) }
        case .or(let parts): for part in parts where holds(part, places, &counts) { isFound = true }
        case .not(let left, let right):
            isFound = holds(left, places, &counts)
            if holds(right, places, &counts) { isFound = false }
            for phrase in right.phrases { counts[phrase] = 0 }
        }
        if !isFound { for phrase in node.phrases { counts[phrase] = 0 } }
        return isFound
    }
}

extension TextNode {
    /// The numbers of the phrases in it.
    package var phrases: [Int] {
        switch self {
        case .nothing: []
        case .phrase(let phrase): [phrase]
        case .near(let phrases, _): phrases
        case .and(let parts), .or(let parts): parts.flatMap(\.phrases)
        case .not(let left, let right): left.phrases + right.phrases
        }
    }
}

/// Notes the positions of a query's words in a text. Belongs to one thread at a time.
package final class TextScan {
    @exclusivity(unchecked) package private(set) var occurrences: FullTextQuery.Occurrences
    /// The words of the text.
    package private(set) var length = 0
    private let query: FullTextQuery
    /// By the first byte, which most words of a text do not share with any of the query.
    private let first: [Bool]
    @exclusivity(unchecked) private var terms = TextTerms()

    package init(_ query: FullTextQuery) {
        self.query = query
        occurrences = Array(repeating: [], count: query.words.count)
        var first = Array(repeating: false, count: 256)
        for word in query.words { first[Int(word.term[0])] = true }
        self.first = first
    }

    package func reset() {
        for index in occurrences.indices { occurrences[index].removeAll(keepingCapacity: true) }
        length = 0
    }

    /// Adds the words of an attribute.
    ///
    /// - Parameter visit: called with the bytes of each word that is in the query, and its position.
    package func add(
        _ text: UnsafeBufferPointer<UInt8>, column: Int, _ visit: ((Range<Int>, TextPosition) -> Void)? = nil
    ) {
        var number = 0
        terms.forEach(in: text) { term, range in
            if first[Int(term[0])] {
                for (index, word) in query.words.enumerated() where word.stands(for: term) {
                    let position = TextPosition(column: column, word: number)
                    occurrences[index].append(position)
                    visit?(range, position)
                }
            }
            number += 1
            return true
        }
        length += number
    }
}

extension TextWord {
    package func stands(for other: UnsafeRawBufferPointer) -> Bool {
        guard isPrefix ? other.count >= term.count : other.count == term.count else { return false }
        return term.withUnsafeBytes { $0.elementsEqual(UnsafeRawBufferPointer(rebasing: other[..<term.count])) }
    }
}

extension FullTextQuery {
    /// Whether a text meets the query, as a text by itself: restrictions of the query to attributes are ignored.
    public func matches(_ text: String) -> Bool {
        let scan = TextScan(self)
        var text = text
        text.withUTF8 { scan.add($0, column: 0) }
        return verdict(scan.occurrences, columns: phrases.map { _ in nil }).holds
    }
}
