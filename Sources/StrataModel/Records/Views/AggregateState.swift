// The state of one aggregate of a declared view's group, by the aggregate's kind. Little-endian; a varint is a number
// in LEB128:
//
//   count of objects              nothing
//   count of values               varint
//   sum, average: integers        varint number of values; the sum as a varint, its sign in the lowest bit (zigzag)
//   sum, average: decimals        varint number of values; UInt16 number of powers of ten; for each, ascending, Int16
//                                 exponent and 24 bytes signed sum of mantissas; Int64 number of NaN
//   sum, average: doubles         varint number of values; UInt8 number of words; if there are any, UInt8 number of the
//                                 lowest one; words of 64 bits; UInt8 1 if special values follow, else 0; for 1, Int64
//                                 numbers of NaN, of +infinity and of -infinity
//   count of distinct, min, max,  varint length of the values, the values (KeptValues.swift). A value of a count, min or
//   first, last                   max is as in a key (KeyEncoding.swift); one of first or last is that of its order, then
//                                 the UInt64 object id, big-endian
//   projection                    UInt32 length, the state as a composite (ValueCodec.swift); empty for none yet
//
// The words of a sum of doubles are a signed integer in two's complement that counts units of 2^-1074; word 0 has the
// lowest 64 bits. Neither zero words below nor words of the sign alone above are kept.

import Foundation

/// The way in which the values of an aggregate are collected.
package enum AggregateKind: Sendable, Hashable {
    /// The group's number of objects says it.
    case rows
    /// The number of values.
    case values
    /// The sum and the number of values.
    case integerSum, decimalSum, doubleSum
    /// The values themselves; the column is the number of different ones.
    case distinct
    /// The same; the column is the extreme value.
    case minimum, maximum
    /// Values of an order with the ids of their objects; the column has the first or last ones.
    case first(Int)
    case last(Int)
    /// The state of a type of the app, as bytes that only that type understands.
    case projected

    /// Whether the largest value is sought, so that values are complemented where they are kept.
    package var isDescending: Bool {
        switch self {
        case .maximum, .last: true
        default: false
        }
    }

    /// The number of values that the column shows.
    package var extremeCount: Int {
        switch self {
        case .minimum, .maximum: 1
        case .first(let count), .last(let count): count
        default: 0
        }
    }

    package init(_ function: ViewFunction, _ type: AttributeType?, limit: Int = 1) {
        self =
            switch function {
            case .count: type == nil ? .rows : .values
            case .countDistinct: .distinct
            case .min: .minimum
            case .max: .maximum
            case .first: .first(limit)
            case .last: .last(limit)
            case .projection: .projected
            case .sum, .average:
                switch type {
                case .decimal?: .decimalSum
                case .double?, .float?: .doubleSum
                default: .integerSum
                }
            }
    }
}

/// The state of one aggregate of a group, as its column shows it.
package struct AggregateState: Sendable, Hashable {
    package private(set) var count: Int64 = 0
    package private(set) var whole: Int128 = 0
    private var decimal: DecimalSum?
    private var double: DoubleSum?
    /// The smallest or largest values, as in a key; one at most for a minimum or maximum. For a projection, the bytes of
    /// its state.
    package private(set) var extremes: [[UInt8]] = []

    package init() {}

    /// The value of the column.
    package func result(
        _ kind: AggregateKind, _ function: ViewFunction, _ type: AttributeType?, rowCount: Int64
    ) throws -> AttributeValue {
        switch kind {
        case .rows: return .integer(rowCount)
        case .values, .distinct: return .integer(count)
        case .minimum, .maximum:
            guard let type, let extreme = extremes.first else { return .null }
            return try extreme.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return try GroupKey.value(&reader, type)
            }
        // The values are read from the objects.
        case .first, .last: return .null
        case .projected:
            guard let state = extremes.first else { return .null }
            return try state.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return try ValueCodec.decode(&reader)
            }
        case .integerSum:
            return function == .average ? ExactSum.mean(whole, of: count) : ExactSum.value(whole)
        case .decimalSum:
            let sum = decimal ?? DecimalSum()
            return ExactSum.value(function == .average ? sum.mean(of: count) : sum.total())
        case .doubleSum:
            let sum = double?.rounded ?? 0
            return function == .average ? ExactSum.mean(sum, of: count) : ExactSum.value(sum)
        }
    }

    // MARK: Bytes

    package init(_ kind: AggregateKind, _ reader: inout ByteReader) throws(CorruptRecord) {
        switch kind {
        case .rows: return
        case .values: count = Int64(try reader.readVarint())
        case .integerSum:
            count = Int64(try reader.readVarint())
            whole = try reader.readZigzag()
        case .decimalSum:
            count = Int64(try reader.readVarint())
            decimal = try DecimalSum(&reader)
        case .doubleSum:
            count = Int64(try reader.readVarint())
            double = try DoubleSum(&reader)
        case .distinct, .minimum, .maximum: try readValues(kind, &reader)
        case .first, .last:
            try readValues(kind, &reader)
            guard extremes.allSatisfy({ $0.count >= 8 }) else {
                throw reader.corrupt("first object of a group cut short")
            }
        case .projected:
            let state = Array(try reader.readCountedBytes())
            extremes = state.isEmpty ? [] : [state]
        }
    }

    /// Passes over the bytes of an aggregate.
    package static func skip(_ kind: AggregateKind, _ reader: inout ByteReader) throws(CorruptRecord) {
        switch kind {
        case .rows: return
        case .values: _ = try reader.readVarint()
        case .distinct, .minimum, .maximum, .first, .last: _ = try reader.readVarintCountedBytes()
        case .projected: _ = try reader.readCountedBytes()
        case .integerSum, .decimalSum, .doubleSum: _ = try AggregateState(kind, &reader)
        }
    }

    private mutating func readValues(_ kind: AggregateKind, _ reader: inout ByteReader) throws(CorruptRecord) {
        let bytes = try reader.readVarintCountedBytes()
        var values = ByteReader(bytes, origin: reader.origin + reader.offset - bytes.count)
        (extremes, count) = try KeptValues.first(kind.extremeCount, mask: kind.isDescending ? 0xFF : 0, &values)
    }
}

extension ByteWriter {
    /// Appends a signed number in LEB128, its sign in the lowest bit.
    package mutating func append(zigzag value: Int128) {
        if let small = Int64(exactly: value) {
            return append(varint: UInt64(bitPattern: small << 1 ^ small >> 63))
        }
        var rest = UInt128(bitPattern: value << 1 ^ value >> 127)
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension ByteReader {
    /// Reads a signed number in LEB128 of at most 128 bits, its sign in the lowest bit.
    package mutating func readZigzag() throws(CorruptRecord) -> Int128 {
        var (value, shift): (UInt128, UInt128) = (0, 0)
        while true {
            let byte = try readByte()
            value |= UInt128(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
            guard shift < 128 else { throw corrupt("number too long") }
        }
        return Int128(bitPattern: value >> 1) ^ -Int128(bitPattern: value & 1)
    }

    /// Reads a length in LEB128, and then that many bytes.
    package mutating func readVarintCountedBytes() throws(CorruptRecord) -> UnsafeRawBufferPointer {
        try readBytes(Int(try readVarint()))
    }
}
