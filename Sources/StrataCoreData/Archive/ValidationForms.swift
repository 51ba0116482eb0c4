import StrataModel

/// Turns the validation predicates of an archive into the rules that Strata has for them: bounds, lengths, patterns.
enum ValidationForms {
    /// The rules of an attribute. A predicate of another form stays one.
    static func rules(_ predicates: [ValidationPredicate], _ type: AttributeType) -> [ValidationRule] {
        var rules: [ValidationRule] = []
        for rule in predicates {
            let parts = Self.parts(of: rule.predicate)
            let known = parts.compactMap { self.rule(of: $0, type) }
            if known.count == parts.count {
                for rule in known { add(rule, to: &rules) }
            } else {
                rules.append(.predicate(rule))
            }
        }
        return rules
    }

    /// Predicates for the rules of an attribute; the inverse of `rules(_:_:)`.
    static func predicates(_ rules: [ValidationRule], _ owner: String) -> [ValidationPredicate] {
        func bound(
            _ left: FetchExpression, _ type: ComparisonPredicate.Operator, _ value: AttributeValue?, _ word: String
        ) -> ValidationPredicate? {
            value.map { value in
                let comparison = ComparisonPredicate(left, type, .constant(value))
                return ValidationPredicate(.comparison(comparison), message: "\(owner) is too \(word)")
            }
        }
        func count(_ number: Int?) -> AttributeValue? { number.map { .integer(Int64($0)) } }
        return rules.flatMap { rule -> [ValidationPredicate] in
            switch rule {
            case .range(let minimum, let maximum):
                [
                    bound(.evaluatedObject, .greaterThanOrEqualTo, minimum, "small"),
                    bound(.evaluatedObject, .lessThanOrEqualTo, maximum, "large"),
                ].compactMap { $0 }
            case .length(let minimum, let maximum):
                [
                    bound(.keyPath("length"), .greaterThanOrEqualTo, count(minimum), "short"),
                    bound(.keyPath("length"), .lessThanOrEqualTo, count(maximum), "long"),
                ].compactMap { $0 }
            case .pattern(let pattern):
                [
                    ValidationPredicate(
                        .comparison(ComparisonPredicate(.evaluatedObject, .matches, .constant(.string(pattern)))),
                        message: "\(owner) does not match the pattern")
                ]
            case .predicate(let predicate): [predicate]
            }
        }
    }

    private static func parts(of predicate: FetchPredicate) -> [FetchPredicate] {
        if case .and(let parts) = predicate { parts } else { [predicate] }
    }

    private static func rule(of predicate: FetchPredicate, _ type: AttributeType) -> ValidationRule? {
        guard case .comparison(let comparison) = predicate, comparison.modifier == .direct, comparison.folding.isEmpty,
            case .constant(let bound) = comparison.right
        else { return nil }
        switch (comparison.left, comparison.operator, bound) {
        case (.evaluatedObject, .matches, .string(let pattern)) where type == .string: return .pattern(pattern)
        case (.evaluatedObject, .greaterThanOrEqualTo, _):
            return Self.bound(bound, type).map { .range(minimum: $0, maximum: nil) }
        case (.evaluatedObject, .lessThanOrEqualTo, _):
            return Self.bound(bound, type).map { .range(minimum: nil, maximum: $0) }
        case (.keyPath("length"), .greaterThanOrEqualTo, .integer(let count)) where type == .string && count >= 0:
            return .length(minimum: Int(clamping: count), maximum: nil)
        case (.keyPath("length"), .lessThanOrEqualTo, .integer(let count)) where type == .string && count >= 0:
            return .length(minimum: nil, maximum: Int(clamping: count))
        default: return nil
        }
    }

    private static func bound(_ value: AttributeValue, _ type: AttributeType) -> AttributeValue? {
        guard type.isNumeric || type == .date else { return nil }
        if type == .date { return value.coerced(to: .date) }
        switch value {
        case .integer, .double, .float, .decimal: return value
        default: return nil
        }
    }

    /// A lower and an upper bound become one rule.
    private static func add(_ rule: ValidationRule, to rules: inout [ValidationRule]) {
        switch (rules.last, rule) {
        case (.range(let low?, nil)?, .range(nil, let high?)):
            rules[rules.count - 1] = .range(minimum: low, maximum: high)
        case (.length(let low?, nil)?, .length(nil, let high?)):
            rules[rules.count - 1] = .length(minimum: low, maximum: high)
        default: rules.append(rule)
        }
    }
}
