package import StrataModel

/// The rules over whole objects that an entity declares and inherits, for rows that have no object in memory.
package struct RowRules {
    private let entity: EntitySchema
    /// The entity's own first.
    private let rules: [ValidationPredicate]

    package init(_ entity: EntitySchema, _ schema: Schema) {
        self.entity = entity
        rules = schema.validationPredicates(of: entity)
    }

    package var isEmpty: Bool { rules.isEmpty }

    /// The errors of the rules that a row does not meet.
    ///
    /// - Parameters:
    ///   - image: in the newest layout.
    ///   - snapshot: where other objects are read.
    package func failures(of image: RowImage, _ id: ObjectID, _ snapshot: Snapshot) throws -> [StrataError] {
        guard !rules.isEmpty else { return [] }
        let evaluation = Evaluation(snapshot)
        return try withExtendedLifetime(image) {
            let row = try RowReader(image.unsafeBytes, layout: entity.layout)
            return try rules.compactMap { rule in
                let holds = try evaluation.expressions.withRow(row, id) { try $0.holds(rule.predicate) }
                return holds ? nil : rule.failure(of: id, entityName: entity.name)
            }
        }
    }
}
