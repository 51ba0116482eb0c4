import StrataModel

extension PreparedView {
    /// The values of a group's columns.
    ///
    /// - Parameter key: the whole key without the view's number.
    func columns(_ key: [UInt8], _ state: GroupState, _ evaluation: Evaluation) throws -> [AttributeValue] {
        var values: [AttributeValue] = []
        try key.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            for key in keys { values.append(try GroupKey.value(&reader, key.type)) }
            try reader.expectEnd()
        }
        for (aggregate, own) in zip(aggregates, state.aggregates) {
            if aggregate.function.isOrdered {
                values.append(try Self.shown(aggregate, own.objects, evaluation))
                continue
            }
            values.append(
                try own.result(aggregate.kind, aggregate.function, aggregate.value?.type, rowCount: state.rowCount))
        }
        return values
    }

    /// The values of a group's columns, from the bytes of its record.
    ///
    /// - Parameter stored: the key of the record.
    func columns(
        stored: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ evaluation: Evaluation
    ) throws -> [AttributeValue] {
        var values = [AttributeValue](repeating: .null, count: keys.count)
        values.reserveCapacity(keys.count + aggregates.count)
        var reader = ByteReader(record)
        let rowCount = Int64(try reader.readVarint())
        for index in aggregates.indices {
            if case .rows = kinds[index] {
                values.append(.integer(rowCount))
                continue
            }
            let state = try AggregateState(kinds[index], &reader)
            let aggregate = aggregates[index]
            values.append(
                aggregate.function.isOrdered
                    ? try Self.shown(aggregate, state.objects, evaluation)
                    : try state.result(kinds[index], aggregate.function, aggregate.value?.type, rowCount: rowCount))
        }
        guard stored.count >= ViewKeys.numberSize else { throw CorruptRecord("key of a group cut short", at: 0) }
        let rest = try reader.readBytes(reader.remaining)
        var key = ByteReader(rest.isEmpty ? UnsafeRawBufferPointer(rebasing: stored[ViewKeys.numberSize...]) : rest)
        for index in keys.indices { values[index] = try GroupKey.value(&key, keys[index].type) }
        try key.expectEnd()
        return values
    }

    /// Returns the shown values of the first or last objects.
    private static func shown(
        _ aggregate: Aggregate, _ objects: [ObjectID], _ evaluation: Evaluation
    ) throws -> AttributeValue {
        let values = try objects.map { id in
            guard let shown = aggregate.shown else { return AttributeValue.objectID(id) }
            guard let snapshot = evaluation.snapshot, let row = try snapshot.row(id) else { return .null }
            var value = AttributeValue.null
            try row.withNewestReader(id, snapshot.schema) { value = try shown.value($0, id, evaluation) }
            return value
        }
        guard aggregate.isList else { return values.first ?? .null }
        return .composite(
            Dictionary(uniqueKeysWithValues: values.enumerated().map { ("\($0.offset + 1)", $0.element) }))
    }
}
