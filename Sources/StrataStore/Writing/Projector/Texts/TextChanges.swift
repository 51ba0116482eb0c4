import LMDB
import StrataModel

/// The changes of lists of words that a batch makes, collected and then written in key order (`TextChanges+Writing`).
///
/// Belongs to one batch, on one thread at a time.
final class TextChanges {
    /// That a term occurs in an object, or that what the object had of it before no longer counts.
    struct Occurrence {
        /// The object's index in `objects`.
        let object: UInt32
        let term: UInt32
        /// The number of the attribute in the upper half, the position in its text in the lower one; or `gone`.
        let place: UInt64

        static let gone = UInt64.max
    }

    struct Length {
        let text: PreparedText
        let object: UInt64
        /// Nil for an object that no longer exists.
        let words: UInt32?
    }

    struct Whole {
        let text: PreparedText
        var objects: Int64 = 0
        var words: Int64 = 0
    }

    private struct Token: Comparable {
        let term: UInt32
        let place: UInt64

        static func < (left: Token, right: Token) -> Bool { (left.term, left.place) < (right.term, right.place) }
    }

    private static let mostKeptTerms = 1 << 17

    /// Numbers terms by the beginnings of their keys.
    @exclusivity(unchecked) private(set) var terms = GroupTable()
    /// The places of a term in an object ascend.
    @exclusivity(unchecked) private(set) var occurrences: [Occurrence] = []
    /// The objects in the order in which they were changed.
    @exclusivity(unchecked) private(set) var objects: [UInt64] = []
    /// Whether that is also the order of their ids.
    @exclusivity(unchecked) private(set) var objectsAscend = true
    @exclusivity(unchecked) private(set) var lengths: [Length] = []
    private(set) var wholes: [ViewID: Whole] = [:]
    @exclusivity(unchecked) private var cutter = TextTerms()
    @exclusivity(unchecked) private var key = ByteWriter(capacity: 256)
    @exclusivity(unchecked) private var before: [Token] = []
    @exclusivity(unchecked) private var after: [Token] = []

    /// About the memory taken.
    var sizeInBytes: Int {
        occurrences.count * MemoryLayout<Occurrence>.stride + objects.count * 8 + terms.count * 64
            + lengths.count * MemoryLayout<Length>.stride
    }
    var isEmpty: Bool { occurrences.isEmpty && lengths.isEmpty }

    /// Forgets the changes, which are written, and keeps the memory for the next ones, with the terms unless they are
    /// many.
    func reset() {
        if terms.count > Self.mostKeptTerms { terms = GroupTable() }
        occurrences.removeAll(keepingCapacity: true)
        objects.removeAll(keepingCapacity: true)
        objectsAscend = true
        lengths.removeAll(keepingCapacity: true)
        wholes = [:]
    }

    func insert(_ id: ObjectID, _ row: RowReader, _ text: PreparedText) throws {
        let object = begin(id)
        var count = 0
        try cut(row, text) { term, place in
            occurrences.append(Occurrence(object: object, term: term, place: place))
            count += 1
        }
        lengths.append(Length(text: text, object: id.rawValue, words: UInt32(count)))
        add(text, objects: 1, words: Int64(count))
    }

    func remove(_ id: ObjectID, _ row: RowReader, _ text: PreparedText) throws {
        let object = begin(id)
        var count = 0
        try cut(row, text) { term, _ in
            occurrences.append(Occurrence(object: object, term: term, place: Occurrence.gone))
            count += 1
        }
        lengths.append(Length(text: text, object: id.rawValue, words: nil))
        add(text, objects: -1, words: -Int64(count))
    }

    func update(_ id: ObjectID, from old: RowReader, to new: RowReader, _ text: PreparedText) throws {
        if try text.isSame(old, new) { return }
        try cut(old, text, into: &before)
        try cut(new, text, into: &after)
        if before == after { return }
        let object = begin(id)
        var (rest, now) = (before[...], after[...])
        while let term = [rest.first?.term, now.first?.term].compactMap({ $0 }).min() {
            let (former, new) = (rest.prefix { $0.term == term }, now.prefix { $0.term == term })
            (rest, now) = (rest[former.endIndex...], now[new.endIndex...])
            if former.elementsEqual(new) { continue }
            if !former.isEmpty {
                occurrences.append(Occurrence(object: object, term: term, place: Occurrence.gone))
            }
            for token in new { occurrences.append(Occurrence(object: object, term: term, place: token.place)) }
        }
        if before.count == after.count { return }
        lengths.append(Length(text: text, object: id.rawValue, words: UInt32(after.count)))
        add(text, objects: 0, words: Int64(after.count) - Int64(before.count))
    }

    // MARK: Parts

    /// - Returns: the index of the object for the occurrences that follow.
    private func begin(_ id: ObjectID) -> UInt32 {
        if let last = objects.last, last > id.rawValue { objectsAscend = false }
        objects.append(id.rawValue)
        return UInt32(objects.count - 1)
    }

    /// Cuts the texts of a row into tokens, sorted by term and place.
    private func cut(_ row: RowReader, _ text: PreparedText, into tokens: inout [Token]) throws {
        tokens.removeAll(keepingCapacity: true)
        try cut(row, text) { tokens.append(Token(term: $0, place: $1)) }
        tokens.sort()
    }

    /// Cuts the texts of a row, attribute by attribute.
    @inline(__always)
    private func cut(_ row: RowReader, _ text: PreparedText, _ body: (_ term: UInt32, _ place: UInt64) -> Void) throws {
        TextKey.begin(text.id, TextKey.terms, into: &key)
        let start = key.count
        try text.forEachColumn(row) { column, bytes in
            var place = UInt64(column) << 32
            cutter.forEach(in: bytes) { term, _ in
                key.truncate(to: start)
                key.append(term)
                body(UInt32(terms.number(of: key.bytes).group), place)
                place += 1
                return true
            }
        }
    }

    private func add(_ text: PreparedText, objects: Int64, words: Int64) {
        wholes[text.id, default: Whole(text: text)].objects += objects
        wholes[text.id, default: Whole(text: text)].words += words
    }
}
