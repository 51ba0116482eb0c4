/// Properties that can take over each other's numbers.
enum PropertyGroup: CaseIterable, Hashable {
    case attribute, transientAttribute, relationship, transientRelationship

    init(of property: PropertyDescription) {
        switch property {
        case .attribute(let attribute): self = attribute.isTransient ? .transientAttribute : .attribute
        case .relationship(let relationship):
            self = relationship.isTransient ? .transientRelationship : .relationship
        }
    }
}
