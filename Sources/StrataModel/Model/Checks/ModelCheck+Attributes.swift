extension ModelCheck {
    mutating func check(_ attribute: AttributeDescription, at place: Place) {
        if attribute.type == .undefined && !attribute.isTransient {
            fault(place, "has no type, which only a transient attribute may.")
        }
        if attribute.allowsExternalBinaryDataStorage {
            if attribute.type != .binaryData {
                fault(place, "allows external storage, which only binary data can.")
            } else if attribute.isTransient {
                fault(place, "is transient and allows external storage.")
            }
        }
        let rulesBefore = faultCount
        for rule in attribute.validationRules { check(rule, of: attribute, at: place) }
        checkElements(of: attribute, at: place, depth: 1)
        // A default is only measured by rules that make sense.
        if faultCount == rulesBefore { checkDefault(of: attribute, at: place) }
    }

    // MARK: Rules

    private mutating func check(_ rule: ValidationRule, of attribute: AttributeDescription, at place: Place) {
        switch rule {
        case .range(let minimum, let maximum):
            checkRange(minimum, maximum, of: attribute, at: place)
        case .length(let minimum, let maximum):
            guard [.string, .binaryData, .uri].contains(attribute.type) else {
                fault(place, "has a length rule, which \(attribute.type.name) cannot have.")
                return
            }
            if minimum == nil && maximum == nil { fault(place, "has a length rule without bounds.") }
            if (minimum ?? 0) < 0 || (maximum ?? 0) < 0 { fault(place, "has a length rule with a negative bound.") }
            if let minimum, let maximum, minimum > maximum {
                fault(place, "has a length rule whose minimum \(minimum) is above its maximum \(maximum).")
            }
        case .pattern(let pattern):
            guard attribute.type == .string else {
                fault(place, "has a pattern, which \(attribute.type.name) cannot have.")
                return
            }
            if let complaint = Self.complaint(aboutPattern: pattern) {
                fault(place, "has a bad pattern. \(complaint)")
            }
        case .predicate(let rule):
            if rule.message.isEmpty { fault(place, "has a validation predicate without a message.") }
            checkValuePredicate(rule.predicate, of: attribute, at: place)
        }
    }

    private mutating func checkRange(
        _ minimum: AttributeValue?, _ maximum: AttributeValue?, of attribute: AttributeDescription, at place: Place
    ) {
        guard attribute.type.isNumeric || attribute.type == .date else {
            fault(place, "has a range, which \(attribute.type.name) cannot have.")
            return
        }
        if minimum == nil && maximum == nil { fault(place, "has a range without bounds.") }
        for bound in [minimum, maximum].compactMap(\.self) {
            let fits = attribute.type == .date ? bound.isDate : bound.isNumber
            // A bound that is not ordered with itself is not a number.
            if !fits || bound.order(to: bound) == nil {
                fault(place, "has a range with a bound that is not a \(attribute.type == .date ? "date" : "number").")
                return
            }
        }
        if let minimum, let maximum, minimum.order(to: maximum) == .descending {
            fault(place, "has a range whose minimum is above its maximum.")
        }
    }

    // MARK: Composites

    private mutating func checkElements(of attribute: AttributeDescription, at place: Place, depth: Int) {
        guard attribute.type == .composite else {
            if !attribute.elements.isEmpty { fault(place, "has elements, which only a composite can.") }
            return
        }
        // A composite of a Swift type has the elements that the type encodes.
        if attribute.elements.isEmpty, attribute.attributeValueClassName == nil {
            fault(place, "is a composite without elements.")
        }
        if attribute.elements.count > ModelLimits.compositeElements {
            fault(place, "has more than \(ModelLimits.compositeElements) elements.")
        }
        guard depth <= ModelLimits.compositeDepth else {
            fault(place, "nests composites more than \(ModelLimits.compositeDepth) levels deep.")
            return
        }
        var seen: Set<String> = []
        for element in attribute.elements {
            let elementPlace = Place(place.entityName, "\(place.key ?? "").\(element.name)")
            checkName(element.name, at: elementPlace)
            if !seen.insert(element.name).inserted { fault(elementPlace, "is declared twice.") }
            if element.isTransient { fault(elementPlace, "is transient, which an element cannot be.") }
            if element.derivationExpression != nil { fault(elementPlace, "is derived, which an element cannot be.") }
            if element.type == .undefined { fault(elementPlace, "has no type.") }
            if element.allowsExternalBinaryDataStorage {
                fault(elementPlace, "allows external storage, which an element cannot.")
            }
            for rule in element.validationRules { check(rule, of: element, at: elementPlace) }
            checkElements(of: element, at: elementPlace, depth: depth + 1)
            checkDefault(of: element, at: elementPlace)
        }
    }

    // MARK: Defaults

    private mutating func checkDefault(of attribute: AttributeDescription, at place: Place) {
        guard let value = attribute.defaultValue, !value.isNull else { return }
        if attribute.type == .objectID {
            fault(place, "has a default, which an object id cannot have.")
        } else {
            for failure in attribute.validate(value) {
                fault(place, "has a bad default: \(failure.message)")
            }
        }
    }
}
