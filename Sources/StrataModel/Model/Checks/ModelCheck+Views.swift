// Checks the views that a model declares.

extension ModelCheck {
    /// Checks views; each problem is reported for the view's entity and its name.
    mutating func check(_ views: [ViewDescription]) {
        var seen: Set<String> = []
        for view in views {
            let subject = Subject(view.entityName, view.name)
            if let complaint = Self.complaint(aboutName: view.name) {
                report(subject, "is not a name for a view: \(complaint).")
            }
            if !seen.insert(view.name).inserted { report(subject, "is declared twice, as a view.") }
            if view.version < 1 { report(subject, "has the version \(view.version); versions begin with 1.") }
            checkColumns(of: view, at: subject)
            guard let entity = hierarchy.entity(named: view.entityName) else {
                let ending = hierarchy.ending(forEntity: view.entityName)
                report(subject, "is a view of an unknown entity, \(view.entityName)\(ending)")
                continue
            }
            for key in view.keys {
                if let complaint = hierarchy.complaint(aboutValuePath: key.keyPath, in: entity.name) {
                    report(Subject(entity.name, key.keyPath), "\(complaint), as a key of the view \(view.name).")
                } else if hierarchy.valueType(of: key.keyPath, in: entity.name) == .undefined {
                    report(
                        Subject(entity.name, key.keyPath), "has no type, so it is no key of the view \(view.name).")
                }
            }
            for aggregate in view.aggregates { check(aggregate, of: entity, view: view.name) }
            if let predicate = view.predicate {
                checkCondition(predicate, of: entity, view: view.name)
            }
        }
    }

    private mutating func checkColumns(of view: ViewDescription, at subject: Subject) {
        var seen: Set<String> = []
        for name in view.columnNames {
            if let complaint = complaint(aboutColumn: name) {
                report(subject, "has a column '\(name)', which is not a name: \(complaint).")
            }
            if !seen.insert(name).inserted { report(subject, "has two columns named \(name).") }
        }
        if view.aggregates.isEmpty { report(subject, "has no aggregate.") }
        let most = ModelLimits.columnsOfView
        if seen.count > most { report(subject, "has \(seen.count) columns; \(most) is the most.") }
    }

    /// A column may have the name of an element of a composite.
    private func complaint(aboutColumn name: String) -> String? {
        for part in name.split(separator: ".", omittingEmptySubsequences: false) {
            if let complaint = Self.complaint(aboutName: String(part)) { return complaint }
        }
        return nil
    }

    private mutating func check(_ aggregate: ViewAggregate, of entity: EntityDescription, view: String) {
        let what = "\(aggregate.function.rawValue) of the view \(view)"
        guard let path = aggregate.keyPath else {
            if aggregate.function != .count {
                report(Subject(entity.name, view), "has an aggregate \(aggregate.name) without a key path.")
            }
            return
        }
        let subject = Subject(entity.name, path)
        if let complaint = hierarchy.complaint(aboutValuePath: path, in: entity.name) {
            return report(subject, "\(complaint), in the \(what).")
        }
        let type = hierarchy.valueType(of: path, in: entity.name)
        switch aggregate.function {
        case .count: break
        case .countDistinct:
            if type == .undefined { report(subject, "has no type to be compared, in the \(what).") }
        case .sum, .average:
            if type?.isNumeric != true { report(subject, "is \(Self.name(type)) and has no sum, in the \(what).") }
        case .min, .max:
            if type?.isNumeric != true, type != .date {
                report(subject, "is \(Self.name(type)), neither a number nor a date, in the \(what).")
            }
        }
    }

    private static func name(_ type: AttributeType?) -> String { type?.nameWithArticle ?? "a relationship" }
}

extension EntityHierarchy {
    /// Follows the to-ones at the beginning of a path, except one that the path ends with.
    ///
    /// - Returns: the entity to which they lead, and the rest of the path.
    package func behindToOnes(_ path: String, in entityName: String) -> (entityName: String, path: String) {
        var entityName = entityName
        var steps = path.split(separator: ".", omittingEmptySubsequences: false)[...]
        while steps.count > 1, let step = steps.first,
            let relationship = declaration(of: String(step), in: entityName)?.property.relationship,
            !relationship.isToMany, !relationship.isTransient
        {
            entityName = relationship.destinationEntityName
            steps = steps.dropFirst()
        }
        return (entityName, steps.joined(separator: "."))
    }

    /// The type of the value at a path over to-ones into a row; nil for a to-one.
    package func valueType(of path: String, in entityName: String) -> AttributeType? {
        let end = behindToOnes(path, in: entityName)
        let part = keyPart(end.path, in: end.entityName)
        return part?.elements.last?.type ?? part?.declaration.property.attribute?.type
    }

    /// The reason why a path over to-ones has no value to group by, for the middle of a sentence.
    func complaint(aboutValuePath path: String, in entityName: String) -> String? {
        let end = behindToOnes(path, in: entityName)
        return complaint(aboutKeyPart: end.path, in: end.entityName)
    }
}
