/// A property of an entity: an attribute or a relationship.
public enum PropertyDescription: Sendable, Hashable, Codable {
    /// An attribute.
    case attribute(AttributeDescription)
    /// A relationship.
    case relationship(RelationshipDescription)

    /// The name, unique in the entity.
    public var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }
}

extension PropertyDescription {
    /// The name in the previous model, if the property was renamed.
    public var renamingIdentifier: String? {
        switch self {
        case .attribute(let attribute): attribute.renamingIdentifier
        case .relationship(let relationship): relationship.renamingIdentifier
        }
    }

    /// The attribute; nil for a relationship.
    public var attribute: AttributeDescription? {
        if case .attribute(let attribute) = self { attribute } else { nil }
    }

    /// The relationship; nil for an attribute.
    public var relationship: RelationshipDescription? {
        if case .relationship(let relationship) = self { relationship } else { nil }
    }

    /// Whether the property is kept in memory only.
    package var isTransient: Bool {
        switch self {
        case .attribute(let attribute): attribute.isTransient
        case .relationship(let relationship): relationship.isTransient
        }
    }
}
