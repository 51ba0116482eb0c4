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

    /// What is shown of the first or last objects.
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
