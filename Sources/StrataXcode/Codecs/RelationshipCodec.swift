import StrataModel

/// Converts relationship descriptions to and from `<relationship>` elements.
enum RelationshipCodec {
    private static let rules: [(name: String, rule: DeleteRule)] = [
        ("Nullify", .nullify), ("Cascade", .cascade), ("Deny", .deny), ("No Action", .noAction),
    ]

    /// Reads a description from attributes, without user info and editor info.
    /// The rule's name in the file.
    static func name(of rule: DeleteRule) -> String? { rules.first { $0.rule == rule }?.name }

    static func read(_ fields: ElementFields) -> RelationshipDescription {
        var relationship = RelationshipDescription(
            name: fields["name"] ?? "", destinationEntityName: fields["destinationEntity"] ?? "")
        relationship.isOptional = fields.flag("optional")
        relationship.isTransient = fields.flag("transient")
        relationship.isToMany = fields.flag("toMany")
        relationship.isOrdered = fields.flag("ordered")
        relationship.inverseName = fields["inverseName"].flatMap { $0.isEmpty ? nil : $0 }
        relationship.hasNoInverse = relationship.inverseName == nil
        // For a to-one, Xcode writes a maximum of one and sometimes a minimum of one, whether it is optional or not.
        if relationship.isToMany {
            relationship.minCount = fields.count("minCount")
            relationship.maxCount = fields.count("maxCount")
        }
        if let rule = fields["deletionRule"] {
            if let known = rules.first(where: { $0.name == rule })?.rule {
                relationship.deleteRule = known
            } else {
                fields.report("deletionRule", "'\(rule)' is not a delete rule")
            }
        }
        relationship.renamingIdentifier = fields["elementID"] ?? fields["renamingIdentifier"]
        relationship.versionHashModifier = fields["versionHashModifier"]
        return relationship
    }

    /// The attributes that Xcode would write, as far as its format can express the description; in any order.
    static func attributes(of relationship: RelationshipDescription) -> [Attribute] {
        var list = [Attribute("name", relationship.name)]
        func add(_ name: String, _ value: String?) {
            if let value { list.append(Attribute(name, value)) }
        }
        add("optional", relationship.isOptional ? "YES" : nil)
        add("transient", relationship.isTransient ? "YES" : nil)
        add("toMany", relationship.isToMany ? "YES" : nil)
        if relationship.isToMany {
            add("minCount", relationship.minCount > 0 ? String(relationship.minCount) : nil)
            add("maxCount", relationship.maxCount > 0 ? String(relationship.maxCount) : nil)
        } else {
            add("maxCount", "1")
        }
        add("deletionRule", name(of: relationship.deleteRule))
        add("ordered", relationship.isOrdered ? "YES" : nil)
        add("destinationEntity", relationship.destinationEntityName)
        add("inverseName", relationship.inverseName)
        add("inverseEntity", relationship.inverseName.map { _ in relationship.destinationEntityName })
        add("elementID", relationship.renamingIdentifier)
        add("versionHashModifier", relationship.versionHashModifier)
        return list
    }

    /// The element without notes and editor info.
    static func plainElement(of relationship: RelationshipDescription) -> XMLElement {
        XMLElement(
            "relationship", attributes(of: relationship),
            children: [UserInfoContent(values: relationship.userInfo).element].compactMap(\.self))
    }
}
