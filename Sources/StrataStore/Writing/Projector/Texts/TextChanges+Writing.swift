import LMDB
import StrataModel

extension TextChanges {
    /// Writes the changes to the table, in key order but for the views.
    func write(to table: Table, _ transaction: WriteTransaction) throws {
        let cursor = try transaction.writeCursor(table)
        defer { cursor.close() }
        for whole in wholes.values.sorted(by: { $0.text.id < $1.text.id }) { try write(whole, cursor) }
        try writeLengths(cursor)
        try writeTerms(cursor)
    }

    private func write(_ whole: Whole, _ cursor: WriteCursor) throws {
        var key = ByteWriter(capacity: 16)
        TextKey.begin(whole.text.id, TextKey.whole, into: &key)
        let isThere = try cursor.seek(to: key.bytes)
        let now = isThere ? try TextLengths.whole(cursor.value, whole.text) : (objects: 0, words: 0)
        let objects = Int64(now.objects) + whole.objects
        let words = Int64(now.words) + whole.words
        guard objects >= 0, words >= 0 else { throw disagreement(whole.text) }
        if objects == 0 {
            if isThere { try cursor.delete() }
            return
        }
        var record = ByteWriter(capacity: 16)
        record.append(littleEndian: UInt64(objects))
        record.append(littleEndian: UInt64(words))
        try cursor.put(key.bytes, record.bytes)
    }

    private func disagreement(_ text: PreparedText) -> StrataError {
        StrataError(
            .corrupt, "The full text of \(text.entityName) would count its objects below zero. Rebuild the views.",
            context: text.context)
    }

    // MARK: Lengths

    private func writeLengths(_ cursor: WriteCursor) throws {
        let order = lengths.indices.sorted { left, right in
            let (first, second) = (lengths[left], lengths[right])
            if first.text.id != second.text.id { return first.text.id < second.text.id }
            return (first.object, left) < (second.object, right)
        }
        var key = ByteWriter(capacity: 16)
        var record = ByteWriter(capacity: 2048)
        var first = 0
        while first < order.count {
            let text = lengths[order[first]].text
            let group = lengths[order[first]].object >> 8
            var words = [Int64](repeating: -1, count: 256)
            TextKey.lengths(text.id, group, into: &key)
            let isThere = try cursor.seek(to: key.bytes)
            if isThere {
                do throws(CorruptRecord) {
                    try TextLengths.Record(cursor.value).forEach { words[Int($0)] = Int64($1) }
                } catch {
                    throw StrataError.corrupt(error, "viewTexts", text.context)
                }
            }
            while first < order.count {
                let length = lengths[order[first]]
                guard length.object >> 8 == group, length.text === text else { break }
                words[Int(length.object & 0xFF)] = length.words.map(Int64.init) ?? -1
                first += 1
            }
            let members = words.indices.filter { words[$0] >= 0 }
            if members.isEmpty {
                if isThere { try cursor.delete() }
                continue
            }
            record.reset()
            record.append(UInt8(members.count - 1))
            for member in members { record.append(UInt8(member)) }
            for member in members { record.append(littleEndian: UInt32(words[member])) }
            try cursor.put(key.bytes, record.bytes)
        }
    }

    // MARK: Terms

    private func writeTerms(_ cursor: WriteCursor) throws {
        var starts = [Int](repeating: 0, count: terms.count + 1)
        for change in changes { starts[Int(change.term) + 1] += 1 }
        for index in 1..<max(1, starts.count) { starts[index] += starts[index - 1] }
        // By term, in each term in the order in which they were collected.
        var next = starts
        var sorted = [UInt32](repeating: 0, count: changes.count)
        for (index, change) in changes.enumerated() {
            sorted[next[Int(change.term)]] = UInt32(index)
            next[Int(change.term)] += 1
        }
        var writer = TextTermWriter(cursor)
        for term in terms.inKeyOrder() {
            let range = starts[term]..<starts[term + 1]
            if range.isEmpty { continue }
            let isSorted = range.dropFirst().allSatisfy {
                changes[Int(sorted[$0 - 1])].object < changes[Int(sorted[$0])].object
            }
            if !isSorted {
                sorted[range].sort {
                    (changes[Int($0)].object, $0) < (changes[Int($1)].object, $1)
                }
            }
            var first = range.lowerBound
            while first < range.upperBound {
                let group = changes[Int(sorted[first])].object >> 8
                var end = first + 1
                while end < range.upperBound, changes[Int(sorted[end])].object >> 8 == group { end += 1 }
                try writer.write(terms.key(term), group, sorted[first..<end], of: changes, positions.bytes)
                first = end
            }
        }
    }
}

/// Writes the records of terms.
private struct TextTermWriter: ~Copyable {
    private let cursor: WriteCursor
    private var key = ByteWriter(capacity: 256)
    private var builder = TextPostingsBuilder()
    private var record = ByteWriter(capacity: 4096)

    init(_ cursor: WriteCursor) { self.cursor = cursor }

    /// Changes one record.
    ///
    /// - Parameter places: the changes, sorted by object; of several for one object the last counts.
    mutating func write(
        _ term: UnsafeRawBufferPointer, _ group: UInt64, _ places: ArraySlice<UInt32>,
        of changes: [TextChanges.Change], _ positions: UnsafeRawBufferPointer
    ) throws {
        key.reset()
        key.append(term)
        key.append(0 as UInt8)
        TextKey.append(group: group, to: &key)
        builder.reset()
        let isThere = try cursor.seek(to: key.bytes)
        do throws(CorruptRecord) {
            try merge(isThere ? TextPostings(cursor.value) : nil, places, changes, positions)
        } catch {
            throw StrataError.corrupt(error, "viewTexts")
        }
        if builder.isEmpty {
            if isThere { try cursor.delete() }
            return
        }
        builder.encode(into: &record)
        try cursor.put(key.bytes, record.bytes)
    }

    private mutating func merge(
        _ old: TextPostings?, _ places: ArraySlice<UInt32>, _ changes: [TextChanges.Change],
        _ positions: UnsafeRawBufferPointer
    ) throws(CorruptRecord) {
        var (index, offset) = (0, 0)
        func hasOld(below member: Int) -> Bool {
            guard let old, index < old.count else { return false }
            return Int(old.objects[index]) < member
        }
        func skipOld() {
            guard let old else { return }
            offset += old.size(index)
            index += 1
        }
        func keepOld(_ builder: inout TextPostingsBuilder) throws(CorruptRecord) {
            guard let old else { return }
            let bytes = try old.positions(index, at: offset)
            builder.add(old.objects[index], frequency: UInt32(old.frequency(index)), bytes)
            skipOld()
        }
        for place in places.indices {
            let change = changes[Int(places[place])]
            if place + 1 < places.endIndex, changes[Int(places[place + 1])].object == change.object { continue }
            let member = Int(change.object & 0xFF)
            while hasOld(below: member) { try keepOld(&builder) }
            if let old, index < old.count, Int(old.objects[index]) == member { skipOld() }
            if change.frequency > 0 {
                builder.add(
                    UInt8(member), frequency: change.frequency,
                    UnsafeRawBufferPointer(
                        rebasing: positions[change.offset..<change.offset + Int(change.size)]))
            }
        }
        while hasOld(below: 256) { try keepOld(&builder) }
    }
}
