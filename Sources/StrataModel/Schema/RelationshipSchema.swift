/// A relationship in a schema, with the record that holds its links.
package struct RelationshipSchema: Sendable {
    /// The record that holds a link.
    package enum Truth: Sendable, Hashable {
        /// The slot in the own row of a to-one.
        case slot
        /// The slot in the member's row, for a to-many whose inverse is a to-one.
        case inverseSlot
        /// A pair under the id of the canonical relationship, for a many-to-many or a to-many without inverse.
        case pair(canonical: PropertyID)
    }

    package let description: RelationshipDescription
    package let destination: EntityID
    /// The destination and its subentities.
    package let destinations: [EntityID]
    /// The inverse; nil if the model has none.
    package let inverse: PropertyID?
    /// Whether any number of objects can lead to one object. Also true if there is no inverse.
    package let isInverseToMany: Bool
    package let isInverseOrdered: Bool
    package let truth: Truth
    /// The hidden position of a to-one whose inverse is an ordered to-many.
    package let position: PropertyID?
    /// The slot of `position` in this entity. It can be another one in a subentity.
    package let positionSlot: Int?

    package init(
        description: RelationshipDescription, destination: EntityID, destinations: [EntityID], inverse: PropertyID?,
        isInverseToMany: Bool, isInverseOrdered: Bool, truth: Truth, position: PropertyID?, positionSlot: Int?
    ) {
        self.description = description
        self.destination = destination
        self.destinations = destinations
        self.inverse = inverse
        self.isInverseToMany = isInverseToMany
        self.isInverseOrdered = isInverseOrdered
        self.truth = truth
        self.position = position
        self.positionSlot = positionSlot
    }

    package var isToMany: Bool { description.isToMany }

    /// Whether some objects can be targets of both: of this relationship in one model, and of the other in another.
    package func sharesTargets(with other: RelationshipSchema) -> Bool {
        !Set(destinations).isDisjoint(with: other.destinations)
    }
}
