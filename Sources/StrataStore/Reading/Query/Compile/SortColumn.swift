import LMDB
import Foundation
import StrataModel

/// One key of an order, bound to an entity.
///
/// Values are written as bytes that compare like the values: nil first, then numbers by value and text by its folded
/// form. For a descending key all bits are inverted, so nil comes last unless the request says otherwise.
final class SortColumn: Sendable {
    let path: ValuePath
    let type: ComparedType
    let isAscending: Bool
    let folding: StringFolding
    /// Whether numbers in text are compared by value.
    let isNatural: Bool
    /// The byte for nil, before inversion: below or above the 1 that begins every value.
    private let nilMarker: UInt8
    let text: String
    /// The slot of the row that has the values, with element names for a composite; nil for a path with hops.
    let column: (slot: Int, elementPath: [String])?

    /// - Parameter allowsMany: whether the path may cross a to-many. Only `write(_:_:into:)` of a value works then.
    init(
        _ description: SortDescription, _ entity: EntitySchema, _ schema: Schema, allowsMany: Bool = false
    ) throws(StrataError) {
        let context = StrataError.Context(entityName: entity.name, key: description.keyPath)
        let path: ResolvedPath
        do {
            path = try ResolvedPath.of(description.keyPath, in: entity, schema)
        } catch {
            throw Self.operatorRefusal(description.keyPath, context) ?? error
        }
        guard allowsMany || !path.isToMany else {
            throw StrataError(
                .invalidRequest, "\(path.text) has many values, so nothing can be sorted by it.", context: context)
        }
        let type = ComparedType(path.end)
        if type == .encrypted {
            throw StrataError(
                .wrongType,
                "\(path.text) is encrypted, so objects are neither sorted nor grouped by it; read its values and do it in "
                    + "the app.", context: context)
        }
        guard type.isOrdered else {
            let verb = allowsMany ? "grouped" : "sorted"
            throw StrataError(.wrongType, Self.refusal(path, type, verb), context: context)
        }
        self.type = type
        self.path = ValuePath(path)
        isAscending = description.isAscending
        folding = type == .text ? description.folding : []
        isNatural = type.isText && description.isNatural
        let isNilLow =
            description.nullPlacement == .smallest
            || (description.nullPlacement == .first) == description.isAscending
        nilMarker = isNilLow ? 0 : 2
        text = description.keyPath
        switch (path.end, path.hops.count) {
        case (.attribute(let slot, _), 0): column = (slot, [])
        case (.element(let slot, let names, _), 0): column = (slot, names)
        case (.object, 1): if case .toOne(let slot) = path.hops[0] { column = (slot, []) } else { column = nil }
        default: column = nil
        }
    }

    /// The sentence for a path by which objects cannot be sorted or grouped.
    private static func refusal(_ path: ResolvedPath, _ type: ComparedType, _ verb: String) -> String {
        let elements = path.end.elements
        guard let element = elements.first(where: { ComparedType($0).isOrdered }) ?? elements.first else {
            return "\(path.text) is \(type.name), and objects are not \(verb) by it."
        }
        return "\(path.text) is a composite; objects are \(verb) by its elements, such as \(path.text).\(element.name)."
    }

    /// The error for a collection operator other than a count, which names possible sort keys.
    private static func operatorRefusal(_ keyPath: String, _ context: StrataError.Context) -> StrataError? {
        let steps = keyPath.split(separator: ".")
        guard let step = steps.first(where: { $0.hasPrefix("@") }), step != "@count" else { return nil }
        return StrataError(
            .invalidRequest,
            "Nothing can be sorted by \(keyPath), because \(step) is computed from several objects. Sort by a derived "
                + "attribute, or fetch rows, whose order can name a computed column.", context: context)
    }

    /// Compares two texts by a key of an order.
    static func compare(
        _ left: String, _ right: String, _ sort: SortDescription, _ evaluation: Evaluation
    ) -> Int {
        func key(_ text: String) -> [UInt8] {
            var text = text
            var writer = ByteWriter()
            text.withUTF8 { bytes in
                evaluation.withForm(of: UnsafeRawBufferPointer(bytes), sort.folding) { text in
                    if sort.isNatural { writeNatural(text, into: &writer) }
                    write(text, into: &writer)
                }
            }
            return writer.array
        }
        let (left, right) = (key(left), key(right))
        return left.withUnsafeBytes { left in right.withUnsafeBytes { left.compare(with: $0) } }
    }

    /// Whether nil has the position that it has in index keys.
    var hasIndexNulls: Bool { nilMarker == 0 }

    /// Appends the key of a row.
    func write(
        _ row: RowReader, _ id: ObjectID, _ evaluation: Evaluation, into writer: inout ByteWriter
    ) throws {
        let start = writer.count
        if let column, column.elementPath.isEmpty {
            try write(row, column.slot, evaluation, into: &writer)
        } else {
            try write(try path.value(row, id, evaluation), evaluation, into: &writer)
        }
        if !isAscending { writer.complement(from: start) }
    }

