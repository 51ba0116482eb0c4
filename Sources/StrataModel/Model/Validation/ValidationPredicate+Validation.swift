extension ValidationPredicate {
    /// The error of an object that does not meet the rule.
    package func failure(of id: ObjectID, entityName: String) -> StrataError {
        StrataError(
            .managedObjectValidation, message,
            context: .init(entityName: entityName, objectID: id, predicate: predicate.description))
    }
}

extension [ValidationPredicate] {
    /// Holds the rules against an object.
    ///
    /// - Parameter context: where the object and those that it leads to are read.
    package func failures(
        of id: ObjectID, entityName: String, in context: some ExpressionContext
    ) -> [StrataError] {
        let evaluator = PredicateEvaluator(context, object: .one(.objectID(id)))
        var failures: [StrataError] = []
        for rule in self {
            do {
                if try evaluator.holds(rule.predicate) { continue }
                failures.append(rule.failure(of: id, entityName: entityName))
            } catch {
                failures.append(error)
            }
        }
        return failures
    }
}
