// Validates numbers of members, and objects by the predicates of their entities.

extension RelationshipDescription {
    /// The smallest number of members of a to-many that is not empty; a required one needs a member, whatever
    /// `minCount` says.
    package var leastCount: Int { isToMany && !isOptional ? max(1, minCount) : minCount }

    /// The largest number of members.
    package var mostCount: Int { maxCount == 0 ? .max : maxCount }

    /// The errors of a number of members, which is 0 or 1 for a to-one.
    ///
    /// A required to-one must have one. A to-many must have at least `leastCount`, or may be empty if it is optional.
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
        if count < leastCount {
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
