extension Schema {
    /// Whether a relationship of one of this schema's entities stands where another of its name stood in that entity,
    /// which the entity has no more and whose links nothing in it takes over.
    package func isSuccessor(
        _ property: PropertySchema, withoutLinksOf earlier: PropertySchema, in entity: EntitySchema
    ) -> Bool {
        guard let relationship = property.relationship, let before = earlier.relationship,
            !relationship.description.isTransient, !before.description.isTransient,
            entity.property(earlier.id) == nil
        else { return false }
        // Under an inverse that goes on the links stay where they are, or are brought over from there.
        if let inverse = relationship.inverse, let other = before.inverse,
            inverse == other || assignment.replaced[inverse]?.contains(other) ?? false
        {
            return false
        }
        return !entity.properties.contains { assignment.replaced[$0.id]?.contains(earlier.id) ?? false }
    }
}
