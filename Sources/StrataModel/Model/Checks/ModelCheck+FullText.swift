// Checks an entity's declaration of a full text.

extension ModelCheck {
    /// The most attributes of a full text.
    private static let mostTexts = 32

    mutating func checkFullText(of entity: EntityDescription) {
        guard !entity.fullText.isEmpty else { return }
        let names = entity.fullText
        if Set(names).count < names.count { report(Subject(entity.name), "has an attribute twice in its full text.") }
        if names.count > Self.mostTexts {
            report(Subject(entity.name), "has more than \(Self.mostTexts) attributes in its full text.")
        }
        for name in names {
            if let complaint = complaint(aboutText: name, in: entity.name) {
                report(Subject(entity.name, name), "\(complaint), in the full text.")
            }
        }
        let above = hierarchy.chain(of: entity.name).dropLast().first { !$0.fullText.isEmpty }
        if let above {
            report(Subject(entity.name), "has a full text, and so has \(above.name) above it; one of them is enough.")
        }
    }

    private func complaint(aboutText name: String, in entityName: String) -> String? {
        guard let declaration = hierarchy.declaration(of: name, in: entityName) else {
            return "is unknown" + hierarchy.aside(forPath: name, in: entityName)
        }
        guard let attribute = declaration.property.attribute else { return "is a relationship, which has no words" }
        if attribute.type != .string { return "is no string" }
        if attribute.isEncrypted { return "is encrypted, so the store cannot see its words" }
        if attribute.isTransient { return "is transient, so no row has its words" }
        return attribute.allowsExternalBinaryDataStorage ? "may be stored outside the row" : nil
    }
}
