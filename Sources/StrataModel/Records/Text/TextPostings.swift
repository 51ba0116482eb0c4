// A record of `viewTexts`. The key begins with the number of the view and a kind:
//
//   0                                  the whole: UInt64 objects, UInt64 words of all objects
//   1, UInt56 group                    the lengths of texts: UInt8 objects - 1; UInt8 of each object; UInt32 words of each
//   2, term, 0, UInt56 group           where a term stands: UInt8 objects - 1; UInt8 widths; UInt8 of each object; how
//                                      often it stands in each; the size of the positions of each; the positions
//
// A group is what objects have in common whose ids differ in the last byte only; that byte stands for the object. Objects
// are in order. Numbers of a term are little-endian, as wide as the largest needs: the low half of the widths is that of
// the frequencies (1, 2, 4), the high half that of the sizes. Positions are LEB128 numbers: the distance from the position
// before it in the same attribute, or 1 + the position for the first. A 0 leads on to another attribute, whose number
// follows; the first attribute is 0. An object without words has a length of 0.

/// Reads a record of the objects in which a term occurs.
package struct TextPostings {
    /// The last bytes of the objects' ids, ascending.
    package let objects: UnsafeRawBufferPointer
    private let frequencies: UnsafeRawPointer
    private let sizes: UnsafeRawPointer
    private let frequencyWidth: Int
    private let sizeWidth: Int
    private let positions: UnsafeRawBufferPointer

    package var count: Int { objects.count }

    @inline(__always)
    package init(_ record: UnsafeRawBufferPointer) throws(CorruptRecord) {
        guard record.count >= 2, let base = record.baseAddress else {
            throw CorruptRecord("record of a term cut short", at: record.count)
        }
        let count = Int(record[0]) + 1
        frequencyWidth = Int(record[1] & 15)
        sizeWidth = Int(record[1] >> 4)
        guard Self.isWidth(frequencyWidth), Self.isWidth(sizeWidth) else {
            throw CorruptRecord("record of a term with an unknown width", at: 1)
        }
        let end = 2 + count * (1 + frequencyWidth + sizeWidth)
        guard end <= record.count else { throw CorruptRecord("record of a term cut short", at: record.count) }
        objects = UnsafeRawBufferPointer(start: base + 2, count: count)
        frequencies = base + 2 + count
        sizes = base + 2 + count * (1 + frequencyWidth)
        positions = UnsafeRawBufferPointer(start: base + end, count: record.count - end)
    }

    private static func isWidth(_ width: Int) -> Bool { width == 1 || width == 2 || width == 4 }

    @inline(__always)
    private static func number(_ base: UnsafeRawPointer, _ index: Int, _ width: Int) -> Int {
        switch width {
        case 1: Int(base.load(fromByteOffset: index, as: UInt8.self))
        case 2: Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)))
        default: Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)))
        }
    }

    /// Returns the number of times that the term occurs in the object with an index.
    @inline(__always)
    package func frequency(_ index: Int) -> Int { Self.number(frequencies, index, frequencyWidth) }

    /// The size of the positions of the object with an index.
    package func size(_ index: Int) -> Int { Self.number(sizes, index, sizeWidth) }

    /// The bytes of the positions of an object.
    ///
    /// - Parameter offset: the sizes of the objects before it.
    package func positions(_ index: Int, at offset: Int) throws(CorruptRecord) -> UnsafeRawBufferPointer {
        let size = size(index)
        guard offset + size <= positions.count else { throw CorruptRecord("positions cut short", at: offset) }
        return UnsafeRawBufferPointer(rebasing: positions[offset..<offset + size])
    }

    /// Reads positions.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer, into list: inout [TextPosition]
    ) throws(CorruptRecord) {
        var reader = ByteReader(bytes)
        var column: UInt64 = 0
        var last: Int64 = -1
        while !reader.isAtEnd {
            let step = try reader.readVarint()
            if step == 0 {
                column = try reader.readVarint()
                guard column < 1 << 31 else { throw reader.corrupt("attribute out of range") }
                last = -1
                continue
            }
            guard step < 1 << 32 else { throw reader.corrupt("position out of range") }
            last += Int64(step)
            guard last < 1 << 32 else { throw reader.corrupt("position out of range") }
            list.append(column << 32 | UInt64(last))
        }
    }
}

/// Writes a record of the objects in which a term occurs.
package struct TextPostingsBuilder: ~Copyable {
    private var objects: [UInt8] = []
    private var frequencies: [UInt32] = []
    private var sizes: [UInt32] = []
    private var positions = ByteWriter(capacity: 1024)

    package init() {}

    package var isEmpty: Bool { objects.isEmpty }

    package mutating func reset() {
        objects.removeAll(keepingCapacity: true)
        frequencies.removeAll(keepingCapacity: true)
        sizes.removeAll(keepingCapacity: true)
        positions.reset()
    }

    /// Adds an object. Objects come in order.
    @inline(__always)
    package mutating func add(_ object: UInt8, frequency: UInt32, _ bytes: UnsafeRawBufferPointer) {
        objects.append(object)
        frequencies.append(frequency)
        sizes.append(UInt32(bytes.count))
        positions.append(bytes)
    }

    package func encode(into writer: inout ByteWriter) {
        writer.reset()
        writer.append(UInt8(truncatingIfNeeded: objects.count - 1))
        let (first, second) = (Self.width(frequencies), Self.width(sizes))
        writer.append(UInt8(first | second << 4))
        objects.withUnsafeBytes { writer.append($0) }
        Self.append(frequencies, first, to: &writer)
        Self.append(sizes, second, to: &writer)
        writer.append(positions.bytes)
    }

    private static func width(_ numbers: [UInt32]) -> Int {
        let most = numbers.max() ?? 0
        return most < 1 << 8 ? 1 : most < 1 << 16 ? 2 : 4
    }

    private static func append(_ numbers: [UInt32], _ width: Int, to writer: inout ByteWriter) {
        switch width {
        case 1: for number in numbers { writer.append(UInt8(truncatingIfNeeded: number)) }
        case 2: for number in numbers { writer.append(littleEndian: UInt16(truncatingIfNeeded: number)) }
        default: for number in numbers { writer.append(littleEndian: number) }
        }
    }
}

extension ByteWriter {
    /// Appends a number in LEB128.
    @inline(__always)
    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension ByteReader {
    /// Reads a number in LEB128 of at most 63 bits.
    @inline(__always)
    package mutating func readVarint() throws(CorruptRecord) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = try readByte()
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
            guard shift < 63 else { throw corrupt("number too long") }
        }
    }
}
