import StrataModel

/// Relationships as the attributes of a `<relationship>` element, both ways.
enum RelationshipCodec {
    private static let rules: [(name: String, rule: DeleteRule)] = [
        ("Nullify", .nullify), ("Cascade", .cascade), ("Deny", .deny), ("No Action", .noAction),
    ]

    /// Without the user info and what the editor keeps.
    static func read(_ fields: ElementFields) -> RelationshipDescription {
        var relationship = RelationshipDescription(
            name: fields["name"] ?? "", destinationEntityName: fields["destinationEntity"] ?? "")
        relationship.isOptional = fields.flag("optional")
        relationship.isTransient = fields.flag("transient")
        relationship.isToMany = fields.flag("toMany")
        relationship.isOrdered = fields.flag("ordered")
        relationship.inverseName = fields["inverseName"].flatMap { $0.isEmpty ? nil : $0 }
        relationship.hasNoInverse = relationship.inverseName == nil
        // Of a to-one Xcode writes that it has at most one, and for some also at least one, optional or not.
        if relationship.isToMany {
            // A to-many that is required has a member, though Xcode writes no count then.
            relationship.minCount = max(fields.count("minCount"), relationship.isOptional ? 0 : 1)
            relationship.maxCount = fields.count("maxCount")
        }
        if let rule = fields["deletionRule"] {
            if let known = rules.first(where: { $0.name == rule })?.rule {
                relationship.deleteRule = known
            } else {
                fields.report("deletionRule", "'\(rule)' is no delete rule")
            }
        }
        relationship.renamingIdentifier = fields["elementID"] ?? fields["renamingIdentifier"]
        relationship.versionHashModifier = fields["versionHashModifier"]
        return relationship
    }

    /// What Xcode would write for it, as far as there are words for it; in any order.
    static func attributes(of relationship: RelationshipDescription) -> [Attribute] {
        var list = [Attribute("name", relationship.name)]
        func add(_ name: String, _ value: String?) {
            if let value { list.append(Attribute(name, value)) }
        }
        add("optional", relationship.isOptional ? "YES" : nil)
        add("transient", relationship.isTransient ? "YES" : nil)
        add("toMany", relationship.isToMany ? "YES" : nil)
        if relationship.isToMany {
            let implied = relationship.isOptional ? 0 : 1
            add("minCount", relationship.minCount > implied ? String(relationship.minCount) : nil)
            add("maxCount", relationship.maxCount > 0 ? String(relationship.maxCount) : nil)
        } else {
            add("maxCount", "1")
        }
        add("deletionRule", rules.first { $0.rule == relationship.deleteRule }?.name)
        add("ordered", relationship.isOrdered ? "YES" : nil)
        add("destinationEntity", relationship.destinationEntityName)
        add("inverseName", relationship.inverseName)
        add("inverseEntity", relationship.inverseName.map { _ in relationship.destinationEntityName })
        add("elementID", relationship.renamingIdentifier)
        add("versionHashModifier", relationship.versionHashModifier)
        return list
    }

    /// What is written without notes and without what the editor keeps.
    static func plainElement(of relationship: RelationshipDescription) -> XMLElement {
        XMLElement(
            "relationship", attributes(of: relationship),
            children: [UserInfoContent(values: relationship.userInfo).element].compactMap(\.self))
    }
}
