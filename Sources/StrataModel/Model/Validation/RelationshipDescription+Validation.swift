extension RelationshipDescription {
    /// Everything that is wrong with a number of members; for a to-one 0 or 1.
    ///
    /// A required to-one must have one. A to-many that is optional may also be empty, else it needs `minCount`.
    package func validate(count: Int, entityName: String? = nil) -> [StrataError] {
        let context = StrataError.Context(entityName: entityName, key: name, value: .integer(Int64(count)))
        guard isToMany else {
            guard count == 0 && !isOptional else { return [] }
            return [
                StrataError(
                    .validationMissingMandatoryProperty, "\(name) is required.",
                    context: .init(entityName: entityName, key: name, value: .null))
            ]
        }
        if count == 0 && isOptional { return [] }
        if count < minCount {
            return [
                StrataError(.validationRelationshipLacksMinimumCount, "\(name) has too few members.", context: context)
            ]
        }
        if maxCount > 0 && count > maxCount {
            return [
                StrataError(
                    .validationRelationshipExceedsMaximumCount, "\(name) has too many members.", context: context)
            ]
        }
        return []
    }
}

extension EntityDescription {
    /// Holds the entity's own predicates against an object; inherited ones stand at the parents.
    ///
    /// - Parameter context: where the object and those that it leads to are read.
    package func validate(object: ObjectID, in context: some ExpressionContext) -> [StrataError] {
        let evaluator = PredicateEvaluator(context, object: .one(.objectID(object)))
        var errors: [StrataError] = []
        for rule in validationPredicates {
            do {
                if try evaluator.holds(rule.predicate) { continue }
                errors.append(
                    StrataError(
                        .managedObjectValidation, rule.message,
                        context: .init(entityName: name, predicate: rule.predicate.description)))
            } catch {
                errors.append(error)
            }
        }
        return errors
    }
}
