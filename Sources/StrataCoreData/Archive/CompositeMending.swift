import StrataModel

/// Mends a composite with elements that Strata cannot have: names, and more of them than a composite has.
struct CompositeMending {
    /// The attributes in place of the composite.
    private(set) var attributes: [AttributeDescription]
    /// What was done, as a phrase.
    private(set) var note = ""
    /// The path of a renamed element from the attribute on, and the name that it had.
    private(set) var renamed: (path: [String], from: String)?

    /// - Parameters:
    ///   - path: of the element with the problem, from the attribute on.
    ///   - taken: the names of the entity's properties.
    /// - Returns: nil if the problem cannot be mended.
    init?(_ attribute: AttributeDescription, at path: [String], _ message: String, taken: Set<String>) {
        var attribute = attribute
        attributes = [attribute]
        if message.hasSuffix("has more than \(ModelLimits.compositeElements) elements."), path.count == 1 {
            attributes = Self.split(attribute, taken)
            let others = attributes.dropFirst().map(\.name).joined(separator: ", ")
            note = "it has \(attribute.elements.count) elements, and a composite has at most "
            note += "\(ModelLimits.compositeElements); the rest is in \(others)"
            return
        }
        guard path.count > 1, ModelMending.isAboutName(message), let name = path.last else { return nil }
        var new = ""
        let isFound = Self.change(&attribute, path.dropFirst().dropLast()) { parent in
            guard let index = parent.elements.firstIndex(where: { $0.name == name }) else { return false }
            new = ModelMending.legal(name)
            while parent.elements.contains(where: { $0.name == new }) { new += "_" }
            parent.elements[index].name = new
            return true
        }
        guard isFound else { return nil }
        attributes = [attribute]
        renamed = (path.dropLast() + [new], name)
        note = "its element \(path.dropFirst().joined(separator: ".")) is named \(new)"
    }

    private static func split(_ attribute: AttributeDescription, _ taken: Set<String>) -> [AttributeDescription] {
        var parts: [AttributeDescription] = []
        var number = 1
        for start in stride(from: 0, to: attribute.elements.count, by: ModelLimits.compositeElements) {
            var part = attribute
            part.elements = Array(attribute.elements[start...].prefix(ModelLimits.compositeElements))
            while !parts.isEmpty, part.name == attribute.name || taken.contains(part.name) {
                number += 1
                part.name = "\(attribute.name)\(number)"
            }
            // A model's names tell composites of one type apart.
            if !parts.isEmpty { (part.attributeValueClassName, part.renamingIdentifier) = (nil, nil) }
            parts.append(part)
        }
        return parts
    }

    /// - Returns: whether the composite at the path was found and changed.
    private static func change(
        _ attribute: inout AttributeDescription, _ path: ArraySlice<String>,
        _ body: (inout AttributeDescription) -> Bool
    ) -> Bool {
        guard let name = path.first else { return body(&attribute) }
        guard let index = attribute.elements.firstIndex(where: { $0.name == name }) else { return false }
        return change(&attribute.elements[index], path.dropFirst(), body)
    }
}
