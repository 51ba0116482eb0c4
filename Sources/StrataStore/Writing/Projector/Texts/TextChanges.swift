import LMDB
import StrataModel

/// The changes of lists of words that a batch makes, collected and then written in key order (`TextChanges+Writing`).
///
/// Of several changes of a term in one object the last one counts. Belongs to one batch, on one thread at a time.
final class TextChanges {
    /// A change of a term's occurrences in an object.
    struct Change {
        let object: UInt64
        let term: UInt32
        /// The number of times that the word occurs there; 0 if no longer.
        let frequency: UInt32
        /// Its positions in `positions`.
        let offset: Int
        let size: UInt32
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

    // A token of a text in one number, so that sorting brings each term's positions together in order.
    private static let termShift: UInt64 = 36
    private static let columnShift: UInt64 = 31

    /// Numbers terms by the beginnings of their keys.
    @exclusivity(unchecked) private(set) var terms = GroupTable()
    @exclusivity(unchecked) private(set) var changes: [Change] = []
    @exclusivity(unchecked) private(set) var positions = ByteWriter(capacity: 1 << 16)
    @exclusivity(unchecked) private(set) var lengths: [Length] = []
    private(set) var wholes: [ViewID: Whole] = [:]
    @exclusivity(unchecked) private var cutter = TextTerms()
    @exclusivity(unchecked) private var key = ByteWriter(capacity: 256)
    @exclusivity(unchecked) private var before: [UInt64] = []
    @exclusivity(unchecked) private var after: [UInt64] = []

    /// About the memory taken.
    var sizeInBytes: Int { changes.count * 40 + positions.count + terms.count * 64 + lengths.count * 32 }
    var isEmpty: Bool { changes.isEmpty && lengths.isEmpty }

    func insert(_ id: ObjectID, _ row: RowReader, _ text: PreparedText) throws {
        try cut(row, text, into: &after)
        let count = after.count
        after.sort()
        forEachTerm(of: after) { put(id, $0, after[$1]) }
        lengths.append(Length(text: text, object: id.rawValue, words: UInt32(count)))
        add(text, objects: 1, words: Int64(count))
    }

    func remove(_ id: ObjectID, _ row: RowReader, _ text: PreparedText) throws {
        try cut(row, text, into: &before)
        let count = before.count
        before.sort()
        forEachTerm(of: before) { term, _ in drop(id, term) }
        lengths.append(Length(text: text, object: id.rawValue, words: nil))
        add(text, objects: -1, words: -Int64(count))
    }

    func update(_ id: ObjectID, from old: RowReader, to new: RowReader, _ text: PreparedText) throws {
        if try text.isSame(old, new) { return }
        try cut(old, text, into: &before)
        try cut(new, text, into: &after)
        before.sort()
        after.sort()
        if before == after { return }
        var rest = before[...]
        forEachTerm(of: after) { term, range in
            while let first = rest.first, Self.term(first) < term { dropFirst(of: &rest, id) }
            let same = rest.prefix { Self.term($0) == term }
            rest = rest[same.endIndex...]
            if !same.elementsEqual(after[range]) { put(id, term, after[range]) }
        }
        while !rest.isEmpty { dropFirst(of: &rest, id) }
        if before.count == after.count { return }
        lengths.append(Length(text: text, object: id.rawValue, words: UInt32(after.count)))
        add(text, objects: 0, words: Int64(after.count) - Int64(before.count))
    }

    // MARK: Parts

    private static func term(_ token: UInt64) -> UInt32 { UInt32(token >> termShift) }

    /// Cuts the texts of a row into tokens.
    private func cut(_ row: RowReader, _ text: PreparedText, into tokens: inout [UInt64]) throws {
        tokens.removeAll(keepingCapacity: true)
        TextKey.begin(text.id, TextKey.terms, into: &key)
        let start = key.count
        try text.forEachColumn(row) { column, bytes in
            var position: UInt64 = 0
            cutter.forEach(in: bytes) { term, _ in
                key.truncate(to: start)
                key.append(term)
                let number = UInt64(terms.number(of: key.bytes).group)
                tokens.append(number << Self.termShift | UInt64(column) << Self.columnShift | position)
                position += 1
                return true
            }
        }
    }

    private func forEachTerm(of tokens: [UInt64], _ body: (UInt32, Range<Int>) -> Void) {
        var first = 0
        while first < tokens.count {
            let term = Self.term(tokens[first])
            var end = first + 1
            while end < tokens.count, Self.term(tokens[end]) == term { end += 1 }
            body(term, first..<end)
            first = end
        }
    }

    private func dropFirst(of rest: inout ArraySlice<UInt64>, _ id: ObjectID) {
        guard let first = rest.first else { return }
        drop(id, Self.term(first))
        rest = rest.drop { Self.term($0) == Self.term(first) }
    }

    private func drop(_ id: ObjectID, _ term: UInt32) {
        changes.append(Change(object: id.rawValue, term: term, frequency: 0, offset: 0, size: 0))
    }

    private func put(_ id: ObjectID, _ term: UInt32, _ tokens: ArraySlice<UInt64>) {
        let offset = positions.count
        var column: UInt64 = 0
        var last: UInt64 = 0
        for token in tokens {
            let place = token & (1 << Self.termShift - 1)
            let own = place >> Self.columnShift
            if own != column {
                positions.append(0 as UInt8)
                positions.append(varint: own)
                (column, last) = (own, 0)
            }
            let next = place & (1 << Self.columnShift - 1) + 1
            positions.append(varint: next - last)
            last = next
        }
        changes.append(
            Change(
                object: id.rawValue, term: term, frequency: UInt32(tokens.count), offset: offset,
                size: UInt32(positions.count - offset)))
    }

    private func add(_ text: PreparedText, objects: Int64, words: Int64) {
        wholes[text.id, default: Whole(text: text)].objects += objects
        wholes[text.id, default: Whole(text: text)].words += words
    }
}
