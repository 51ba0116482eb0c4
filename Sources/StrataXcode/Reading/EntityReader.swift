import StrataModel

/// Reads an `<entity>` element.
struct EntityReader {
    let diagnostics: DiagnosticList
    let composites: (String) -> [AttributeDescription]?
    /// Whether an entity has a to-many relationship with a name, its own or inherited.
    let isToMany: (_ entityName: String, _ name: String) -> Bool

    /// An entity, and the parts of its element that belong to the model.
    struct Result {
        var entity: EntityDescription
        var fetchedProperties: [FetchedPropertyDescription] = []
        var notes: [String: String] = [:]
    }

    /// Reads an entity with its properties.
    func read(_ element: XMLElement) -> Result {
        let name = element["name"] ?? ""
        diagnostics.owner = name
        defer { diagnostics.owner = nil }
        var unread = diagnostics.checkNames(of: element)
        let userInfo = UserInfoContent(element, diagnostics)
        var result = Result(entity: EntityCodec.read(diagnostics.fields(element)))
        result.entity.userInfo = userInfo.values
        result.notes = userInfo.notes
        var marked: [FetchIndexDescription] = []
        let indexNames = Set(element.children(named: "fetchIndex").compactMap { $0["name"] })
        for child in element.children {
            switch child.name {
            case "attribute":
                var attribute = self.attribute(child, of: name)
                if let index = Self.takeMark(&attribute, besides: indexNames) { marked.append(index) }
                result.entity.properties.append(.attribute(attribute))
            case "relationship":
                result.entity.properties.append(.relationship(relationship(child, of: name)))
            case "fetchedProperty":
                if let property = fetchedProperty(child, of: name, userInfo) {
                    result.fetchedProperties.append(property)
                } else {
                    unread.append(child)
                }
            default: break
            }
        }
        diagnostics.owner = name
        readIndexes(element, marked, &result.entity, &unread)
        if let text = userInfo.notes[UserInfoContent.fullText] {
            result.entity.fullText = text.split { $0 == "," || $0.isWhitespace }.map(String.init)
        }
        result.entity = userInfo.restored(
            UserInfoContent.description, over: result.entity.withoutProperties, at: element, diagnostics,
            element: EntityCodec.plainElement
        ).with(result.entity.properties)
        Self.putInOrder(&result.entity, userInfo.notes[UserInfoContent.propertyOrder])
        noteForm(of: element, userInfo, unread, &result.entity)
        return result
    }

    /// Keeps how the file writes an entity, so that it can be written unchanged.
    private func noteForm(
        of element: XMLElement, _ userInfo: UserInfoContent, _ unread: [XMLElement], _ entity: inout EntityDescription
    ) {
        entity.editorInfo = EditorNotes.difference(
            element.attributes, from: EntityCodec.attributes(of: entity), of: "entity")
        finish(&entity.editorInfo, userInfo, unread)
        if unread.contains(where: { $0.name == "fetchIndex" }) {
            let names = element.children(named: "fetchIndex").map { $0["name"] ?? "" }
            entity.editorInfo[EditorNotes.indexOrder] = names.joined(separator: "\n")
        }
    }

    // MARK: Properties

    /// Reads an `<attribute>` element of an entity or composite.
    func attribute(_ element: XMLElement, of owner: String) -> AttributeDescription {
        diagnostics.owner = "\(owner).\(element["name"] ?? "")"
        let unread = diagnostics.checkNames(of: element)
        let userInfo = UserInfoContent(element, diagnostics)
        var attribute = AttributeCodec.read(diagnostics.fields(element), composites: composites)
        attribute.userInfo = userInfo.values
        // By itself, so that the attribute stays encrypted when a note on the whole is out of date.
        if let text = userInfo.notes[UserInfoContent.encrypted] {
            attribute.encryption = AttributeEncryption(userInfoValue: text)
        }
        attribute = userInfo.restored(
            UserInfoContent.description, over: attribute, at: element, diagnostics
        ) { noted in
            AttributeCodec.plainElement(of: noted, compositeName: element["composite"])
        }
        attribute.editorInfo = EditorNotes.difference(
            element.attributes,
            from: AttributeCodec.attributes(of: attribute, compositeName: element["composite"]), of: "attribute")
        finish(&attribute.editorInfo, userInfo, unread)
        return attribute
    }

