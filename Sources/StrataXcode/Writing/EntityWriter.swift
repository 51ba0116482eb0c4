import StrataModel

/// Writes `<entity>` elements.
struct EntityWriter {
    let composites: CompositeNames
    let hierarchy: EntityHierarchy

    /// Puts indexes that were read but not used back in their order among the others.
    private static func ordered(_ elements: [XMLElement], _ order: String?) -> [XMLElement] {
        guard let names = order?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) else {
            return elements
        }
        return elements.enumerated()
            .map { (names.firstIndex(of: $1["name"] ?? "") ?? names.count, $0, $1) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map(\.2)
    }

    // MARK: The whole element

    /// The element of an entity.
    ///
    /// - Parameter notes: the notes on requests, which are written in the entity's user info.
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
        children += Self.ordered(
            EntityCodec.indexElements(of: entity) + carried, entity.editorInfo[EditorNotes.indexOrder])
        userInfo.notes[UserInfoContent.fullText] = Self.fullText(of: entity)
        if let order = Self.order(of: entity) { userInfo.notes[UserInfoContent.propertyOrder] = order }
        let element = XMLElement("entity", attributes(of: entity), children: children)
        if let note = try shellNote(entity, element) { userInfo.notes[UserInfoContent.description] = note }
        return element.adding([userInfo.element].compactMap(\.self))
    }

    private func attributes(of entity: EntityDescription) -> [Attribute] {
        let canonical = EntityCodec.attributes(of: entity)
        let meaning = EntityCodec.read(ElementFields(canonical))
        return EditorNotes.apply(entity.editorInfo, to: canonical, of: "entity") {
            EntityCodec.read(ElementFields($0)) == meaning
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

    /// The note on an entity's full text; nil without one.
    private static func fullText(of entity: EntityDescription) -> String? {
        entity.fullText.isEmpty ? nil : entity.fullText.joined(separator: ", ")
    }

    /// The names of the properties in order; nil if attributes come first, as in Xcode's files.
    private static func order(of entity: EntityDescription) -> String? {
        let attributes = entity.properties.filter { $0.attribute != nil }
        let relationships = entity.properties.filter { $0.relationship != nil }
        if entity.properties == attributes + relationships { return nil }
        return entity.properties.map(\.name).joined(separator: " ")
    }

    /// A note with the entity itself, if reading `element` would give another one; else nil.
    private func shellNote(_ entity: EntityDescription, _ element: XMLElement) throws(StrataError) -> String? {
        var plain = entity.withoutProperties
        plain.editorInfo = [:]
        var content = UserInfoContent(values: entity.userInfo.readAgain)
        content.notes[UserInfoContent.fullText] = Self.fullText(of: entity)
        let userInfo = content.element
        let reader = EntityReader(
            diagnostics: DiagnosticList(), composites: composites.elements(of:),
            isToMany: { hierarchy.declaration(of: $1, in: $0)?.property.relationship?.isToMany ?? false })
        var read = reader.read(element.adding([userInfo].compactMap(\.self))).entity.withoutProperties
        read.editorInfo = [:]
        return read == plain ? nil : try UserInfoContent.note(plain)
    }
}
