import Foundation

extension AggregateState {
    /// The objects of a `first` or `last`, in their order.
    package var objects: [ObjectID] {
        extremes.map { extreme in
            ObjectID(rawValue: extreme.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
    }

    /// Appends the value of the column so that comparing the bytes compares values.
    ///
    /// An average is compared as a Double, unless it is of decimals.
    package func appendResult(
        _ kind: AggregateKind, _ function: ViewFunction, _ type: AttributeType?, rowCount: Int64,
        to writer: inout ByteWriter
    ) throws {
        switch kind {
        case .rows: return KeyEncoding.append(rowCount, to: &writer)
        case .values, .distinct: return KeyEncoding.append(count, to: &writer)
        case .minimum, .maximum:
            guard let extreme = extremes.first else { return writer.append(KeyEncoding.null) }
            return extreme.withUnsafeBytes { writer.append($0) }
        case .first, .last, .projected: return writer.append(KeyEncoding.null)
        case .integerSum where function == .sum:
            writer.append(KeyEncoding.present)
            writer.append(bigEndian: UInt64(truncatingIfNeeded: whole >> 64) ^ KeyEncoding.signBit)
            return writer.append(bigEndian: UInt64(truncatingIfNeeded: whole))
        case .integerSum, .decimalSum, .doubleSum: break
        }
        switch (kind, try result(kind, function, type, rowCount: rowCount)) {
        case (.decimalSum, .decimal(let number)): KeyEncoding.append(DecimalParts(number), to: &writer)
        case (.decimalSum, .integer(let number)): KeyEncoding.append(DecimalParts(Decimal(number)), to: &writer)
        case (_, .double(let number)): KeyEncoding.append(number, to: &writer)
        case (_, .integer(let number)): KeyEncoding.append(Double(number), to: &writer)
        case (_, .decimal(let number)):
            KeyEncoding.append(Double(number.description) ?? .infinity, to: &writer)
        default: writer.append(KeyEncoding.null)
        }
    }
}

extension GroupKey {
    /// Appends the order of an object as it is kept: the value, then the id.
    package static func append(
        _ value: AttributeValue, _ kind: KeyKind, of id: ObjectID, to writer: inout ByteWriter
    ) {
        append(value, kind, to: &writer)
        writer.append(bigEndian: id.rawValue)
    }

    /// Appends the key element that equals a constant; false if rows with other elements may equal it too.
    package static func append(
        constant value: AttributeValue, _ kind: KeyKind, _ type: AttributeType?, to writer: inout ByteWriter
    ) -> Bool {
        switch (value, kind) {
        case (.null, _): writer.append(KeyEncoding.null)
        case (.boolean, .integer), (.integer, .integer), (.date, .date), (.uuid, .uuid), (.objectID, .objectID),
            (.data, .data), (.decimal, .decimal), (.integer, .decimal):
            if value.isNaN { return false }
            append(value, kind, to: &writer)
        case (.double, .double) where type == .double, (.integer, .double) where type == .double:
            if value.isNaN { return false }
            append(value, kind, to: &writer)
        case (.string, .text) where type == .string, (.url, .text) where type == .uri:
            append(value, kind, to: &writer)
        default: return false
        }
        return true
    }
}
