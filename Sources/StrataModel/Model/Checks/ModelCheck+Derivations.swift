// Checks derived attributes.

extension ModelCheck {
    /// Checks that a derived attribute is stored and its expression can be computed.
    mutating func checkDerivation(of attribute: AttributeDescription, in entity: EntityDescription) {
        guard let expression = attribute.derivationExpression else { return }
        let subject = Subject(entity.name, attribute.name)
        if attribute.isTransient { report(subject, "is derived and transient; a derived value must be stored.") }
        if attribute.allowsExternalBinaryDataStorage {
            report(subject, "is derived and allows external storage; a derived value is always in the row.")
        }
        if !attribute.validationRules.isEmpty {
            report(subject, "is derived and has validation rules; rules apply only to values that the app sets.")
        }
        if [.composite, .transformable, .undefined, .objectID].contains(attribute.type) {
            return report(subject, "is derived, which \(attribute.type.nameWithArticle) cannot be.")
        }
        guard let derivation = AttributeDerivation(expression) else {
            return report(
                subject, "cannot be derived from \(expression): a derivation is \(AttributeDerivation.forms).")
        }
        if let complaint = complaint(about: derivation, for: attribute, in: entity.name) {
            report(subject, "cannot be derived from \(expression): \(complaint).")
        }
    }

    private func complaint(
        about derivation: AttributeDerivation, for attribute: AttributeDescription, in entityName: String
    ) -> String? {
        guard let path = derivation.path else {
            return attribute.type == .date ? nil : "it is a date, the attribute is \(attribute.type.nameWithArticle)"
        }
        if hierarchy.isEncrypted(path, in: entityName) {
            return "\(path) is encrypted, and the store computes derived values without a key"
        }
        let walk = DerivationWalk(path, from: entityName, hierarchy)
        if let complaint = walk.complaint { return complaint }
        switch derivation {
        case .now: return nil
        case .count:
            guard walk.end == nil, walk.endsAtToMany else { return "@count needs a to-many relationship" }
            if walk.toManyCount > 1 { return "it crosses more than one to-many" }
            return attribute.type.isNumeric ? nil : "it is a number, the attribute is \(attribute.type.nameWithArticle)"
        case .sum:
            guard walk.toManyCount == 1 else { return "@sum needs a path over one to-many" }
            guard let end = walk.end, end.type.isNumeric else { return "@sum needs an attribute that is a number" }
            return complaint(about: end, through: nil, for: attribute)
        case .value(_, let function):
            if walk.toManyCount > 0 { return "it leads to many values; @count or @sum makes one of them" }
            guard let end = walk.end else { return "it leads to an object, not to a value" }
            return complaint(about: end, through: function, for: attribute)
        }
    }

    private func complaint(
        about end: AttributeDescription, through function: FetchFunction?, for attribute: AttributeDescription
    ) -> String? {
        if let function, end.type != .string {
            return "\(function.rawValue) needs a string, and \(end.name) is \(end.type.nameWithArticle)"
        }
        let isNumber = end.type.isNumeric && attribute.type.isNumeric
        if end.type == attribute.type || isNumber && (end.type.isInteger || !attribute.type.isInteger) { return nil }
        return "\(end.name) is \(end.type.nameWithArticle), the attribute is \(attribute.type.nameWithArticle)"
    }
}

/// Follows the path of a derivation through the entities.
private struct DerivationWalk {
    private(set) var complaint: String?
    private(set) var toManyCount = 0
    private(set) var endsAtToMany = false
    /// The attribute or composite element at the end of the path; nil if the path ends at a relationship.
    private(set) var end: AttributeDescription?

    init(_ path: String, from entityName: String, _ hierarchy: EntityHierarchy) {
        var entityName = entityName
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        while let step = steps.popFirst() {
            guard let declaration = hierarchy.declaration(of: step, in: entityName) else {
                complaint =
                    "\(entityName) has no property named \(step)"
                    + NearestName.aside(for: step, among: hierarchy.names(in: entityName))
                return
            }
            if declaration.property.isTransient {
                complaint = "\(entityName).\(step) is transient"
                return
            }
            switch declaration.property {
            case .relationship(let relationship):
                endsAtToMany = relationship.isToMany
                if relationship.isToMany { toManyCount += 1 }
                entityName = relationship.destinationEntityName
            case .attribute(let attribute):
                finish(attribute, steps, "\(entityName).\(step)")
                return
            }
        }
    }

    private mutating func finish(_ attribute: AttributeDescription, _ steps: ArraySlice<String>, _ subject: String) {
        if attribute.derivationExpression != nil { return complaint = "\(subject) is derived itself" }
        var current = attribute
        for step in steps {
            guard let element = current.elements.first(where: { $0.name == step }) else {
                return complaint = "\(subject) has no element named \(step)"
            }
            current = element
        }
        if current.allowsExternalBinaryDataStorage { return complaint = "\(subject) may be stored outside the row" }
        end = current
    }
}