    /// Writes the key directly from the row's bytes, without making a value where possible.
    private func write(
        _ row: RowReader, _ slot: Int, _ evaluation: Evaluation, into writer: inout ByteWriter
    ) throws {
        if row.isNull(slot) { return writer.append(nilMarker) }
        switch type {
        case .integer, .boolean: Self.write(row.integer(slot) ?? Int64(0), into: &writer)
        case .floatingPoint, .date: Self.write(row.double(slot) ?? Double(0), into: &writer)
        case .text, .url, .data:
            guard let bytes = try row.bytes(slot) else { return writer.append(nilMarker) }
            write(bytes, evaluation, into: &writer)
        case .object: Self.write(row.reference(slot), into: &writer)
        default: try write(try row.value(slot), evaluation, into: &writer)
        }
    }

    /// Appends the key of a value, ascending.
    func write(
        _ value: AttributeValue, _ evaluation: Evaluation, into writer: inout ByteWriter
    ) throws {
        switch value {
        case .null, .composite, .blob, .encrypted: writer.append(nilMarker)
        case .boolean(let value): Self.write(Int64(value ? 1 : 0), into: &writer)
        case .integer(let value): Self.write(value, into: &writer)
        case .float(let value): Self.write(Double(value), into: &writer)
        case .double(let value): Self.write(value, into: &writer)
        case .date(let value): Self.write(value.timeIntervalSinceReferenceDate, into: &writer)
        case .decimal(let value): Self.write(value, into: &writer)
        case .uuid(let value):
            writer.append(UInt8(1))
            writer.append(bytesOf: value.uuid)
        case .objectID(let value): Self.write(value, into: &writer)
        case .data(let data): data.withUnsafeBytes { write($0, evaluation, into: &writer) }
        case .string, .url:
            var text = value.text ?? ""
            text.withUTF8 { write(UnsafeRawBufferPointer($0), evaluation, into: &writer) }
        }
    }

    // MARK: Encodings

    private static func write(_ value: Int64, into writer: inout ByteWriter) {
        writer.append(UInt8(1))
        writer.append(bigEndian: UInt64(bitPattern: value) ^ (1 << 63))
    }

    /// Writes a number. As in index keys, NaN is above all numbers and -0 equals 0.
    private static func write(_ value: Double, into writer: inout ByteWriter) {
        writer.append(UInt8(1))
        let bits = value.isNaN ? Double.nan.bitPattern : value == 0 ? 0 : value.bitPattern
        writer.append(bigEndian: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    private static func write(_ value: ObjectID, into writer: inout ByteWriter) {
        writer.append(UInt8(1))
        writer.append(bigEndian: value.rawValue)
    }

    /// Sign, exponent, digits; inverted for negative numbers.
    private static func write(_ value: Decimal, into writer: inout ByteWriter) {
        writer.append(UInt8(1))
        let digits = value.significand.magnitude.description.filter(\.isNumber)
        guard !value.isNaN, value != 0 else { return writer.append(UInt8(value.isNaN ? 4 : 2)) }
        writer.append(UInt8(value < 0 ? 1 : 3))
        let start = writer.count
        writer.append(bigEndian: UInt16(truncatingIfNeeded: value.exponent + digits.count + 0x4000))
        var significant = Substring(digits)
        while significant.last == "0" { significant.removeLast() }
        for digit in significant.utf8 { writer.append(digit) }
        writer.append(UInt8(0))
        if value < 0 { writer.complement(from: start) }
    }

    /// A zero byte is followed by 0xFF; two zero bytes mark the end.
    private static func write(_ bytes: UnsafeRawBufferPointer, into writer: inout ByteWriter) {
        writer.append(UInt8(1))
        if bytes.contains(0) {
            for byte in bytes {
                writer.append(byte)
                if byte == 0 { writer.append(UInt8(0xFF)) }
            }
        } else {
            writer.append(bytes)
        }
        writer.append(littleEndian: 0 as UInt16)
    }

    /// Writes each number without leading zeros, after a digit and its length, and other characters unchanged. The text
    /// itself follows, to order texts that are equal by this.
    private static func writeNatural(_ text: UnsafeRawBufferPointer, into writer: inout ByteWriter) {
        var natural = ByteWriter(capacity: text.count + 16)
        func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
        var offset = 0
        while offset < text.count {
            guard isDigit(text[offset]) else {
                natural.append(text[offset])
                offset += 1
                continue
            }
            while offset + 1 < text.count, text[offset] == 0x30, isDigit(text[offset + 1]) { offset += 1 }
            let start = offset
            while offset < text.count, isDigit(text[offset]) { offset += 1 }
            natural.append(0x30 as UInt8)
            var rest = offset - start
            while rest > 254 {
                natural.append(255 as UInt8)
                rest -= 254
            }
            natural.append(UInt8(rest))
            natural.append(UnsafeRawBufferPointer(rebasing: text[start..<offset]))
        }
        write(natural.bytes, into: &writer)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ evaluation: Evaluation, into writer: inout ByteWriter) {
        guard type.isText else { return Self.write(bytes, into: &writer) }
        evaluation.withForm(of: bytes, folding) { text in
            if isNatural { Self.writeNatural(text, into: &writer) }
            Self.write(text, into: &writer)
        }
    }
}
