// What a group of a declared view keeps of one aggregate, by its kind. Little-endian:
//
//   count of objects              nothing
//   count of values, of distinct  Int64
//   sum, average: integers        Int64 number of values, Int64 high and UInt64 low half of the sum
//   sum, average: decimals        Int64 number of values; UInt16 number of powers of ten; for each, ascending, Int16
//                                 exponent and 24 bytes signed sum of mantissas; Int64 number of NaN
//   sum, average: doubles         Int64 number of values; UInt8 number of words; if there are any, UInt8 number of the
//                                 lowest one; words of 64 bits; UInt8 1 if special values follow, else 0; for 1, Int64
//                                 numbers of NaN, of +infinity and of -infinity
//   min, max                      UInt32 length, the value as in a key (KeyEncoding.swift); empty without a value
//   first, last                   UInt16 number of objects; for each, the first or last one first: UInt32 length, value
//                                 of the order as in a key and UInt64 object id, big-endian
//   projection                    UInt32 length, the state as a composite (ValueCodec.swift); empty for none yet
//
// The words of a sum of doubles are a signed integer in two's complement that counts units of 2^-1074; word 0 has the
// lowest 64 bits. Neither zero words below nor words of the sign alone above are kept.

import Foundation

/// How the values of an aggregate are collected.
package enum AggregateKind: Sendable, Hashable {
    /// The group's number of objects says it.
    case rows
    /// The number of values.
    case values
    /// The sum and the number of values.
    case integerSum, decimalSum, doubleSum
    /// The values themselves, in the table `viewValues`; the state has the number of different ones.
    case distinct
    /// The same; the state has the extreme value.
    case minimum, maximum
    /// Values of an order with the ids of their objects, in the same table; the state has the first or last ones.
    case first(Int)
    case last(Int)
    /// What a type of the app has made, as bytes that only it understands.
    case projected

    /// Whether the largest value is sought, so that values are complemented where they are kept.
    package var isDescending: Bool {
        switch self {
        case .maximum, .last: true
        default: false
        }
    }

    /// How many of the kept values the state repeats.
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

/// What a group keeps of one aggregate, or by how much that changes. States are added in any order.
package struct AggregateState: Sendable, Hashable {
    package var count: Int64 = 0
    package var whole: Int128 = 0
    package var decimal: DecimalSum?
    package var double: DoubleSum?
    /// The smallest or largest values, as in a key; one at most for a minimum or maximum. For a projection, the bytes of
    /// its state.
    package var extremes: [[UInt8]] = []

    package init() {}

    package mutating func add(_ value: Int64, _ sign: Int64) {
        count += sign
        whole += Int128(value) * Int128(sign)
    }

    package mutating func add(_ value: DecimalParts, _ sign: Int64) {
        count += sign
        decimal = decimal ?? DecimalSum()
        decimal?.add(value, sign)
    }

    package mutating func add(_ value: Double, _ sign: Int64) {
        count += sign
        double = double ?? DoubleSum()
        double?.add(value, sign)
    }

    /// Adds a change; extremes are set by the caller.
    package mutating func add(_ other: AggregateState) {
        count += other.count
        whole += other.whole
        if let sum = other.decimal {
            decimal = decimal ?? DecimalSum()
            decimal?.add(sum)
        }
        if let sum = other.double {
            double = double ?? DoubleSum()
            double?.add(sum)
        }
    }

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

    /// Whether adding the two to a state gives the same: a sum that has become zero is like none.
    package func isSame(as other: AggregateState) -> Bool {
        count == other.count && whole == other.whole && decimal ?? DecimalSum() == other.decimal ?? DecimalSum()
            && double ?? DoubleSum() == other.double ?? DoubleSum() && extremes == other.extremes
    }

    // MARK: Bytes

    package func encode(_ kind: AggregateKind, into writer: inout ByteWriter) {
        switch kind {
        case .rows: return
        case .minimum, .maximum, .projected: return Self.append(extremes.first ?? [], to: &writer)
        case .first, .last:
            writer.append(littleEndian: UInt16(truncatingIfNeeded: extremes.count))
            for extreme in extremes { Self.append(extreme, to: &writer) }
            return
        default: writer.append(littleEndian: count)
        }
        switch kind {
        case .integerSum:
            writer.append(littleEndian: Int64(truncatingIfNeeded: whole >> 64))
            writer.append(littleEndian: UInt64(truncatingIfNeeded: whole))
        case .decimalSum: (decimal ?? DecimalSum()).encode(into: &writer)
        case .doubleSum: (double ?? DoubleSum()).encode(into: &writer)
        default: break
        }
    }

    private static func append(_ extreme: [UInt8], to writer: inout ByteWriter) {
        writer.append(littleEndian: UInt32(truncatingIfNeeded: extreme.count))
        extreme.withUnsafeBytes { writer.append($0) }
    }

    package init(_ kind: AggregateKind, _ reader: inout ByteReader) throws(CorruptRecord) {
        switch kind {
        case .rows: return
        case .minimum, .maximum, .projected:
            let extreme = Array(try reader.readCountedBytes())
            extremes = extreme.isEmpty ? [] : [extreme]
            return
        case .first, .last:
            for _ in 0..<(try reader.readInteger(as: UInt16.self)) {
                let extreme = Array(try reader.readCountedBytes())
                if extreme.count < 8 { throw reader.corrupt("first object of a group cut short") }
                extremes.append(extreme)
            }
            return
        default: count = try reader.readInteger()
        }
        switch kind {
        case .integerSum:
            let high = try reader.readInteger(as: Int64.self)
            let low = try reader.readInteger(as: UInt64.self)
            whole = Int128(high) << 64 | Int128(low)
        case .decimalSum: decimal = try DecimalSum(&reader)
        case .doubleSum: double = try DoubleSum(&reader)
        default: break
        }
    }
}
