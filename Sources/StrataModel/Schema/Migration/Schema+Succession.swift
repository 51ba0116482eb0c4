extension Schema {
    /// Whether a relationship replaces an earlier one with the same name in an entity of this schema, under a number
    /// that says nothing about the links.
    ///
    /// That is so if the entity no longer has the earlier relationship, and none of its properties replaces it.
    package func isSuccessor(
        _ property: PropertySchema, withoutLinksOf earlier: PropertySchema, in entity: EntitySchema
    ) -> Bool {
        guard let relationship = property.relationship, let before = earlier.relationship,
            !relationship.description.isTransient, !before.description.isTransient,
            entity.property(earlier.id) == nil
        else { return false }
        // If the inverse is kept or taken over, the links stay with it.
        if let inverse = relationship.inverse, let other = before.inverse,
            inverse == other || assignment.replaced[inverse]?.contains(other) ?? false
        {
            return false
        }
        return !entity.properties.contains { assignment.replaced[$0.id]?.contains(earlier.id) ?? false }
    }
}
