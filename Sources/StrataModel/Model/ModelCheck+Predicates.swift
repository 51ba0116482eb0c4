extension ModelCheck {
    /// Predicates over the whole object may follow to-one relationships and, with ANY and ALL, to-many ones.
    mutating func checkPredicates(of entity: EntityDescription) {
        for rule in entity.validationPredicates {
            let place = Place(entity.name)
            if rule.message.isEmpty { fault(place, "has a validation predicate without a message.") }
            for path in checkedKeyPaths(of: rule.predicate, at: place, what: "a validation predicate") {
                if let complaint = complaint(aboutKeyPath: path, from: entity.name) {
                    fault(Place(entity.name, path), "\(complaint), in a validation predicate.")
                }
            }
        }
    }

    /// A partial index may only look at what stands in the object's own row.
    mutating func checkPartial(_ predicate: FetchPredicate, of entity: EntityDescription, index: String) {
        let what = "the partial index \(index)"
        for path in checkedKeyPaths(of: predicate, at: Place(entity.name), what: what) {
            if let complaint = hierarchy.complaint(aboutKeyPart: path, in: entity.name) {
                fault(Place(entity.name, path), "\(complaint), in \(what).")
            }
        }
    }

    /// A rule of one attribute sees the value as SELF, and a composite's elements by name.
    mutating func checkValuePredicate(_ predicate: FetchPredicate, of attribute: AttributeDescription, at place: Place)
    {
        for path in checkedKeyPaths(of: predicate, at: place, what: "a validation predicate") {
            var current: AttributeDescription? = attribute
            for step in path.split(separator: ".", omittingEmptySubsequences: false) {
                current = current?.elements.first { $0.name == step }
            }
            if current == nil {
                fault(place, "has a validation predicate over \(path); it may only speak of SELF and its elements.")
            }
        }
    }

    private mutating func checkedKeyPaths(of predicate: FetchPredicate, at place: Place, what: String) -> [String] {
        guard predicate.depth(upTo: ModelLimits.predicateDepth) != nil else {
            fault(place, "has \(what) that is nested more than \(ModelLimits.predicateDepth) levels deep.")
            return []
        }
        for pattern in predicate.patterns {
            if let complaint = Self.complaint(aboutPattern: pattern) {
                fault(place, "has \(what) with a bad pattern. \(complaint)")
            }
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
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        while let step = steps.popFirst() {
            guard !step.hasPrefix("@") else { return nil }
            guard let declaration = hierarchy.declaration(of: step, in: entityName) else { return "is unknown" }
            switch declaration.property {
            case .relationship(let relationship): entityName = relationship.destinationEntityName
            case .attribute:
                let rest = ([step] + steps).joined(separator: ".")
                return hierarchy.keyPart(rest, in: entityName) == nil ? "is unknown" : nil
            }
        }
        return nil
    }
}

extension FetchPredicate {
    /// Every key path in the tree, once.
    package var keyPaths: Set<String> {
        var paths: Set<String> = []
        collectKeyPaths(into: &paths)
        return paths
    }

    private func collectKeyPaths(into paths: inout Set<String>) {
        switch self {
        case .comparison(let comparison):
            comparison.left.collectKeyPaths(into: &paths)
            comparison.right.collectKeyPaths(into: &paths)
        case .and(let parts), .or(let parts):
            for part in parts { part.collectKeyPaths(into: &paths) }
        case .not(let part): part.collectKeyPaths(into: &paths)
        case .constant: break
        }
    }

    /// The constant right sides of every `MATCHES`.
    fileprivate var patterns: [String] {
        switch self {
        case .comparison(let comparison):
            if comparison.operator == .matches, case .constant(.string(let pattern)) = comparison.right {
                [pattern]
            } else {
                []
            }
        case .and(let parts), .or(let parts): parts.flatMap(\.patterns)
        case .not(let part): part.patterns
        case .constant: []
        }
    }

    /// Levels of nesting, expressions included; nil when there are more than `limit`.
    package func depth(upTo limit: Int) -> Int? {
        guard limit > 0 else { return nil }
        let below: [Int?] =
            switch self {
            case .comparison(let comparison):
                [comparison.left.depth(upTo: limit - 1), comparison.right.depth(upTo: limit - 1)]
            case .and(let parts), .or(let parts): parts.map { $0.depth(upTo: limit - 1) }
            case .not(let part): [part.depth(upTo: limit - 1)]
            case .constant: []
            }
        return below.reduce(1) { deepest, next in deepest.flatMap { deepest in next.map { max(deepest, $0 + 1) } } }
    }
}

extension FetchExpression {
    fileprivate func collectKeyPaths(into paths: inout Set<String>) {
        switch self {
        case .keyPath(let path): paths.insert(path)
        case .aggregate(let parts): for part in parts { part.collectKeyPaths(into: &paths) }
        case .constant, .evaluatedObject: break
        }
    }

    fileprivate func depth(upTo limit: Int) -> Int? {
        guard limit > 0 else { return nil }
        guard case .aggregate(let parts) = self else { return 1 }
        return parts.reduce(1) { deepest, part in
            deepest.flatMap { deepest in part.depth(upTo: limit - 1).map { max(deepest, $0 + 1) } }
        }
    }
}
