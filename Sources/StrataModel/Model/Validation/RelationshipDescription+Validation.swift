// Validates numbers of members, and objects by the predicates of their entities.

extension RelationshipDescription {
    /// Whether no member at all is allowed. A required to-many may be empty too, unless it has a `minCount`.
    package var mayBeEmpty: Bool { isOptional || isToMany && minCount == 0 }

    /// The largest number of members.
    package var mostCount: Int { maxCount == 0 ? .max : maxCount }

    /// The errors of a number of members, which is 0 or 1 for a to-one.
    ///
    /// A required to-one must have one. A to-many must have at least `minCount`, or may be empty if it is optional.
    package func validate(count: Int, entityName: String? = nil) -> [StrataError] {
        let context = StrataError.Context(entityName: entityName, key: name, value: .integer(Int64(count)))
        guard isToMany else {
            guard count == 0 && !mayBeEmpty else { return [] }
            return [
                StrataError(
                    .validationMissingMandatoryProperty, "\(name) is required.",
                    context: .init(entityName: entityName, key: name, value: .null))
            ]
        }
        if count == 0 && mayBeEmpty { return [] }
        if count < minCount {
            return [
                StrataError(.validationRelationshipLacksMinimumCount, "\(name) has too few members.", context: context)
            ]
        }
        if count > mostCount {
            return [
                StrataError(
                    .validationRelationshipExceedsMaximumCount, "\(name) has too many members.", context: context)
            ]
        }
        return []
    }
}
