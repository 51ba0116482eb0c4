import StrataModel

/// The names of all composites of a model: the name of the composite's type if it has one, made unique.
struct CompositeNames {
    private(set) var byName: [String: [AttributeDescription]] = [:]
    /// The first entity that has the composite, by the composite's name.
    private(set) var entityNames: [String: String] = [:]

    init(_ entities: [EntityDescription]) {
        for entity in entities {
            for case .attribute(let attribute) in entity.properties { add(attribute, entity.name, of: entity.name) }
        }
    }

    private mutating func add(_ attribute: AttributeDescription, _ owner: String, of entityName: String) {
        guard attribute.type == .composite else { return }
        let name = self.name(of: attribute, owner: owner)
        guard byName.updateValue(attribute.elements, forKey: name) == nil else { return }
        entityNames[name] = entityName
        for element in attribute.elements { add(element, name, of: entityName) }
    }

    /// The name of an attribute's composite.
    func name(of attribute: AttributeDescription, owner: String) -> String {
        let wanted = attribute.attributeValueClassName ?? "\(owner)_\(attribute.name)"
        var name = wanted
        var number = 1
        while let taken = byName[name], taken != attribute.elements {
            number += 1
            name = "\(wanted)_\(number)"
        }
        return name
    }

    func elements(of name: String) -> [AttributeDescription]? { byName[name] }
}
