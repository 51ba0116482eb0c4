// Checks fetch indexes and uniqueness constraints, and resolves the paths of index keys.

extension ModelCheck {
    mutating func checkIndexes(of entity: EntityDescription) {
        var names: Set<String> = []
        for index in entity.indexes {
            let subject = Subject(entity.name)
            if index.name.isEmpty || index.name.utf8.count > ModelLimits.nameLengthInBytes {
                report(subject, "has an index whose name is empty or too long.")
            } else if index.name.hasPrefix(IndexDefinition.uniquePrefix) {
                report(subject, "has an index with a reserved name, \(index.name).")
            } else if !names.insert(index.name).inserted {
                report(subject, "has two indexes named \(index.name).")
            }
            check(index.elements.map(\.propertyPath), of: entity, what: "index \(index.name)")
            for element in index.elements where !element.folding.isEmpty {
                checkFolding(element, of: entity, index: index.name)
            }
            if let predicate = index.partialIndexPredicate {
                checkPartial(predicate, of: entity, index: index.name)
            }
        }
        var constraints: Set<[String]> = []
        for constraint in entity.uniquenessConstraints {
            let names = constraint.joined(separator: ", ")
            if !constraints.insert(constraint.sorted()).inserted {
                report(Subject(entity.name), "has the uniqueness constraint over \(names) twice.")
            }
            check(constraint, of: entity, what: "uniqueness constraint over \(names)")
            for name in constraint {
                let attribute = hierarchy.keyPart(name, in: entity.name)?.declaration.property.attribute
                guard attribute?.derivationExpression != nil else { continue }
                report(
                    Subject(entity.name, name),
                    "is derived, so it cannot be in the uniqueness constraint over \(names).")
            }
        }
    }

    private mutating func check(_ paths: [String], of entity: EntityDescription, what: String) {
        let subject = Subject(entity.name)
        if paths.isEmpty {
            report(subject, "has an empty \(what).")
        } else if paths.count > ModelLimits.indexElements {
            report(subject, "has more than \(ModelLimits.indexElements) parts in the \(what).")
        }
        if Set(paths).count < paths.count { report(subject, "has a property twice in the \(what).") }
        for path in paths {
            if let complaint = hierarchy.complaint(aboutKeyPart: path, in: entity.name) {
                report(Subject(entity.name, path), "\(complaint), in the \(what).")
            }
        }
    }

    private mutating func checkFolding(_ element: FetchIndexElement, of entity: EntityDescription, index: String) {
        guard let part = hierarchy.keyPart(element.propertyPath, in: entity.name) else { return }
        let type = part.elements.last?.type ?? part.declaration.property.attribute?.type
        if part.declaration.property.attribute?.isEncrypted ?? false {
            return report(
                Subject(entity.name, element.propertyPath),
                "is encrypted, so it cannot be folded, in the index \(index).")
        }
        if let type, type == .string { return }
        report(Subject(entity.name, element.propertyPath), "is not a string to be folded, in the index \(index).")
    }
}

extension EntityHierarchy {
    /// A property in an index key, with the elements of composites on the path to the value.
    struct KeyPart {
        let declaration: Declaration
        let elements: [AttributeDescription]
    }

    /// Resolves a dotted path into an object's own row; nil if a step is unknown.
    func keyPart(_ path: String, in entityName: String) -> KeyPart? {
        var steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        guard let first = steps.popFirst(), let declaration = declaration(of: first, in: entityName) else { return nil }
        var elements: [AttributeDescription] = []
        var current = declaration.property.attribute
        for step in steps {
            guard let next = current?.elements.first(where: { $0.name == step }) else { return nil }
            elements.append(next)
            current = next
        }
        return KeyPart(declaration: declaration, elements: elements)
    }

    /// The names of an entity's properties, inherited ones first.
    func names(in entityName: String) -> [String] { declarations(of: entityName).map(\.property.name) }

    /// The paths that lead into an object's own row: the names of its properties, and of elements of composites.
    func paths(in entityName: String) -> [String] {
        func paths(of attribute: AttributeDescription, _ start: String) -> [String] {
            attribute.elements.flatMap { ["\(start).\($0.name)"] + paths(of: $0, "\(start).\($0.name)") }
        }
        return declarations(of: entityName).flatMap { declaration in
            [declaration.property.name]
                + (declaration.property.attribute.map { paths(of: $0, $0.name) } ?? [])
        }
    }

    /// The nearest path of as many steps, for the middle of a sentence.
    func aside(forPath path: String, in entityName: String) -> String {
        func stepCount(_ path: String) -> Int { path.count(where: { $0 == "." }) }
        return NearestName.aside(
            for: path, among: paths(in: entityName).filter { stepCount($0) == stepCount(path) })
    }

    /// The end of a sentence about an entity that the model does not have.
    func ending(forEntity name: String) -> String { NearestName.ending(for: name, among: entities.map(\.name)) }

    /// The relationship that a path begins with, if it goes on to a property that its destination has.
    private func relationship(before path: String, in entityName: String) -> RelationshipDescription? {
        let steps = path.split(separator: ".", maxSplits: 1).map(String.init)
        guard steps.count == 2, let link = declaration(of: steps[0], in: entityName)?.property.relationship,
            keyPart(steps[1], in: link.destinationEntityName) != nil
                || relationship(before: steps[1], in: link.destinationEntityName) != nil
        else { return nil }
        return link
    }

    /// The reason why a path cannot be part of a key or of a partial index's predicate; nil if it can.
    func complaint(aboutKeyPart path: String, in entityName: String) -> String? {
        guard let part = keyPart(path, in: entityName) else {
            if let link = relationship(before: path, in: entityName) {
                return link.isToMany ? "leads over the to-many \(link.name)" : "leads to another object"
            }
            return "is unknown" + aside(forPath: path, in: entityName)
        }
        if part.declaration.property.isTransient { return "is transient" }
        switch part.declaration.property {
        case .relationship(let relationship):
            return relationship.isToMany ? "is a to-many relationship" : nil
        case .attribute(let attribute):
            let last = part.elements.last ?? attribute
            if attribute.isEncrypted {
                guard part.elements.isEmpty else { return "is part of an encrypted value" }
                if attribute.encryption?.subject != nil {
                    return "is encrypted under the key of a subject, so that equal values of two subjects differ"
                }
                return attribute.allowsExternalBinaryDataStorage ? "may be stored outside the row" : nil
            }
            if last.type == .composite { return "is a composite; name one of its elements" }
            if last.allowsExternalBinaryDataStorage { return "may be stored outside the row" }
            return nil
        }
    }
}
