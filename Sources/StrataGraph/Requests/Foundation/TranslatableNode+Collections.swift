import Foundation
import StrataModel

// Nodes of `#Predicate` for collections, text and elements.

extension PredicateExpressions.SequenceContains: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let members = try translation.translate(sequence)
        let value = try translation.expression(element)
        if case .range(let bounds) = members { return .condition(bounds.contain(value)) }
        let list = try members.expression(in: "SequenceContains")
        if case .aggregate = list {
            return .condition(.comparison(ComparisonPredicate(value, .in, list)))
        }
        return .condition(.comparison(ComparisonPredicate(list, .contains, value)))
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let list = try translation.expression(sequence)
        if case .aggregate(let constants) = list {
            let parts = try translation.conditions(test, over: constants, as: variable.key)
            return .condition(parts.isEmpty ? .constant(false) : parts.dropFirst().reduce(parts[0], ||))
        }
        let (name, condition) = try translation.condition(test, ofMember: variable.key)
        return .condition(.any(list, name, condition))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let list = try translation.expression(sequence)
        if case .aggregate(let constants) = list {
            let parts = try translation.conditions(test, over: constants, as: variable.key)
            return .condition(parts.isEmpty ? .constant(true) : parts.dropFirst().reduce(parts[0], &&))
        }
        let (name, condition) = try translation.condition(test, ofMember: variable.key)
        // A key path through a to-many passes over missing values, so ALL is not the same.
        return .condition(.isEmpty(.subquery(list, variable: name, .not(condition))))
    }
}

extension PredicateExpressions.Filter: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        let list = try translation.expression(sequence)
        let (name, condition) = try translation.condition(filter, ofMember: variable.key)
        return .value(.subquery(list, variable: name, condition))
    }
}

extension PredicateTranslation {
    /// The condition with a variable for the member.
    fileprivate func condition(
        _ test: any PredicateExpression, ofMember key: PredicateExpressions.VariableID
    ) throws(StrataError) -> (variable: String, FetchPredicate) {
        let name = QueryVariables.next()
        bind(key, to: .value(.variable(name)))
        return (name, try predicate(test))
    }

    /// The condition for each constant of a list.
    fileprivate func conditions(
        _ test: any PredicateExpression, over constants: [FetchExpression], as key: PredicateExpressions.VariableID
    ) throws(StrataError) -> [FetchPredicate] {
        guard constants.count <= 1000 else {
            throw Self.unsupported("Value", "A list whose elements are each looked at may have 1000 at most.")
        }
        var conditions: [FetchPredicate] = []
        for constant in constants {
            bind(key, to: .value(constant))
            conditions.append(try predicate(test))
        }
        return conditions
    }
}

extension FetchPredicate {
    static func isEmpty(_ collection: FetchExpression) -> FetchPredicate {
        .comparison(ComparisonPredicate(.path("@count", of: collection), .equalTo, .constant(.integer(0))))
    }

    static func isNotEmpty(_ collection: FetchExpression) -> FetchPredicate {
        .comparison(ComparisonPredicate(.path("@count", of: collection), .greaterThan, .constant(.integer(0))))
    }
}

// MARK: - Least and greatest

extension PredicateExpressions.SequenceMinimum: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.call(.min, elements)
    }
}

extension PredicateExpressions.SequenceMaximum: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.call(.max, elements)
    }
}

// MARK: - Text

extension PredicateExpressions.CollectionContainsCollection: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateTranslation.unsupported("CollectionContainsCollection", "Only texts contain texts.")
        }
        return try translation.compare(base, .contains, other)
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateTranslation.unsupported("SequenceStartsWith", "Only texts begin with texts.")
        }
        return try translation.compare(base, .beginsWith, prefix)
    }
}

extension PredicateExpressions.StringContainsRegex: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        guard case .pattern(let pattern) = try translation.translate(regex) else {
            throw PredicateTranslation.unsupported("StringContainsRegex", "The pattern must be a constant.")
        }
        // MATCHES is about the whole text.
        let whole = FetchExpression.constant(.string("[\\s\\S]*(?:\(pattern))[\\s\\S]*"))
        return .condition(
            .comparison(ComparisonPredicate(try translation.expression(subject), .matches, whole)))
    }
}

// MARK: - Elements

extension PredicateExpressions.CollectionIndexSubscript: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        .value(
            .element(try translation.expression(wrapped), at: .at(try translation.expression(index))))
    }
}

extension PredicateExpressions.CollectionRangeSubscript: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        guard case .value(.aggregate(let members)) = try translation.translate(wrapped),
            case .range(let bounds) = try translation.translate(range), !bounds.includesUpper,
            case .constant(.integer(let lower))? = bounds.lower, case .constant(.integer(let upper))? = bounds.upper,
            0 <= lower, lower <= upper, upper <= members.count
        else {
            throw PredicateTranslation.unsupported(
                "CollectionRangeSubscript", "Only a constant list has subranges, with bounds inside the list.")
        }
        return .value(.aggregate(Array(members[Int(lower)..<Int(upper)])))
    }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.element(
            of: translation.translate(wrapped), at: translation.expression(key), or: .constant(.null),
            "DictionaryKeySubscript")
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        try translation.element(
            of: translation.translate(wrapped), at: translation.expression(key),
            or: translation.expression(`default`), "DictionaryKeyDefaultValueSubscript")
    }
}

extension PredicateTranslation {
    fileprivate func element(
        of dictionary: TranslatedNode, at key: FetchExpression, or fallback: FetchExpression, _ node: String
    ) throws(StrataError) -> TranslatedNode {
        switch (dictionary, key) {
        case (.dictionary(let entries), _) where entries.count <= 100:
            let value = entries.reversed().reduce(fallback) { rest, entry in
                let isKey = ComparisonPredicate(key, .equalTo, .constant(entry.key))
                return .conditional(.comparison(isKey), .constant(entry.value), rest)
            }
            return .value(value)
        case (.value(let composite), .constant(.string(let name))):
            let element = FetchExpression.path(name, of: composite)
            if fallback == .constant(.null) { return .value(element) }
            return .value(.conditional(element.isNil, fallback, element))
        default:
            throw Self.unsupported(
                node, "The key of an attribute must be a constant, and a constant dictionary have 100 keys at most.")
        }
    }
}

// MARK: - Expressions in expressions

extension PredicateExpressions.ExpressionEvaluate: TranslatableNode {
    func translated(by translation: PredicateTranslation) throws(StrataError) -> TranslatedNode {
        guard let constant = expression as? any ConstantNode,
            let inner = constant.anyValue as? Expression<repeat (each Input).Output, Output>
        else {
            throw PredicateTranslation.unsupported("ExpressionEvaluate", "The #Expression must be a constant.")
        }
        for (variable, argument) in repeat (each inner.variable, each input) {
            translation.bind(variable.key, to: try translation.translate(argument))
        }
        return try translation.translate(inner.expression)
    }
}

/// A node with a constant, whatever its type.
private protocol ConstantNode {
    var anyValue: Any { get }
}

extension PredicateExpressions.Value: ConstantNode {
    fileprivate var anyValue: Any { value }
}
