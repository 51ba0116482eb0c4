// The facts of a model's parts in words: for `description`, and for tools that list a model.

extension AttributeDescription {
    /// Returns, in words, the settings of the attribute that are not the defaults.
    ///
    /// - Parameter text: writes a value.
    package func facts(_ text: (AttributeValue) -> String = { "\($0)" }) -> [String] {
        var facts: [String] = []
        if !isOptional { facts.append("required") }
        if isTransient { facts.append("transient") }
        if let encryption { facts.append("\(encryption)") }
        if let defaultValue { facts.append("default \(text(defaultValue))") }
        if let derivationExpression { facts.append("derived from \(derivationExpression)") }
        facts += validationRules.map { $0.text(text) }
        if allowsExternalBinaryDataStorage { facts.append("large values in files") }
        if let name = valueTypeName { facts.append("a \(name)") }
        if let name = valueTransformerName { facts.append("by \(name)") }
        if let name = renamingIdentifier { facts.append("once \(name)") }
        return facts
    }

    /// The name of the values' type without its optional, which `isOptional` says.
    private var valueTypeName: String? {
        guard let name = attributeValueClassName else { return nil }
        let optional = "Swift.Optional<"
        return name.hasPrefix(optional) && name.hasSuffix(">")
            ? String(name.dropFirst(optional.count).dropLast()) : name
    }
}

extension RelationshipDescription {
    /// The target of the relationship: `ordered to-many Track`.
    package var target: String {
        let ordered = isOrdered ? "ordered " : ""
        return "\(isToMany ? "\(ordered)to-many" : "to-one") \(destinationEntityName)"
    }

    /// The facts of the relationship in words, its delete rule among them.
    package var facts: [String] {
        var facts: [String] = []
        if !isOptional { facts.append("required") }
        if isTransient { facts.append("transient") }
        if let inverseName { facts.append("inverse \(inverseName)") } else { facts.append("no inverse") }
        if isToMany, minCount > 0 { facts.append("at least \(minCount)") }
        if isToMany, maxCount > 0 { facts.append("at most \(maxCount)") }
        facts.append(deleteRule.text)
        if let name = renamingIdentifier { facts.append("once \(name)") }
        return facts
    }
}

extension DeleteRule {
    /// The rule in words.
    package var text: String {
        switch self {
        case .noAction: "no action"
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        }
    }
}

extension ValidationRule {
    /// The rule in words.
    ///
    /// - Parameter text: writes a bound.
    package func text(_ text: (AttributeValue) -> String = { "\($0)" }) -> String {
        switch self {
        case .range(let minimum, let maximum): "\(minimum.map(text) ?? "")…\(maximum.map(text) ?? "")"
        case .length(let minimum, let maximum):
            "length \(minimum.map(String.init) ?? "")…\(maximum.map(String.init) ?? "")"
        case .pattern(let pattern): "like /\(pattern)/"
        case .predicate(let rule): "\(rule.predicate)"
        }
    }
}

extension EntityDescription {
    /// The settings of the entity that are not the defaults, in words.
    package var facts: [String] {
        var facts: [String] = []
        if let superentityName { facts.append("is a \(superentityName)") }
        if isAbstract { facts.append("abstract") }
        if let name = managedObjectClassName, name != self.name { facts.append("class \(name)") }
        if let renamingIdentifier { facts.append("once \(renamingIdentifier)") }
        return facts
    }
}
