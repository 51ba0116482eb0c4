import LMDB
import StrataModel

/// The occurrences of a word of a query, read from the table: the records of one term, or of all terms with a prefix.
///
/// The records lie in the map and are valid inside the read.
final class TextWordList {
    private(set) var matches = TextGroupSet()
    /// The records of each group, as a range of `records`.
    private var spans: [Range<Int>] = []
    private var records: [TextPostings] = []
    /// The objects of each record.
    private var members: [GroupBits] = []

    /// - Parameter hidden: objects that are not as the table has them.
    init(_ word: TextWord, _ text: PreparedText, _ table: Table, _ snapshot: Snapshot, hidden: TextGroupSet) throws {
        var key = ByteWriter(capacity: 256)
        TextKey.term(text.id, word.term, isPrefix: word.isPrefix, into: &key)
        var groups: [UInt64] = []
        try snapshot.transaction.withCursor(table) { cursor in
            var found = try cursor.seek(atOrAfter: key.bytes)
            while found, cursor.key.hasPrefix(key.bytes) {
                do throws(CorruptRecord) {
                    let record = try TextPostings(cursor.value)
                    records.append(record)
                } catch {
                    throw StrataError.corrupt(error, "viewTexts", text.context)
                }
                groups.append(TextKey.group(of: cursor.key))
                try snapshot.spend(entries: 1 + records[records.count - 1].count >> 4)
                found = try cursor.next()
            }
        }
        try snapshot.hold(records.count * (MemoryLayout<TextPostings>.stride + 96))
        if word.isPrefix, records.count > 1 { sort(&groups) }
        members.reserveCapacity(records.count)
        for record in records {
            var bits = GroupBits.zero
            for member in record.objects { bits.insert(member) }
            members.append(bits)
        }
        collect(groups, hidden)
    }

    /// Records of several terms are sorted by group.
    private func sort(_ groups: inout [UInt64]) {
        let order = Self.order(of: groups)
        records = order.map { records[$0] }
        groups = order.map { groups[$0] }
    }

    /// The indexes of groups in ascending order. Groups of one store are mostly close together and are then counted.
    private static func order(of groups: [UInt64]) -> [Int] {
        guard let low = groups.min(), let high = groups.max(), high - low < UInt64(groups.count * 4 + 4096) else {
            return groups.indices.sorted { (groups[$0], $0) < (groups[$1], $1) }
        }
        var starts = [Int](repeating: 0, count: Int(high - low) + 2)
        for group in groups { starts[Int(group - low) + 1] += 1 }
        for index in 1..<starts.count { starts[index] += starts[index - 1] }
        var order = [Int](repeating: 0, count: groups.count)
        for (index, group) in groups.enumerated() {
            order[starts[Int(group - low)]] = index
            starts[Int(group - low)] += 1
        }
        return order
    }

    private func collect(_ groups: [UInt64], _ hidden: TextGroupSet) {
        var (first, index) = (0, 0)
        while first < groups.count {
            let group = groups[first]
            var end = first
            var bits = GroupBits.zero
            while end < groups.count, groups[end] == group {
                bits |= members[end]
                end += 1
            }
            while index < hidden.groups.count, hidden.groups[index] < group { index += 1 }
            if index < hidden.groups.count, hidden.groups[index] == group { bits &= ~hidden.bits[index] }
            if !bits.isEmpty { spans.append(first..<end) }
            matches.append(group, bits)
            first = end
        }
    }

    /// The number of times that the word occurs in an object.
    ///
    /// - Parameter group: the index of its group in `matches`.
    @inline(__always)
    func frequency(_ group: Int, _ member: UInt8) -> Int {
        let span = spans[group]
        if span.count == 1 { return records[span.lowerBound].frequency(members[span.lowerBound].rank(of: member)) }
        var sum = 0
        for index in span where members[index].contains(member) {
            sum += records[index].frequency(members[index].rank(of: member))
        }
        return sum
    }

    /// Reads the positions in the objects of one group; members come in order.
    struct PositionReader {
        private let list: TextWordList
        private let span: Range<Int>
        private var indexes: [Int]
        private var offsets: [Int]

        init(_ list: TextWordList, _ group: Int) {
            self.list = list
            span = list.spans[group]
            indexes = Array(repeating: 0, count: span.count)
            offsets = indexes
        }

        mutating func read(_ member: UInt8, into positions: inout [TextPosition]) throws(CorruptRecord) {
            positions.removeAll(keepingCapacity: true)
            for (place, record) in span.enumerated() where list.members[record].contains(member) {
                let wanted = list.members[record].rank(of: member)
                while indexes[place] < wanted {
                    offsets[place] += list.records[record].size(indexes[place])
                    indexes[place] += 1
                }
                let bytes = try list.records[record].positions(wanted, at: offsets[place])
                try TextPostings.decode(bytes, into: &positions)
            }
            if span.count > 1 { positions.sort() }
        }
    }
}
