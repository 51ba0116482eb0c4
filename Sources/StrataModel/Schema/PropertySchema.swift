/// A property in a schema: its number, its slot, and how rows hold it.
package final class PropertySchema: Sendable {
    package let id: PropertyID
    /// The index in `EntitySchema.properties` and in row layouts. A declared property has the same slot in every
    /// subentity. A hidden position comes after all declared ones, so its slot can differ between entities.
    package let slot: Int
    package let name: String
    package let kind: Kind
    /// The storage of the property in rows; nil if they do not hold it, because it is to-many or transient.
    package let storage: SlotStorage?
    package let isTransient: Bool
    /// Whether the property is a to-one, whose links are recorded in its own row.
    package let isSlotLink: Bool

    package enum Kind: Sendable {
        case attribute(AttributeDescription)
        case relationship(RelationshipSchema)
        /// A hidden position: the object's position in the ordered to-many that is the inverse of this to-one. A signed
        /// 64-bit number.
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
            let stored = attribute.isEncrypted ? SlotStorage.encrypted : .attribute(attribute.type)
            storage = attribute.isTransient ? nil : stored
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

    /// A copy of the whole description; do not use it for each row.
    package var attribute: AttributeDescription? {
        if case .attribute(let attribute) = kind { attribute } else { nil }
    }
    /// A copy of the whole description; do not use it for each row.
    package var relationship: RelationshipSchema? {
        if case .relationship(let relationship) = kind { relationship } else { nil }
    }
}
