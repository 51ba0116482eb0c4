/// A relationship in a schema, with the place where the truth of its links is kept.
package struct RelationshipSchema: Sendable {
    /// Where a link is recorded.
    package enum Truth: Sendable, Hashable {
        /// A to-one: the slot in its own row.
        case slot
        /// A to-many whose inverse is a to-one: the slot in the member's row.
        case inverseSlot
        /// Many-to-many, or a to-many without inverse: a pair record under the canonical relationship's id.
        case pair(canonical: PropertyID)
    }

    package let description: RelationshipDescription
    package let destination: EntityID
    /// nil when the model names none.
    package let inverse: PropertyID?
    /// True also when there is no inverse: nothing limits how many objects lead to one.
    package let isInverseToMany: Bool
    package let isInverseOrdered: Bool
    package let truth: Truth
    /// For a to-one whose inverse is an ordered to-many: its hidden position.
    package let position: PropertyID?
    /// The slot of `position` in the entity this was taken from; a subentity may have it elsewhere.
    package let positionSlot: Int?

    package init(
        description: RelationshipDescription, destination: EntityID, inverse: PropertyID?, isInverseToMany: Bool,
        isInverseOrdered: Bool, truth: Truth, position: PropertyID?, positionSlot: Int?
    ) {
        self.description = description
        self.destination = destination
        self.inverse = inverse
        self.isInverseToMany = isInverseToMany
        self.isInverseOrdered = isInverseOrdered
        self.truth = truth
        self.position = position
        self.positionSlot = positionSlot
    }

    package var isToMany: Bool { description.isToMany }
}