    private func relationship(_ element: XMLElement, of owner: String) -> RelationshipDescription {
        diagnostics.owner = "\(owner).\(element["name"] ?? "")"
        let unread = diagnostics.checkNames(of: element)
        let userInfo = UserInfoContent(element, diagnostics)
        var relationship = RelationshipCodec.read(diagnostics.fields(element))
        relationship.userInfo = userInfo.values
        relationship = userInfo.restored(
            UserInfoContent.description, over: relationship, at: element, diagnostics,
            element: RelationshipCodec.plainElement)
        relationship.editorInfo = EditorNotes.difference(
            element.attributes, from: RelationshipCodec.attributes(of: relationship), of: "relationship")
        finish(&relationship.editorInfo, userInfo, unread)
        return relationship
    }

    private func finish(_ info: inout EditorInfo, _ userInfo: UserInfoContent, _ unread: [XMLElement]) {
        if userInfo.isEmptyElement { info[EditorNotes.emptyUserInfo] = "" }
        info[EditorNotes.unread] = XMLElement.carried(unread)
    }

    /// Reads a `<fetchedProperty>` element; nil if its predicate cannot be read.
    private func fetchedProperty(
        _ element: XMLElement, of owner: String, _ notes: UserInfoContent
    ) -> FetchedPropertyDescription? {
        let name = element["name"] ?? ""
        diagnostics.owner = "\(owner).\(name)"
        let unread = diagnostics.checkNames(of: element)
        let userInfo = UserInfoContent(element, diagnostics)
        guard let request = element.children.first(where: { $0.name == "fetchRequest" }) else {
            diagnostics.unreadable(element, nil, "a fetched property without a fetch request")
            return nil
        }
        let fields = diagnostics.fields(element)
        guard let template = RequestReader(diagnostics: diagnostics).read(request) else { return nil }
        var property = FetchedPropertyDescription(name, of: owner, template)
        property.isOptional = fields.flag("optional")
        property.userInfo = userInfo.values
        property = notes.restored(
            UserInfoContent.fetchedProperty + name, over: property, at: element, diagnostics,
            element: RequestCodec.plainElement)
        property.editorInfo = EditorNotes.difference(
            element.attributes, from: RequestCodec.attributes(of: property), of: "fetchedProperty")
        finish(&property.editorInfo, userInfo, unread)
        return property
    }

    private static func putInOrder(_ entity: inout EntityDescription, _ order: String?) {
        guard let names = order?.split(separator: " ").map(String.init) else { return }
        let ranks = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        let last = names.count
        // The sort is stable, so properties that are not in the note stay in their order, after the others.
        entity.properties.sort { (ranks[$0.name] ?? last) < (ranks[$1.name] ?? last) }
    }

    // MARK: Indexes

    /// Makes an index of an attribute that is marked as indexed; nil if it cannot have one.
    private static func takeMark(
        _ attribute: inout AttributeDescription, besides indexNames: Set<String>
    ) -> FetchIndexDescription? {
        let isPossible =
            !attribute.isTransient && !attribute.allowsExternalBinaryDataStorage && attribute.type != .composite
        guard attribute.editorInfo["indexed"] == "YES", isPossible, !indexNames.contains(attribute.name) else {
            return nil
        }
        attribute.editorInfo["indexed"] = nil
        return IndexCodec.single(attribute.name)
    }

    private func readIndexes(
        _ element: XMLElement, _ marked: [FetchIndexDescription], _ entity: inout EntityDescription,
        _ unread: inout [XMLElement]
    ) {
        entity.indexes = marked
        let name = entity.name
        for list in element.children(named: "compoundIndexes") {
            _ = diagnostics.checkNames(of: list)
            entity.indexes += list.children(named: "compoundIndex").compactMap { child in
                IndexCodec.compound(child, diagnostics) { isToMany(name, $0) }
            }
        }
        for child in element.children(named: "fetchIndex") {
            if let index = IndexCodec.read(child, diagnostics, isToMany: { isToMany(name, $0) }) {
                entity.indexes.append(index)
            } else {
                unread.append(child)
            }
        }
        for list in element.children(named: "uniquenessConstraints") {
            _ = diagnostics.checkNames(of: list)
            for constraint in list.children(named: "uniquenessConstraint") {
                _ = diagnostics.checkNames(of: constraint)
                entity.uniquenessConstraints.append(
                    constraint.children(named: "constraint").map { child in
                        _ = diagnostics.checkNames(of: child)
                        return child["value"] ?? ""
                    })
            }
        }
    }
}
