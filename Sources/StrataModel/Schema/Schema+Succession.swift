extension Schema {
    /// Whether a relationship of this schema stands where another of its name stood, which is gone with its links.
    package func isSuccessor(_ property: PropertySchema, withoutLinksOf earlier: PropertySchema) -> Bool {
        guard let relationship = property.relationship, let before = earlier.relationship,
            !relationship.description.isTransient, !before.description.isTransient, self.property(earlier.id) == nil
        else { return false }
        // Under an inverse that goes on the links stay where they are, or are brought over from there.
        if let inverse = relationship.inverse, let other = before.inverse,
            inverse == other || assignment.replaced[inverse]?.contains(other) ?? false
        {
            return false
        }
        return !assignment.replaced.values.contains { $0.contains(earlier.id) }
    }
}
