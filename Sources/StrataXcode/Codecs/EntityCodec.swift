import StrataModel

/// Converts an entity itself (its name, class, parent, indexes and constraints, without its properties) to and from an
/// `<entity>` element.
enum EntityCodec {
    /// The entity that the attributes describe, without properties and indexes.
    static func read(_ fields: ElementFields) -> EntityDescription {
        EntityDescription(
            name: fields["name"] ?? "", managedObjectClassName: className(fields["representedClassName"]),
            isAbstract: fields.flag("isAbstract"),
            superentityName: fields["parentEntity"].flatMap { $0.isEmpty ? nil : $0 },
            renamingIdentifier: fields["elementID"] ?? fields["renamingIdentifier"],
            versionHashModifier: fields["versionHashModifier"])
    }

    /// The name of a class; a dot before it means the app's own module.
    private static func className(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text != "NSManagedObject" else { return nil }
        let name = text.hasPrefix(".") ? String(text.dropFirst()) : text
        return name.isEmpty ? nil : name
    }

    static func attributes(of entity: EntityDescription) -> [Attribute] {
        var list = [Attribute("name", entity.name)]
        func add(_ name: String, _ value: String?) {
            if let value { list.append(Attribute(name, value)) }
        }
        add("representedClassName", entity.managedObjectClassName)
        add("isAbstract", entity.isAbstract ? "YES" : nil)
        add("parentEntity", entity.superentityName)
        add("elementID", entity.renamingIdentifier)
        add("versionHashModifier", entity.versionHashModifier)
        return list
    }

    /// The element of an entity without properties, notes and editor info.
    static func plainElement(of entity: EntityDescription) -> XMLElement {
        XMLElement(
            "entity", attributes(of: entity),
            children: indexElements(of: entity)
                + [UserInfoContent(values: entity.userInfo).element].compactMap(\.self))
    }

    static func indexElements(of entity: EntityDescription) -> [XMLElement] {
        var children = entity.indexes.filter { !IndexCodec.isMark($0) && !IndexCodec.isCompound($0) }
            .map(IndexCodec.element)
        let compounds = entity.indexes.filter(IndexCodec.isCompound).map(IndexCodec.compoundElement)
        if !compounds.isEmpty { children.append(XMLElement("compoundIndexes", children: compounds)) }
        let constraints = entity.uniquenessConstraints.map { names in
            XMLElement(
                "uniquenessConstraint",
                children: names.map { XMLElement("constraint", [Attribute("value", $0)]) })
        }
        if !constraints.isEmpty { children.append(XMLElement("uniquenessConstraints", children: constraints)) }
        return children
    }
}

extension EntityDescription {
    var withoutProperties: EntityDescription { with([]) }

    func with(_ properties: [PropertyDescription]) -> EntityDescription {
        var entity = self
        entity.properties = properties
        return entity
    }
}
