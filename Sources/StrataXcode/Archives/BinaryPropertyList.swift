/// The objects of a binary property list. Objects contain each other by index, so reading needs no recursion.
///
/// The format is that of CoreFoundation's `CFBinaryPList.c`: the text `bplist00`, the objects, a table of their offsets,
/// and a trailer of 32 bytes with the widths of offsets and indexes, the number of objects, the index of the first
/// object, and the offset of the table. Numbers are big-endian.
package struct BinaryPropertyList {
    package enum Object {
        case text(String)
        case integer(Int64)
        case boolean(Bool)
        case real(Double)
        /// A reference to an object of a keyed archive.
        case reference(Int)
        case list([Int])
        case dictionary([String: Int])
        /// The location of the bytes in the file; see `data(_:)`.
        case data(Range<Int>)
        /// Seconds since 2001.
        case date(Double)
        /// A kind of object that models do not need, such as null.
        case other
    }

    static let signature = Array("bplist00".utf8)
    package private(set) var objects: [Object] = []
    /// The index of the object that contains the others.
    package let top: Int

    private let bytes: [UInt8]
    private let indexWidth: Int
    /// The number of entries that lists and dictionaries may still have: objects that share bytes cannot make it many
    /// times their number.
    private var entriesLeft: Int

    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        self.bytes = bytes
        entriesLeft = bytes.count
        guard bytes.starts(with: Self.signature), bytes.count >= 40 else {
            throw ArchiveError("it is not a binary property list")
        }
        let trailer = bytes.count - 32
        let offsetWidth = Int(bytes[trailer + 6])
        indexWidth = Int(bytes[trailer + 7])
        guard 1...8 ~= offsetWidth, 1...8 ~= indexWidth, let count = Self.number(bytes, trailer + 8, 8),
            let top = Self.number(bytes, trailer + 16, 8), let table = Self.number(bytes, trailer + 24, 8),
            top < count, count <= trailer, table <= trailer - count * offsetWidth
        else { throw Self.damaged }
        self.top = top
        var keys: [Int: [(key: Int, value: Int)]] = [:]
        for index in 0..<count {
            guard let offset = Self.number(bytes, table + index * offsetWidth, offsetWidth), offset < trailer else {
                throw Self.damaged
            }
            objects.append(try object(at: offset, index, count, &keys))
        }
        for (index, entries) in keys {
            let named = entries.compactMap { entry -> (String, Int)? in
                guard case .text(let name) = objects[entry.key] else { return nil }
                return (name, entry.value)
            }
            objects[index] = .dictionary(Dictionary(named, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// The bytes of data.
    package func data(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

    private static let damaged = ArchiveError("it is damaged or cut short")

    /// A big-endian number; nil if it is not all there or exceeds `Int`.
    private static func number(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> Int? {
        guard offset >= 0, width <= bytes.count, offset <= bytes.count - width else { return nil }
        let value = bytes[offset..<offset + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }

    /// The lower four bits of the first byte are a width or a count; the upper four say which kind of object it is.
    private mutating func object(
        at offset: Int, _ index: Int, _ count: Int, _ keys: inout [Int: [(key: Int, value: Int)]]
    ) throws(ArchiveError) -> Object {
        let low = Int(bytes[offset] & 0x0F)
        switch bytes[offset] >> 4 {
        case 0x0: return low == 8 || low == 9 ? .boolean(low == 9) : .other
        case 0x1:
            let width = 1 << min(low, 5)
            guard width <= 8, let value = Self.signed(bytes, offset + 1, width) else { return .other }
            return .integer(value)
        case 0x2:
            guard low == 2 || low == 3, let bits = Self.signed(bytes, offset + 1, 1 << low) else { return .other }
            let single = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            return .real(low == 2 ? single : Double(bitPattern: UInt64(bitPattern: bits)))
        case 0x3:
            guard low == 3, let bits = Self.signed(bytes, offset + 1, 8) else { return .other }
            return .date(Double(bitPattern: UInt64(bitPattern: bits)))
        case 0x4:
            let (count, start) = try countAndStart(at: offset)
            guard count <= bytes.count - start else { throw Self.damaged }
            return .data(start..<start + count)
        case 0x5: return try text(at: offset, unit: 1) { String(validating: $0, as: UTF8.self) }
        case 0x6:
            return try text(at: offset, unit: 2) { bytes in
                let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2)
                return String(validating: units.map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }, as: UTF16.self)
            }
        case 0x8:
            guard let value = Self.number(bytes, offset + 1, low + 1) else { throw Self.damaged }
            return .reference(value)
        case 0xA, 0xC: return .list(try indexes(at: offset, sides: 1, count))
        case 0xD:
            let entries = try indexes(at: offset, sides: 2, count)
            let half = entries.count / 2
            keys[index] = (0..<half).map { (entries[$0], entries[half + $0]) }
            return .dictionary([:])
        default: return .other
        }
    }

    private static func signed(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> Int64? {
        guard offset <= bytes.count - width else { return nil }
        let value = bytes[offset..<offset + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // Only integers of eight bytes have a sign.
        return width == 8 ? Int64(bitPattern: value) : Int64(value)
    }

    private func text(
        at offset: Int, unit: Int, _ decode: (ArraySlice<UInt8>) -> String?
    ) throws(ArchiveError) -> Object {
        let (count, start) = try countAndStart(at: offset)
        guard count <= (bytes.count - start) / unit, let text = decode(bytes[start..<start + count * unit]) else {
            throw Self.damaged
        }
        return .text(text)
    }

    private mutating func indexes(at offset: Int, sides: Int, _ objectCount: Int) throws(ArchiveError) -> [Int] {
        let (count, start) = try countAndStart(at: offset)
        guard count <= entriesLeft / sides else { throw Self.damaged }
        entriesLeft -= count * sides
        var indexes: [Int] = []
        for position in 0..<count * sides {
            guard let index = Self.number(bytes, start + position * indexWidth, indexWidth), index < objectCount else {
                throw Self.damaged
            }
            indexes.append(index)
        }
        return indexes
    }

    /// A count of 15 says that an integer with the count follows.
    private func countAndStart(at offset: Int) throws(ArchiveError) -> (count: Int, start: Int) {
        let low = Int(bytes[offset] & 0x0F)
        guard low == 15 else { return (low, offset + 1) }
        guard offset + 1 < bytes.count, bytes[offset + 1] & 0xF0 == 0x10 else { throw Self.damaged }
        let width = 1 << min(Int(bytes[offset + 1] & 0x0F), 4)
        guard width <= 8, let count = Self.number(bytes, offset + 2, width) else { throw Self.damaged }
        return (count, offset + 2 + width)
    }
}

/// The fault of an archive, as a phrase without a period.
package struct ArchiveError: Error {
    package let sentence: String

    package init(_ sentence: String) { self.sentence = sentence }
}
