package import StrataModel

/// Holds the predicates that an entity and its parents declare over whole objects against rows that no object stands
/// for.
package struct RowRules {
    private let entity: EntitySchema
    /// The entity's own first.
    private let rules: [ValidationPredicate]

    package init(_ entity: EntitySchema, _ schema: Schema) {
        self.entity = entity
        var rules: [ValidationPredicate] = []
        var current: EntitySchema? = entity
        while let declaring = current {
            rules += declaring.description.validationPredicates
            current = declaring.superentityID.flatMap(schema.entity)
        }
        self.rules = rules
    }

    package var isEmpty: Bool { rules.isEmpty }

    /// What is wrong with the row; `image` is in the newest layout, other objects are those of the snapshot.
    package func failures(of image: RowImage, _ id: ObjectID, _ snapshot: Snapshot) throws -> [StrataError] {
        guard !rules.isEmpty else { return [] }
        let evaluation = Evaluation(snapshot)
        return try withExtendedLifetime(image) {
            let row = try RowReader(image.unsafeBytes, layout: entity.layout)
            return try rules.compactMap { rule in
                let holds = try evaluation.expressions.withRow(row, id) { try $0.holds(rule.predicate) }
                return holds ? nil : failure(rule, id)
            }
        }
    }

    private func failure(_ rule: ValidationPredicate, _ id: ObjectID) -> StrataError {
        StrataError(
            .managedObjectValidation, rule.message,
            context: .init(entityName: entity.name, objectID: id, predicate: rule.predicate.description))
    }
}
