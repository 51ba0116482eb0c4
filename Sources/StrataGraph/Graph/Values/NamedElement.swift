import StrataModel

/// An element of a composite attribute, as a key path names it: `address.city`.
struct NamedElement {
    let attribute: PropertyRuntime
    /// The names from the composite to the element.
    let path: ArraySlice<String>
}

extension EntityRuntime {
    /// The element that a key path names; nil for a path that does not begin with a composite attribute.
    ///
    /// - Throws: `unknownKey` if the composite has no such element.
    func compositeElement(at keyPath: String) throws -> NamedElement? {
        let steps = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard steps.count > 1, let property = property(named: steps[0]), property.attributeType == .composite,
            var composite = property.attribute
        else { return nil }
        for (index, step) in steps.enumerated().dropFirst() {
            guard let element = composite.elements.first(where: { $0.name == step }) else {
                throw composite.noElement(
                    step, of: steps[..<index].joined(separator: "."), .init(entityName: name, key: keyPath))
            }
            composite = element
        }
        return NamedElement(attribute: property, path: steps[1...])
    }
}

extension AttributeValue {
    /// A composite with each of its elements in the type that the model gives it; another value as it is.
    ///
    /// - Parameter context: names the attribute, or the element that holds the value, by its key path; it is made for a
    ///   composite only.
    /// - Throws: `unknownKey`, `wrongType`.
    func withFittingElements(
        of attribute: AttributeDescription, _ context: @autoclosure () -> StrataError.Context
    ) throws -> AttributeValue {
        guard case .composite(let given) = self, !attribute.elements.isEmpty else { return self }
        let context = context()
        let key = context.key ?? attribute.name
        var elements: [String: AttributeValue] = [:]
        for (name, value) in given {
            guard let element = attribute.elements.first(where: { $0.name == name }) else {
                throw attribute.noElement(name, of: key, context)
            }
            var inner = context
            inner.key = "\(key).\(name)"
            guard let fit = value.coerced(to: element.type) else {
                throw StrataError(
                    .wrongType, "\(key).\(name) takes \(element.type.nameWithArticle), not \(value.kindName).",
                    context: inner)
            }
            elements[name] = try fit.withFittingElements(of: element, inner)
        }
        return .composite(elements)
    }

    /// The composite with another value of an element. Nil counts as a composite without values, and stays nil where the
    /// element is to be nil.
    func replacing(_ path: ArraySlice<String>, with value: AttributeValue) -> AttributeValue {
        guard let name = path.first else { return value }
        var elements: [String: AttributeValue] = [:]
        if case .composite(let known) = self { elements = known } else if value.isNull { return self }
        elements[name] = (elements[name] ?? .null).replacing(path.dropFirst(), with: value)
        return .composite(elements)
    }
}

extension AttributeDescription {
    fileprivate func noElement(_ name: String, of key: String, _ context: StrataError.Context) -> StrataError {
        StrataError(
            .unknownKey,
            elements.isEmpty
                ? "The model names no elements of \(key), so it can only be set as a whole."
                : "\(key) has no element named \(name).", context: context)
    }
}
