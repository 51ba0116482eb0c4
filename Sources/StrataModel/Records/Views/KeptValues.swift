// The values of an aggregate that the record of a group has itself, ascending; those of `max` and `last` are complemented,
// so that the largest comes first:
//
//   varint  number of values that the record does not have; these are larger, and stand in the table `viewValues`
//   varint  number of values here; if there are any, then also:
//   varint  size of each value, 0 if they have different sizes
//   varint  number of bytes with which all values begin; these bytes
//   and for each value: varint number of its other bytes, if sizes differ; these bytes; varint number of objects
//
// The smallest values are here: as many as take at most 256 bytes when written one after another, and at least one, or as
// many as the column shows. So the place of a value depends on the values alone, and a small group needs one record.

import Foundation

/// The values that the record of a group has itself, in memory that is used again for the next one.
package struct KeptValues: ~Copyable {
    /// The most bytes of all values.
    package static let limit = 256

    /// A value, and how many objects have it.
    private struct Entry {
        let offset: Int
        let size: Int
        var count: Int64
    }

    /// The layout that all entries of a record share.
    private struct Shape {
        let otherCount: Int64
        let count: Int
        /// 0 if sizes differ, -1 if there are no values.
        let size: Int
        let start: UnsafeRawBufferPointer

        init(_ reader: inout ByteReader) throws(CorruptRecord) {
            otherCount = Int64(try reader.readVarint())
            // Each takes a byte at least.
            let number = try reader.readVarint()
            guard number <= reader.remaining else { throw reader.corrupt("values of a group cut short") }
            count = Int(number)
            guard count > 0 else {
                (size, start) = (-1, UnsafeRawBufferPointer(start: nil, count: 0))
                return
            }
            let size = Int(try reader.readVarint())
            start = try reader.readBytes(Int(try reader.readVarint()))
            guard size == 0 || size >= start.count else { throw reader.corrupt("value of a group of another size") }
            self.size = size
        }

        /// The bytes of the next value behind those that all begin with.
        @inline(__always)
        func rest(_ reader: inout ByteReader) throws(CorruptRecord) -> UnsafeRawBufferPointer {
            try reader.readBytes(size == 0 ? Int(try reader.readVarint()) : size - start.count)
        }
    }

    /// All values that were added, also those that are gone.
    private var bytes = ByteWriter(capacity: 1024)
    private var entries: [Entry] = []
    /// The bytes of the values that are there.
    package private(set) var sizeInBytes = 0
    /// The number of larger values, which are elsewhere.
    package var otherCount: Int64 = 0

    package init() {}

    package var count: Int { entries.count }

    package func value(_ index: Int) -> UnsafeRawBufferPointer { bytes(of: entries[index]) }

    /// Returns the number of objects that have a value.
    package func objectCount(_ index: Int) -> Int64 { entries[index].count }

    private func bytes(of entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.bytes[entry.offset..<entry.offset + entry.size])
    }

    // MARK: Changing

    package mutating func removeAll() {
        bytes.reset()
        entries.removeAll(keepingCapacity: true)
        (sizeInBytes, otherCount) = (0, 0)
    }

    /// Changes how many objects have a value.
    ///
    /// - Returns: false if there would be fewer than none.
    package mutating func add(_ value: UnsafeRawBufferPointer, _ delta: Int64) -> Bool {
        let (index, isFound) = index(of: value)
        if isFound {
            entries[index].count += delta
            if entries[index].count < 0 { return false }
            if entries[index].count == 0 { remove(at: index) }
            return true
        }
        guard delta > 0 else { return false }
        entries.insert(Entry(offset: bytes.count, size: value.count, count: delta), at: index)
        bytes.append(value)
        sizeInBytes += value.count
        return true
    }

    /// Removes the value at an index. Its bytes stay until `removeAll`.
    private mutating func remove(at index: Int) {
        sizeInBytes -= entries[index].size
        entries.remove(at: index)
    }

    /// Returns the number of values that fit into the record.
    ///
    /// - Parameter least: the fewest, if there are so many.
    package func fittingCount(least: Int) -> Int {
        if sizeInBytes <= Self.limit { return entries.count }
        var (count, size) = (0, 0)
        while count < entries.count {
            size += entries[count].size
            if count >= least, size > Self.limit { break }
            count += 1
        }
        return count
    }

    /// Removes all but the first values.
    package mutating func keepFirst(_ count: Int) {
        for entry in entries[count...] { sizeInBytes -= entry.size }
        entries.removeSubrange(count...)
    }

    /// Returns the index of a value, or the one at which it belongs.
    private func index(of value: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let order = Self.compare(bytes(of: entries[middle]), value)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// - Returns: negative, 0 or positive.
    package static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        guard let own = left.baseAddress, let other = right.baseAddress else { return left.count - right.count }
        let order = Int(memcmp(own, other, Swift.min(left.count, right.count)))
        return order != 0 ? order : left.count - right.count
    }

    // MARK: Bytes

    /// Takes the values of a record in place of those that are there.
    package mutating func read(_ reader: inout ByteReader) throws(CorruptRecord) {
        removeAll()
        let shape = try Shape(&reader)
        otherCount = shape.otherCount
        for _ in 0..<shape.count {
            let rest = try shape.rest(&reader)
            let entry = Entry(
                offset: bytes.count, size: shape.start.count + rest.count, count: Int64(try reader.readVarint()))
            bytes.append(shape.start)
            bytes.append(rest)
            entries.append(entry)
            sizeInBytes += entry.size
        }
    }

    package func encode(into writer: inout ByteWriter) {
        writer.append(varint: UInt64(otherCount))
        writer.append(varint: UInt64(entries.count))
        guard let first = entries.first, let last = entries.last else { return }
        let isUniform = entries.allSatisfy { $0.size == first.size }
        writer.append(varint: isUniform ? UInt64(first.size) : 0)
        // The values are sorted, so all of them share the beginning of the first and the last one.
        let start = Self.sharedStart(bytes(of: first), bytes(of: last))
        writer.append(varint: UInt64(start))
        writer.append(UnsafeRawBufferPointer(rebasing: bytes(of: first)[..<start]))
        for entry in entries {
            if !isUniform { writer.append(varint: UInt64(entry.size - start)) }
            writer.append(UnsafeRawBufferPointer(rebasing: bytes(of: entry)[start...]))
            writer.append(varint: UInt64(entry.count))
        }
    }

    private static func sharedStart(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        var count = 0
        while count < Swift.min(left.count, right.count), left[count] == right[count] { count += 1 }
        return count
    }

    /// Writes the values of a record with one change, if the other values keep their bytes. Most changes are such.
    ///
    /// - Returns: false if nothing was written.
    package static func splice(
        _ record: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ delta: Int64, into writer: inout ByteWriter
    ) throws(CorruptRecord) -> Bool {
        var reader = ByteReader(record)
        let shape = try Shape(&reader)
        let rest = shape.size - shape.start.count
        let (entries, width) = (reader.offset, rest + 1)
        // So each number of objects takes one byte, and so does the number of values.
        guard shape.size == value.count, record.count - entries == shape.count * width, shape.count < 0x7F,
            delta < 0x80,
            compare(UnsafeRawBufferPointer(rebasing: value[..<shape.start.count]), shape.start) == 0
        else { return false }
        let own = UnsafeRawBufferPointer(rebasing: value[shape.start.count...])
        var (place, order) = (entries, 1)
        while place < record.count {
            order = compare(UnsafeRawBufferPointer(rebasing: record[place..<place + rest]), own)
            if order >= 0 { break }
            place += width
        }
        if order == 0, place < record.count {
            let count = Int64(record[place + rest]) + delta
            guard count > 0, count < 0x80 else { return false }
            writer.append(record)
            writer.set(UInt8(truncatingIfNeeded: count), at: writer.count - record.count + place + rest)
            return true
        }
        guard delta > 0, (shape.count + 1) * shape.size <= limit, shape.otherCount == 0 || place < record.count else {
            return false
        }
        // The number of values is behind that of the others.
        let counter = shape.otherCount == 0 ? 1 : varintSize(UInt64(shape.otherCount))
        let start = writer.count
        writer.append(UnsafeRawBufferPointer(rebasing: record[..<place]))
        writer.append(own)
        writer.append(UInt8(truncatingIfNeeded: delta))
        writer.append(UnsafeRawBufferPointer(rebasing: record[place...]))
        writer.set(UInt8(truncatingIfNeeded: shape.count + 1), at: start + counter)
        return true
    }

    private static func varintSize(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }

    /// Reads the first values of a record, and how many it has here and elsewhere.
    ///
    /// - Parameter mask: 0xFF to complement the bytes of the values, else 0.
    static func first(
        _ most: Int, mask: UInt8, _ reader: inout ByteReader
    ) throws(CorruptRecord) -> (values: [[UInt8]], count: Int64) {
        let shape = try Shape(&reader)
        var values: [[UInt8]] = []
        for _ in 0..<Swift.min(most, shape.count) {
            let rest = try shape.rest(&reader)
            _ = try reader.readVarint()
            values.append(joined(shape.start, rest, mask))
        }
        return (values, shape.otherCount &+ Int64(shape.count))
    }

    private static func joined(
        _ start: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer, _ mask: UInt8
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: start.count + rest.count) { bytes, count in
            for index in 0..<start.count { bytes[index] = start[index] ^ mask }
            for index in 0..<rest.count { bytes[start.count + index] = rest[index] ^ mask }
            count = start.count + rest.count
        }
    }
}
