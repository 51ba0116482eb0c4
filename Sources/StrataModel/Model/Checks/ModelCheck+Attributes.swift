// Checks attributes: types, validation rules, composites and defaults.

extension ModelCheck {
    mutating func check(_ attribute: AttributeDescription, at subject: Subject) {
        if attribute.type == .undefined && !attribute.isTransient {
            report(subject, "has no type; only a transient attribute can do without.")
        }
        if attribute.allowsExternalBinaryDataStorage {
            if attribute.type != .binaryData {
                report(subject, "allows external storage; only binary data can.")
            } else if attribute.isTransient {
                report(subject, "is transient and allows external storage.")
            }
        }
        checkEncryption(of: attribute, at: subject)
        let problemsBefore = problemCount
        for rule in attribute.validationRules { check(rule, of: attribute, at: subject) }
        checkElements(of: attribute, at: subject, depth: 1)
        // The default is checked only if the rules are valid.
        if problemCount == problemsBefore { checkDefault(of: attribute, at: subject) }
    }

    // MARK: Rules

    private mutating func check(_ rule: ValidationRule, of attribute: AttributeDescription, at subject: Subject) {
        switch rule {
        case .range(let minimum, let maximum):
            checkRange(minimum, maximum, of: attribute, at: subject)
        case .length(let minimum, let maximum):
            guard [.string, .binaryData, .uri].contains(attribute.type) else {
                report(subject, "has a length rule, which \(attribute.type.name) cannot have.")
                return
            }
            if minimum == nil && maximum == nil { report(subject, "has a length rule without bounds.") }
            if (minimum ?? 0) < 0 || (maximum ?? 0) < 0 { report(subject, "has a length rule with a negative bound.") }
            if let minimum, let maximum, minimum > maximum {
                report(subject, "has a length rule whose minimum \(minimum) is above its maximum \(maximum).")
            }
        case .pattern(let pattern):
            guard attribute.type == .string else {
                report(subject, "has a pattern, which \(attribute.type.name) cannot have.")
                return
            }
            if let complaint = Self.complaint(aboutPattern: pattern) {
                report(subject, "has a bad pattern. \(complaint)")
            }
        case .predicate(let rule):
            if rule.message.isEmpty { report(subject, "has a validation predicate without a message.") }
            checkValuePredicate(rule.predicate, of: attribute, at: subject)
        }
    }

    private mutating func checkRange(
        _ minimum: AttributeValue?, _ maximum: AttributeValue?, of attribute: AttributeDescription, at subject: Subject
    ) {
        guard attribute.type.isNumeric || attribute.type == .date else {
            report(subject, "has a range, which \(attribute.type.name) cannot have.")
            return
        }
        if minimum == nil && maximum == nil { report(subject, "has a range without bounds.") }
        for bound in [minimum, maximum].compactMap(\.self) {
            let fits = attribute.type == .date ? bound.isDate : bound.isNumber
            // NaN has no order, not even with itself.
            if !fits || bound.order(to: bound) == nil {
                report(
                    subject, "has a range with a bound that is not a \(attribute.type == .date ? "date" : "number").")
                return
            }
        }
        if let minimum, let maximum, minimum.order(to: maximum) == .descending {
            report(subject, "has a range whose minimum is above its maximum.")
        }
    }

    // MARK: Composites

    private mutating func checkElements(of attribute: AttributeDescription, at subject: Subject, depth: Int) {
        guard attribute.type == .composite else {
            if !attribute.elements.isEmpty { report(subject, "has elements, which only a composite can.") }
            return
        }
        // A composite of a Swift type gets its elements from the type.
        if attribute.elements.isEmpty, attribute.attributeValueClassName == nil {
            report(subject, "is a composite without elements.")
        }
        if attribute.elements.count > ModelLimits.compositeElements {
            report(subject, "has more than \(ModelLimits.compositeElements) elements.")
        }
        guard depth <= ModelLimits.compositeDepth else {
            report(subject, "nests composites more than \(ModelLimits.compositeDepth) levels deep.")
            return
        }
        var seen: Set<String> = []
        for element in attribute.elements {
            let elementSubject = Subject(subject.entityName, "\(subject.key ?? "").\(element.name)")
            checkName(element.name, at: elementSubject)
            if !seen.insert(element.name).inserted { report(elementSubject, "is declared twice.") }
            if element.isTransient { report(elementSubject, "is transient, which an element cannot be.") }
            if element.derivationExpression != nil { report(elementSubject, "is derived, which an element cannot be.") }
            if element.type == .undefined { report(elementSubject, "has no type.") }
            if element.allowsExternalBinaryDataStorage {
                report(elementSubject, "allows external storage, which an element cannot.")
            }
            for rule in element.validationRules { check(rule, of: element, at: elementSubject) }
            checkElements(of: element, at: elementSubject, depth: depth + 1)
            checkDefault(of: element, at: elementSubject)
        }
    }

    // MARK: Defaults

    private mutating func checkDefault(of attribute: AttributeDescription, at subject: Subject) {
        guard let value = attribute.defaultValue, !value.isNull else { return }
        if attribute.type == .objectID {
            report(subject, "has a default, which an object id cannot have.")
        } else {
            for failure in attribute.validate(value) {
                report(subject, "has a bad default: \(failure.message)")
            }
        }
    }
}
