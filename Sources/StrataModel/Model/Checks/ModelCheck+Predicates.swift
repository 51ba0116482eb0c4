// Checks the predicates of entities, partial indexes and attributes.

extension ModelCheck {
    /// Checks the entity's validation predicates, which may follow to-ones and, with ANY and ALL, to-manys.
    mutating func checkPredicates(of entity: EntityDescription) {
        for rule in entity.validationPredicates {
            let subject = Subject(entity.name)
            if rule.message.isEmpty { report(subject, "has a validation predicate without a message.") }
            let paths = checkedKeyPaths(of: rule.predicate, at: subject, what: "a validation predicate")
            refuseEncrypted(paths, of: entity.name, in: "a rule over whole objects")
            for path in paths {
                if let complaint = complaint(aboutKeyPath: path, from: entity.name) {
                    report(Subject(entity.name, path), "\(complaint), in a validation predicate.")
                }
            }
        }
    }

    /// Checks that the predicate of a partial index uses only values in the object's own row.
    mutating func checkPartial(_ predicate: FetchPredicate, of entity: EntityDescription, index: String) {
        checkCondition(
            predicate, of: entity, what: "the partial index \(index)",
            allowed: "the object's own attributes and to-ones"
        ) { $0.complaint(aboutKeyPart: $1, in: $2) }
    }

    /// Checks that the condition of a view uses only attributes and to-ones of the object and behind its to-ones.
    mutating func checkCondition(_ predicate: FetchPredicate, of entity: EntityDescription, view: String) {
        checkCondition(
            predicate, of: entity, what: "the view \(view)",
            allowed: "attributes and to-ones of the object and behind its to-ones"
        ) {
            $0.complaint(aboutValuePath: $1, in: $2)
        }
    }

    private mutating func checkCondition(
        _ predicate: FetchPredicate, of entity: EntityDescription, what: String, allowed: String,
        _ complaint: (_ hierarchy: EntityHierarchy, _ path: String, _ entityName: String) -> String?
    ) {
        var foreign: FetchExpression?
        predicate.forEachExpression { if !$0.isOfOwnRow { foreign = foreign ?? $0 } }
        if case .function(.matchesText, _)? = foreign {
            report(
                Subject(entity.name),
                "has \(what), which uses matchesText:. Text queries are for requests; CONTAINS[cd], BEGINSWITH[cd] and LIKE[cd] "
                    + "can be used there.")
        } else if let foreign {
            report(Subject(entity.name), "has \(what), which uses \(foreign); it may use only \(allowed).")
        }
        let paths = checkedKeyPaths(of: predicate, at: Subject(entity.name), what: what)
        refuseEncrypted(paths, of: entity.name, in: what)
        for path in paths {
            if let complaint = complaint(hierarchy, path, entity.name) {
                report(Subject(entity.name, path), "\(complaint), in \(what).")
            }
        }
    }

    /// Checks a rule of one attribute: the value is `SELF`, and key paths begin at it.
    mutating func checkValuePredicate(
        _ predicate: FetchPredicate, of attribute: AttributeDescription, at subject: Subject
    ) {
        for path in checkedKeyPaths(of: predicate, at: subject, what: "a validation predicate") {
            if !attribute.hasPart(path.split(separator: ".", omittingEmptySubsequences: false)[...]) {
                report(
                    subject,
                    "has a validation predicate that uses \(path); it may use only SELF, its length and its elements.")
            }
        }
    }

    private mutating func checkedKeyPaths(of predicate: FetchPredicate, at subject: Subject, what: String) -> [String] {
        guard predicate.depth(upTo: PredicateLimits.depth) != nil else {
            report(subject, "has \(what) that is nested more than \(PredicateLimits.depth) levels deep.")
            return []
        }
        var patterns: [String] = []
        predicate.forEachComparison {
            if $0.operator == .matches, case .constant(.string(let pattern)) = $0.right { patterns.append(pattern) }
        }
        for pattern in patterns {
            if let complaint = Self.complaint(aboutPattern: pattern) {
                report(subject, "has \(what) with a bad pattern. \(complaint)")
            }
        }
        for name in predicate.freeVariables.sorted() {
            report(subject, "has \(what) with the variable $\(name), which has no value there.")
        }
        return predicate.keyPaths.sorted()
    }

    static func complaint(aboutPattern pattern: String) -> String? {
        do {
            _ = try PatternMatcher(pattern)
            return nil
        } catch {
            return error.message
        }
    }

    private func complaint(aboutKeyPath path: String, from entityName: String) -> String? {
        var entityName = entityName
        var steps = path.split(separator: ".", omittingEmptySubsequences: false)[...]
        while let step = steps.popFirst() {
            guard !step.hasPrefix("@") else { return nil }
            guard let declaration = hierarchy.declaration(of: String(step), in: entityName) else {
                return "is unknown" + NearestName.aside(for: String(step), among: hierarchy.names(in: entityName))
            }
            switch declaration.property {
            case .relationship(let relationship): entityName = relationship.destinationEntityName
            case .attribute(let attribute) where attribute.hasPart(steps): return nil
            case .attribute:
                let rest = ([step] + steps).joined(separator: ".")
                return "is unknown" + hierarchy.aside(forPath: rest, in: entityName)
            }
        }
        return nil
    }
}

extension AttributeDescription {
    /// Whether a path leads from the value to itself, to an element of a composite, or to the length of text or data.
    fileprivate func hasPart(_ path: ArraySlice<Substring>) -> Bool {
        guard let step = path.first else { return true }
        let rest = path.dropFirst()
        if let element = elements.first(where: { $0.name == step }) { return element.hasPart(rest) }
        // Only the Swift type of such a composite knows its elements.
        if type == .composite, elements.isEmpty { return true }
        return step == "length" && rest.isEmpty && [.string, .uri, .binaryData].contains(type)
    }
}

extension FetchExpression {
    /// Whether the value depends only on the object's own row, key paths aside. Views require that, because replaying
    /// the log must give the same views.
    fileprivate var isOfOwnRow: Bool {
        switch self {
        case .constant, .aggregate, .conditional, .evaluatedObject: true
        case .keyPath(let path): !path.contains("@")
        case .function(let function, _):
            FetchFunction.predefined.contains(function) && ![.now, .random, .randomBelow].contains(function)
        case .variable, .keyPathOf, .subquery, .set, .element: false
        }
    }
}
