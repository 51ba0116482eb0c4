import StrataModel

/// Writes `<entity>` elements.
struct EntityWriter {
    let composites: CompositeNames
    let hierarchy: EntityHierarchy

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

    /// The entity without its properties, without notes and what the editor keeps.
    static func shellElement(of entity: EntityDescription) -> XMLElement {
        XMLElement(
            "entity", attributes(of: entity),
            children: indexElements(of: entity)
                + [UserInfoContent(values: entity.userInfo).element].compactMap(\.self))
    }

    private static func indexElements(of entity: EntityDescription) -> [XMLElement] {
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

    /// Indexes that are not made stand where they stood among the others.
    private static func ordered(_ elements: [XMLElement], _ order: String?) -> [XMLElement] {
        guard let names = order?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) else {
            return elements
        }
        return elements.enumerated()
            .map { (names.firstIndex(of: $1["name"] ?? "") ?? names.count, $0, $1) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map(\.2)
    }

    // MARK: All of it

    /// - Parameter notes: notes on requests, which are kept with the entity.
    func element(
        of entity: EntityDescription, _ fetchedProperties: [FetchedPropertyDescription], notes: [String: String]
    ) throws(StrataError) -> XMLElement {
        var userInfo = UserInfoContent(values: entity.userInfo)
        userInfo.notes = notes
        userInfo.isEmptyElement = entity.editorInfo[EditorNotes.emptyUserInfo] != nil
        var children = try propertyElements(of: entity)
        for property in fetchedProperties {
            let result = try RequestWriter.write(property)
            children.append(result.element)
            userInfo.notes[UserInfoContent.fetchedProperty + property.name] = result.note
        }
        let carried = XMLElement.carried(entity.editorInfo[EditorNotes.unread])
        children += Self.ordered(Self.indexElements(of: entity) + carried, entity.editorInfo[EditorNotes.indexOrder])
        if let order = Self.order(of: entity) { userInfo.notes[UserInfoContent.propertyOrder] = order }
        let element = XMLElement("entity", attributes(of: entity), children: children)
        if let note = try shellNote(entity, element) { userInfo.notes[UserInfoContent.description] = note }
        return element.adding([userInfo.element].compactMap(\.self))
    }

    private func attributes(of entity: EntityDescription) -> [Attribute] {
        let canonical = Self.attributes(of: entity)
        let meaning = EntityReader.shell(ElementFields(canonical))
        return EditorNotes.apply(entity.editorInfo, to: canonical, of: "entity") {
            EntityReader.shell(ElementFields($0)) == meaning
        }
    }

    private func propertyElements(of entity: EntityDescription) throws(StrataError) -> [XMLElement] {
        let writer = PropertyWriter(composites: composites)
        let marked = Set(entity.indexes.filter(IndexCodec.isMark).map(\.name))
        var attributes: [XMLElement] = [], relationships: [XMLElement] = []
        for property in entity.properties {
            switch property {
            case .attribute(let attribute):
                attributes.append(
                    try writer.element(
                        of: attribute, owner: entity.name, isIndexed: marked.contains(attribute.name)))
            case .relationship(let relationship):
                relationships.append(try writer.element(of: relationship))
            }
        }
        return attributes + relationships
    }

    /// nil when attributes come first, as Xcode has them.
    private static func order(of entity: EntityDescription) -> String? {
        let attributes = entity.properties.filter { $0.attribute != nil }
        let relationships = entity.properties.filter { $0.relationship != nil }
        if entity.properties == attributes + relationships { return nil }
        return entity.properties.map(\.name).joined(separator: " ")
    }

    /// A note on the entity itself, where reading `element` would not give it back.
    private func shellNote(_ entity: EntityDescription, _ element: XMLElement) throws(StrataError) -> String? {
        var plain = entity.withoutProperties
        plain.editorInfo = [:]
        let userInfo = UserInfoContent(values: entity.userInfo.readAgain).element
        let reader = EntityReader(
            diagnostics: DiagnosticList(), composites: composites.elements(of:),
            isToMany: { hierarchy.declaration(of: $1, in: $0)?.property.relationship?.isToMany ?? false })
        var read = reader.read(element.adding([userInfo].compactMap(\.self))).entity.withoutProperties
        read.editorInfo = [:]
        return read == plain ? nil : try UserInfoContent.note(plain)
    }
}

extension XMLElement {
    /// With more children, all in Xcode's order of kinds.
    func adding(_ more: [XMLElement]) -> XMLElement {
        let kinds = Vocabulary.children[name] ?? []
        var copy = self
        copy.children = (children + more).enumerated()
            .map { (kinds.firstIndex(of: $1.name) ?? kinds.count, $0, $1) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map(\.2)
        return copy
    }
}
