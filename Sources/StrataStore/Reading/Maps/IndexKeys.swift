import StrataModel

/// Makes the keys of the `indexes` table: the index's number, its elements (`KeyEncoding.swift`), the object's id.
enum IndexKeys {
    /// The size of a whole key whose elements were cut. Rows with other values may have the same key.
    static let cutKeySize = 4 + IndexKeyCodec.maximumLength + 8

    /// Writes the whole key of a row, in any layout of its entity, into `writer`, which is emptied first.
    ///
    /// - Returns: false if the row is left out of a partial index.
    static func write(
        _ index: IndexSchema, of entity: EntitySchema, _ reader: RowReader, _ layout: RowLayout, _ id: ObjectID,
        _ schema: Schema, into writer: inout ByteWriter
    ) throws -> Bool {
        try write(index, of: entity, reader, layout, id, IndexMap.of(schema), into: &writer)
    }

    /// The same with a map that the caller has; looking it up takes a lock.
    static func write(
        _ index: IndexSchema, of entity: EntitySchema, _ reader: RowReader, _ layout: RowLayout, _ id: ObjectID,
        _ plan: IndexMap, into writer: inout ByteWriter
    ) throws -> Bool {
        try write(try plan.index(index.id), of: entity, reader, layout, id, plan, into: &writer)
    }

    /// The same for an index that the caller has.
    static func write(
        _ prepared: IndexMap.PreparedIndex, of entity: EntitySchema, _ reader: RowReader, _ layout: RowLayout,
        _ id: ObjectID, _ plan: IndexMap, into writer: inout ByteWriter
    ) throws -> Bool {
        let schema = plan.schema
        if layout === entity.layout { return try write(prepared, reader, id, schema, into: &writer) }
        return try plan.withNewestRow(reader, layout, entity) {
            try write(prepared, $0, id, schema, into: &writer)
        }
    }

    private static func write(
        _ prepared: IndexMap.PreparedIndex, _ row: RowReader, _ id: ObjectID, _ schema: Schema,
        into writer: inout ByteWriter
    ) throws -> Bool {
        writer.reset()
        if let partial = prepared.partial, try !partial.holds(row, id, Evaluation(ownRowOf: schema)) { return false }
        writer.append(bigEndian: prepared.index.id.rawValue)
        _ = try prepared.codec.append(row, to: &writer)
        writer.append(bigEndian: id.rawValue)
        return true
    }

    /// The key that must be unique of a row in the newest layout of its entity; nil if a nil among the elements, or a
    /// partial predicate, exempts the row.
    static func uniqueKey(
        _ index: IndexSchema, _ reader: RowReader, _ id: ObjectID, _ schema: Schema
    ) throws -> UniqueKey? {
        let prepared = try IndexMap.of(schema).index(index.id)
        if try prepared.codec.hasNull(reader) { return nil }
        if let partial = prepared.partial, try !partial.holds(reader, id, Evaluation(ownRowOf: schema)) { return nil }
        var writer = ByteWriter()
        writer.append(bigEndian: index.id.rawValue)
        guard try prepared.codec.append(reader, to: &writer) == .cut else {
            return UniqueKey(key: writer.array, cutValues: [])
        }
        return UniqueKey(key: writer.array, cutValues: try values(index, reader))
    }

    /// The elements of a key as they are compared.
    private static func values(_ index: IndexSchema, _ reader: RowReader) throws -> [AttributeValue] {
        try index.elements.map { element in
            let value = try reader.value(element.slot).element(at: element.compositePath)
            guard let text = value.text else { return value }
            return .string(TextFolding.fold(text, element.folding))
        }
    }
}

/// The beginning that equal keys share, up to the object's id; for keys that were cut, the values too.
struct UniqueKey: Hashable, Sendable {
    let key: [UInt8]
    let cutValues: [AttributeValue]
}
