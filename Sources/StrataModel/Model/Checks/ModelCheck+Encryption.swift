// Checks what encrypted attributes cannot do, because only the key makes their values readable: views, derived values,
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
