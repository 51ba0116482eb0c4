package import StrataModel

/// An expression over the objects of an entity, evaluated on their rows.
package struct RowExpression {
    private let reader: ValueReader

    /// - Throws: `unknownKey`; `invalidRequest` for an expression that has more than one value.
    package init(_ expression: FetchExpression, _ entity: EntitySchema, _ schema: Schema) throws(StrataError) {
        reader = try ValueReader(expression, entity, schema)
    }

    /// The value for an object of the snapshot; null if the object does not exist.
    package func value(of id: ObjectID, _ snapshot: Snapshot) throws -> AttributeValue {
        guard let row = try snapshot.row(id) else { return .null }
        let evaluation = Evaluation(snapshot)
        return try row.withNewestReader(id, snapshot.schema) { try reader.value($0, id, evaluation) }
    }
}
