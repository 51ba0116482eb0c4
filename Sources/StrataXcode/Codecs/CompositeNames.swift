import StrataModel

/// Gives every composite of a model a name: that of its type, where it has one of its own.
final class CompositeNames {
    private(set) var byName: [String: [AttributeDescription]] = [:]

    init(_ entities: [EntityDescription]) {
        for entity in entities {
            for case .attribute(let attribute) in entity.properties { add(attribute, entity.name) }
        }
    }

    private func add(_ attribute: AttributeDescription, _ owner: String) {
        guard attribute.type == .composite else { return }
        let name = self.name(of: attribute, owner: owner)
        guard byName.updateValue(attribute.elements, forKey: name) == nil else { return }
        for element in attribute.elements { add(element, name) }
    }

    /// nil for an attribute that is none.
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
