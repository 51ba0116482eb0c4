import StrataModel

/// Writes the `<attribute>` and `<relationship>` elements of a model file of Xcode.
struct PropertyWriter {
    let composites: CompositeNames

    // MARK: Attributes

    /// The element of an attribute.
    ///
    /// - Parameter isIndexed: whether it gets the mark of an index that older versions of Xcode use.
    func element(
        of attribute: AttributeDescription, owner: String, isIndexed: Bool = false
    ) throws(StrataError) -> XMLElement {
        var info = attribute.editorInfo
        if isIndexed { info["indexed"] = "YES" }
        var plain = attribute
        plain.editorInfo = [:]
        let canonical = AttributeCodec.attributes(
            of: plain, compositeName: composites.name(of: attribute, owner: owner))
        let meaning = self.read(canonical)
        var read = meaning.with(plain.userInfo.readAgain)
        read.encryption = plain.encryption
        var content = try Self.userInfo(plain, plain.userInfo, read)
        if let encryption = plain.encryption { content.notes[UserInfoContent.encrypted] = encryption.userInfoValue }
        return Self.element(
            "attribute", EditorNotes.apply(info, to: canonical, of: "attribute") { self.read($0) == meaning }, content,
            info)
    }

    private func read(_ attributes: [Attribute]) -> AttributeDescription {
        AttributeCodec.read(ElementFields(attributes), composites: composites.elements(of:))
    }

    // MARK: Relationships

    /// The element of a relationship.
    func element(of relationship: RelationshipDescription) throws(StrataError) -> XMLElement {
        var plain = relationship
        plain.editorInfo = [:]
        let canonical = RelationshipCodec.attributes(of: plain)
        func read(_ attributes: [Attribute]) -> RelationshipDescription {
            RelationshipCodec.read(ElementFields(attributes))
        }
        let meaning = read(canonical)
        return Self.element(
            "relationship",
            EditorNotes.apply(relationship.editorInfo, to: canonical, of: "relationship") { read($0) == meaning },
            try Self.userInfo(plain, plain.userInfo, meaning.with(plain.userInfo.readAgain)), relationship.editorInfo)
    }

    // MARK: Both

    /// The user info, with a note if reading the element would give another description.
    private static func userInfo<Description: Codable & Equatable>(
        _ plain: Description, _ values: [String: String], _ meaning: Description
    ) throws(StrataError) -> UserInfoContent {
        var content = UserInfoContent(values: values)
        if meaning != plain { content.notes[UserInfoContent.description] = try UserInfoContent.note(plain) }
        return content
    }

    private static func element(
        _ name: String, _ attributes: [Attribute], _ userInfo: UserInfoContent, _ info: EditorInfo
    ) -> XMLElement {
        var userInfo = userInfo
        userInfo.isEmptyElement = info[EditorNotes.emptyUserInfo] != nil
        let children = [userInfo.element].compactMap(\.self) + XMLElement.carried(info[EditorNotes.unread])
        return XMLElement(name, attributes, children: children)
    }
}

extension [String: String] {
    /// The user info after writing it to a file and reading it again.
    var readAgain: [String: String] {
        let entries = UserInfoContent(values: self).values.map { (XMLText.allowed($0.key), XMLText.allowed($0.value)) }
        return [String: String](entries, uniquingKeysWith: { first, _ in first })
    }
}

extension AttributeDescription {
    fileprivate func with(_ userInfo: [String: String]) -> Self {
        var copy = self
        copy.userInfo = userInfo
        return copy
    }
}

extension RelationshipDescription {
    fileprivate func with(_ userInfo: [String: String]) -> Self {
        var copy = self
        copy.userInfo = userInfo
        return copy
    }
}
