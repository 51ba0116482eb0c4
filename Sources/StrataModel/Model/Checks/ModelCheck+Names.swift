// Checks names of entities and properties (valid, unique, of properties not reserved) and chains of parents.

extension ModelCheck {
    mutating func checkEntityNames() {
        var seen: Set<String> = []
        var renamed: [String: String] = [:]
        for entity in entities {
            let subject = Subject(entity.name)
            if let complaint = Self.complaint(aboutName: entity.name) {
                report(subject, "is not a name: \(complaint).")
            }
            if !seen.insert(entity.name).inserted { report(subject, "is declared twice.") }
            if let identifier = entity.renamingIdentifier {
                if let other = renamed.updateValue(entity.name, forKey: identifier) {
                    report(subject, "has the renaming identifier \(identifier), which \(other) has too.")
                }
            }
        }
    }

    mutating func checkHierarchy(of entity: EntityDescription) {
        guard let parent = entity.superentityName else { return }
        let subject = Subject(entity.name)
        guard hierarchy.entity(named: parent) != nil else {
            report(subject, "has an unknown parent, \(parent)\(hierarchy.ending(forEntity: parent))")
            return
        }
        let chain = hierarchy.chain(of: entity.name)
        if let root = chain.first, root.superentityName.flatMap(hierarchy.entity(named:)) != nil {
            report(subject, "is its own ancestor, or has one that is.")
        }
    }

    mutating func checkPropertyNames(of entity: EntityDescription) {
        var seen: Set<String> = []
        var renamed: [String: String] = [:]
        for property in entity.properties {
            let subject = Subject(entity.name, property.name)
            checkName(property.name, at: subject)
            if !seen.insert(property.name).inserted {
                report(subject, "is declared twice.")
            } else if let first = hierarchy.declaration(of: property.name, in: entity.name),
                first.entityName != entity.name
            {
                report(subject, "is already inherited from \(first.entityName).")
            }
            if let identifier = property.renamingIdentifier {
                if let other = renamed.updateValue(property.name, forKey: identifier) {
                    report(subject, "has the renaming identifier \(identifier), which \(other) has too.")
                }
            }
        }
    }

    mutating func checkName(_ name: String, at subject: Subject) {
        if let complaint = Self.complaint(aboutName: name) {
            report(subject, "is not a name: \(complaint).")
        } else if ReservedNames.properties.contains(name) {
            report(subject, "is a reserved name.")
        }
    }

    /// The reason why a text is not a name; nil if it is a letter or underscore followed by letters, digits and
    /// underscores.
    static func complaint(aboutName name: String) -> String? {
        guard let first = name.unicodeScalars.first else { return "it is empty" }
        if name.utf8.count > ModelLimits.nameLengthInBytes {
            return "it is longer than \(ModelLimits.nameLengthInBytes) bytes"
        }
        func startsName(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isXIDStart }
        func continuesName(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDContinue }
        guard startsName(first) else { return "it must begin with a letter" }
        guard name.unicodeScalars.dropFirst().allSatisfy(continuesName) else {
            return "it may only have letters, digits and underscores"
        }
        return nil
    }
}
