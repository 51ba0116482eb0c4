import Foundation

// Validates values by the types and rules of their attributes.

extension AttributeDescription {
    /// All errors of a value: a wrong type, a missing required value, and each rule that it breaks.
    ///
    /// Each error has the key and the value; the caller adds the object.
    package func validate(_ value: AttributeValue, entityName: String? = nil) -> [StrataError] {
        var failures = ValidationFailures(entityName: entityName)
        failures.check(value, of: self, key: name)
        return failures.errors
    }
}

/// Validates a value and the elements in it, and collects the errors.
struct ValidationFailures {
    let entityName: String?
    private(set) var errors: [StrataError] = []

    init(entityName: String?) { self.entityName = entityName }

    mutating func check(_ value: AttributeValue, of attribute: AttributeDescription, key: String) {
        // The store computes the value later, during the save.
        if attribute.derivationExpression != nil { return }
        if value.isNull {
            if !attribute.isOptional {
                add(.validationMissingMandatoryProperty, "\(key) is required.", key, value)
            }
            return
        }
        guard value.fits(attribute) else {
            add(.wrongType, "\(key) must be \(attribute.type.nameWithArticle), not \(value.kindName).", key, value)
            return
        }
        checkSense(of: value, key: key)
        for rule in attribute.validationRules { check(value, rule, key: key) }
        if case .composite(let values) = value {
            for element in attribute.elements {
                check(values[element.name] ?? .null, of: element, key: "\(key).\(element.name)")
            }
        }
    }

    private mutating func add(
        _ code: StrataError.Code, _ message: String, _ key: String, _ value: AttributeValue, predicate: String? = nil
    ) {
        errors.append(
            StrataError(
                code, message,
                context: .init(entityName: entityName, key: key, value: value, predicate: predicate)))
    }

    /// Rejects values that are never valid, whatever the rules.
    private mutating func checkSense(of value: AttributeValue, key: String) {
        switch value {
        case .date(let date) where !date.timeIntervalSinceReferenceDate.isFinite:
            add(.validationInvalidDate, "\(key) is not a valid date.", key, value)
        case .url(let url) where url.absoluteString.isEmpty:
            add(.validationInvalidURI, "\(key) is not a valid URL.", key, value)
        default: break
        }
    }

    private mutating func check(_ value: AttributeValue, _ rule: ValidationRule, key: String) {
        switch rule {
        case .range(let minimum, let maximum): checkRange(value, minimum, maximum, key: key)
        case .length(let minimum, let maximum): checkLength(value, minimum, maximum, key: key)
        case .pattern(let pattern): checkPattern(value, pattern, key: key)
        case .predicate(let rule): checkPredicate(value, rule, key: key)
        }
    }

    private mutating func checkPattern(_ value: AttributeValue, _ pattern: String, key: String) {
        guard case .string(let text) = value else { return }
        do {
            if try PatternMatcher.cached(pattern).matches(text) { return }
            add(.validationStringPatternMatching, "\(key) does not match the pattern.", key, value, predicate: pattern)
        } catch {
            errors.append(error)
        }
    }

    private mutating func checkPredicate(_ value: AttributeValue, _ rule: ValidationPredicate, key: String) {
        do {
            if try rule.predicate.evaluate(attributeValue: value) { return }
            add(.managedObjectValidation, rule.message, key, value, predicate: rule.predicate.description)
        } catch {
            errors.append(error)
        }
    }

    private mutating func checkRange(
        _ value: AttributeValue, _ minimum: AttributeValue?, _ maximum: AttributeValue?, key: String
    ) {
        guard value.order(to: value) != nil else {
            if !value.isDate { add(.managedObjectValidation, "\(key) is not a number.", key, value) }
            return
        }
        if let maximum, value.order(to: maximum) == .descending {
            if value.isDate {
                add(.validationDateTooLate, "\(key) is too late.", key, value)
            } else {
                add(.validationNumberTooLarge, "\(key) is too large.", key, value)
            }
        }
        if let minimum, value.order(to: minimum) == .ascending {
            if value.isDate {
                add(.validationDateTooSoon, "\(key) is too soon.", key, value)
            } else {
                add(.validationNumberTooSmall, "\(key) is too small.", key, value)
            }
        }
    }

    private mutating func checkLength(_ value: AttributeValue, _ minimum: Int?, _ maximum: Int?, key: String) {
        guard let length = value.length else { return }
        if let maximum, length > maximum { add(.validationStringTooLong, "\(key) is too long.", key, value) }
        if let minimum, length < minimum { add(.validationStringTooShort, "\(key) is too short.", key, value) }
    }
}

extension AttributeValue {
    /// The number of characters of a string or URL, or of bytes of data; nil for other values.
    package var length: Int? {
        switch self {
        case .string(let text): text.count
        case .url(let url): url.absoluteString.count
        case .data(let data): data.count
        case .blob(let blob): Int(clamping: blob.sizeInBytes)
        default: nil
        }
    }
}
