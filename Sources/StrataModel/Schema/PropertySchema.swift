/// A property in a schema.
package final class PropertySchema: Sendable {
    package let id: PropertyID
    /// Its place in `EntitySchema.properties` and in row layouts. A declared property has the same slot in every
    /// subentity; a hidden position stands after all declared ones, so its slot may differ from entity to entity.
    package let slot: Int
    package let name: String
    package let kind: Kind
    /// How the row holds it; nil when the row does not (to-many, transient).
    package let storage: SlotStorage?
    package let isTransient: Bool
    /// A to-one whose links are recorded in its own row.
    package let isSlotLink: Bool

    package enum Kind: Sendable {
        case attribute(AttributeDescription)
        case relationship(RelationshipSchema)
        /// Hidden: where the object stands among the members of the ordered to-many that is the inverse of the
        /// to-one relationship with this id. A signed 64-bit number.
        case position(of: PropertyID)
    }

    package init(id: PropertyID, slot: Int, name: String, kind: Kind) {
        self.id = id
        self.slot = slot
        self.name = name
        self.kind = kind
        switch kind {
        case .attribute(let attribute):
            isTransient = attribute.isTransient
            isSlotLink = false
            storage = attribute.isTransient ? nil : .attribute(attribute.type)
        case .relationship(let relationship):
            isTransient = relationship.description.isTransient
            isSlotLink = relationship.truth == .slot
            storage = relationship.truth == .slot && !relationship.description.isTransient ? .reference : nil
        case .position:
            isTransient = false
            isSlotLink = false
            storage = .position
        }
    }

    /// Copied with all that is in it: not for a path that is walked for each row.
    package var attribute: AttributeDescription? {
        if case .attribute(let attribute) = kind { attribute } else { nil }
    }
    /// Copied with all that is in it: not for a path that is walked for each row.
    package var relationship: RelationshipSchema? {
        if case .relationship(let relationship) = kind { relationship } else { nil }
    }
}
