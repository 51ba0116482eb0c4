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
        var counts = [Int](repeating: 0, count: terms.count)
        for occurrence in occurrences { counts[Int(occurrence.term)] += 1 }
        let keyOrder = terms.inKeyOrder()
        var ends = counts
        var start = 0
        for term in keyOrder {
            ends[term] = start
            start += counts[term]
        }
        // By term in key order, in each term in the order in which they were collected.
        var order = [UInt32](repeating: 0, count: occurrences.count)
        for (index, occurrence) in occurrences.enumerated() {
            order[ends[Int(occurrence.term)]] = UInt32(index)
            ends[Int(occurrence.term)] += 1
        }
        if !objectsAscend { sortByObject(&order, keyOrder.lazy.map { ends[$0] - counts[$0]..<ends[$0] }) }
        var writer = TextTermWriter(cursor)
        try order.withUnsafeBufferPointer { order in
            try occurrences.withUnsafeBufferPointer { occurrences in
                try objects.withUnsafeBufferPointer { objects in
                    let list = OccurrenceList(order: order, occurrences: occurrences, objects: objects)
                    for term in keyOrder where counts[term] > 0 {
                        try list.forEachGroup(of: ends[term] - counts[term]..<ends[term]) { group, range in
                            try writer.write(terms.key(term), group, range, of: list)
                        }
                    }
                }
            }
        }
    }

    private func sortByObject(_ order: inout [UInt32], _ ranges: some Sequence<Range<Int>>) {
        let (occurrences, objects) = (occurrences, objects)
        func object(_ index: UInt32) -> UInt64 { objects[Int(occurrences[Int(index)].object)] }
        for range in ranges { order[range].sort { (object($0), $0) < (object($1), $1) } }
    }
}

/// The occurrences of a batch in the order in which they are written.
private struct OccurrenceList {
    let order: UnsafeBufferPointer<UInt32>
    let occurrences: UnsafeBufferPointer<TextChanges.Occurrence>
    let objects: UnsafeBufferPointer<UInt64>
    /// How many occurrences ahead one is fetched into the processor's cache: those of a term lie far from each other.
    private static let ahead = 16

    subscript(index: Int) -> TextChanges.Occurrence { occurrences[Int(order[index])] }

    func object(_ index: Int) -> UInt64 { objects[Int(self[index].object)] }

    /// Calls `body` with the occurrences of a term in each group of 256 objects.
    @inline(__always)
    func forEachGroup(of range: Range<Int>, _ body: (_ group: UInt64, Range<Int>) throws -> Void) rethrows {
        var first = range.lowerBound
        while first < range.upperBound {
            let group = object(first) >> 8
            var end = first
            while end < range.upperBound, object(end) >> 8 == group {
                if end + Self.ahead < order.count, let start = occurrences.baseAddress {
                    prefetch(start + Int(order[end + Self.ahead]))
                }
                end += 1
            }
            try body(group, first..<end)
            first = end
        }
    }
}

/// Writes the records of terms.
private struct TextTermWriter: ~Copyable {
    private let cursor: WriteCursor
    private var key = ByteWriter(capacity: 256)
    private var builder = TextPostingsBuilder()
    private var positions = ByteWriter(capacity: 256)
    private var record = ByteWriter(capacity: 4096)

    init(_ cursor: WriteCursor) { self.cursor = cursor }

    /// Changes one record.
    ///
    /// - Parameter range: the occurrences in the objects of the group, sorted by object.
    mutating func write(
        _ term: UnsafeRawBufferPointer, _ group: UInt64, _ range: Range<Int>, of list: OccurrenceList
    ) throws {
        key.reset()
        key.append(term)
        key.append(0 as UInt8)
        TextKey.append(group: group, to: &key)
        builder.reset()
        let isThere = try cursor.seek(to: key.bytes)
        do throws(CorruptRecord) {
            try merge(isThere ? TextPostings(cursor.value) : nil, range, list)
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
        _ old: TextPostings?, _ range: Range<Int>, _ list: OccurrenceList
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
        var first = range.lowerBound
        while first < range.upperBound {
            let object = list.object(first)
            var end = first + 1
            while end < range.upperBound, list.object(end) == object { end += 1 }
            let member = Int(object & 0xFF)
            while hasOld(below: member) { try keepOld(&builder) }
            if let old, index < old.count, Int(old.objects[index]) == member { skipOld() }
            let frequency = encodePositions(first..<end, list)
            if frequency > 0 { builder.add(UInt8(member), frequency: frequency, positions.bytes) }
            first = end
        }
        while hasOld(below: 256) { try keepOld(&builder) }
    }

    /// Encodes the positions of one object.
    ///
    /// - Returns: their number.
    private mutating func encodePositions(_ range: Range<Int>, _ list: OccurrenceList) -> UInt32 {
        positions.reset()
        var frequency: UInt32 = 0
        var column: UInt64 = 0
        var last: UInt64 = 0
        for index in range {
            let place = list[index].place
            if place == TextChanges.Occurrence.gone {
                positions.reset()
                (frequency, column, last) = (0, 0, 0)
                continue
            }
            if place >> 32 != column {
                positions.append(0 as UInt8)
                positions.append(varint: place >> 32)
                (column, last) = (place >> 32, 0)
            }
            let next = place & 0xFFFF_FFFF + 1
            positions.append(varint: next - last)
            last = next
            frequency += 1
        }
        return frequency
    }
}
