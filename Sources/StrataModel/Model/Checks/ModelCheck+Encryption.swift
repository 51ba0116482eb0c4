// Refuses uses of encrypted attributes that need readable values, which only the key gives: views, derived values,
// partial indexes and rules over whole objects are computed where there is no key.

extension ModelCheck {
    mutating func checkEncryption(of attribute: AttributeDescription, at subject: Subject) {
        for element in attribute.elements { refuseEncryptedElements(of: element, at: subject) }
        guard attribute.isEncrypted else { return }
        if attribute.isTransient {
            report(subject, "is transient and encrypted; only stored values are encrypted.")
        }
        if attribute.derivationExpression != nil {
            report(subject, "is derived and encrypted; the store computes derived values without a key.")
        }
        if attribute.defaultValue.map({ !$0.isNull }) ?? false {
            report(
                subject,
                "is encrypted and has a default, which would stand in the model unencrypted; set it in awakeFromInsert."
            )
        }
    }

    /// Checks attributes under the keys of subjects: each names one, and can lose its value with it.
    mutating func checkSubjects(of entity: EntityDescription) {
        for property in entity.properties {
            guard let attribute = property.attribute, let subject = attribute.encryption?.subject else { continue }
            let at = Subject(entity.name, attribute.name)
            if !attribute.isOptional {
                report(
                    at,
                    "is encrypted under the key of a subject and not optional; make it optional, because it has no value "
                        + "when its subject is erased.")
            }
            if case .property(let name) = subject, let complaint = complaint(aboutSubject: name, in: entity.name) {
                report(at, "is encrypted under the key of \(name), which \(complaint).")
            }
        }
    }

    private func complaint(aboutSubject name: String, in entityName: String) -> String? {
        switch hierarchy.declaration(of: name, in: entityName)?.property {
        case nil: "is no property of the entity" + hierarchy.aside(forPath: name, in: entityName)
        case .relationship(let relationship)?:
            relationship.isToMany || relationship.isTransient
                ? "is to-many or transient; name a to-one, an attribute, or the object itself" : nil
        case .attribute(let attribute)?:
            if attribute.isEncrypted {
                "is encrypted itself; name an attribute in the clear, such as a number that you gave"
            } else if attribute.isTransient || attribute.derivationExpression != nil {
                "is transient or derived; name a stored attribute"
            } else if ![.string, .integer16, .integer32, .integer64, .uuid].contains(attribute.type) {
                "is \(attribute.type.nameWithArticle); name a string, a whole number or a UUID"
            } else {
                nil
            }
        }
    }

    private mutating func refuseEncryptedElements(of element: AttributeDescription, at subject: Subject) {
        if element.isEncrypted {
            report(
                Subject(subject.entityName, "\(subject.key ?? "").\(element.name)"),
                "is encrypted, which an element cannot be; encrypt the whole composite.")
        }
        for part in element.elements { refuseEncryptedElements(of: part, at: subject) }
    }

    /// Reports key paths that end at an encrypted attribute, or lead into one.
    mutating func refuseEncrypted(_ paths: some Sequence<String>, of entityName: String, in what: String) {
        for path in paths where hierarchy.isEncrypted(path, in: entityName) {
            report(
                Subject(entityName, path),
                "is encrypted, so it cannot be in \(what), which the store computes without a key.")
        }
    }
}

extension EntityHierarchy {
    /// Whether a path over relationships ends at an encrypted attribute or leads into one.
    package func isEncrypted(_ path: String, in entityName: String) -> Bool {
        var entityName = entityName
        for step in path.split(separator: ".") where !step.hasPrefix("@") {
            switch declaration(of: String(step), in: entityName)?.property {
            case .relationship(let relationship)?: entityName = relationship.destinationEntityName
            case .attribute(let attribute)?: return attribute.isEncrypted
            case nil: return false
            }
        }
        return false
    }
}
