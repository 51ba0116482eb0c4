package import StrataModel

/// Reads an expression that leads to many values of an object, such as `genres.name`.
package struct ListReader: Sendable {
    fileprivate let expression: FetchExpression

    /// Nil if the expression has one value.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `invalidRequest`.
    package init?(
        _ expression: FetchExpression, _ entity: EntitySchema, _ schema: Schema
    ) throws(StrataError) {
        guard try PredicateCheck(entity, schema).type(of: expression).isList else { return nil }
        self.expression = expression
    }
}

extension Snapshot {
    /// Returns the list of each reader for each object; empty lists for an object that does not exist.
    package func lists(_ readers: [ListReader], of ids: [ObjectID]) throws -> [[[AttributeValue]]] {
        let evaluation = Evaluation(self)
        return try metered(nil, nil) {
            try ids.map { id in
                try evaluation.withRow(id) { row in
                    try readers.map { reader in
                        guard let row else { return [] }
                        return try evaluation.expressions.withRow(row, id) {
                            try $0.value(of: reader.expression).members
                        }
                    }
                }
            }
        }
    }
}
