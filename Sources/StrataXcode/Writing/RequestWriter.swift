import StrataModel

/// Writes `<fetchRequest>` and `<fetchedProperty>` elements.
enum RequestWriter {
    /// An element, and the note that must be in the entity's user info; nil if none is needed.
    struct Result {
        let element: XMLElement
        let note: String?
    }

    // MARK: Requests

    static func write(_ template: FetchRequestTemplate) throws(StrataError) -> Result {
        let plain = template.plain
        let canonical = RequestCodec.attributes(of: plain)
        let meaning = RequestCodec.read(ElementFields(canonical))
        let attributes = EditorNotes.apply(template.editorInfo, to: canonical, of: "fetchRequest") {
            RequestCodec.read(ElementFields($0)) == meaning
        }
        return Result(
            element: XMLElement(
                "fetchRequest", attributes, children: XMLElement.carried(template.editorInfo[EditorNotes.unread])),
            note: meaning == plain ? nil : try UserInfoContent.note(plain))
    }

    // MARK: Fetched properties

    static func write(_ property: FetchedPropertyDescription) throws(StrataError) -> Result {
        var plain = property
        plain.editorInfo = [:]
        plain.request = property.request.plain
        let request = try write(property.request)
        let canonical = RequestCodec.attributes(of: plain)
        let written = EditorNotes.apply(property.editorInfo, to: canonical, of: "fetchedProperty") {
            let fields = ElementFields($0)
            return fields["name"] == plain.name && fields.flag("optional") == plain.isOptional
        }
        var userInfo = UserInfoContent(values: plain.userInfo)
        userInfo.isEmptyElement = property.editorInfo[EditorNotes.emptyUserInfo] != nil
        let isWhole = request.note == nil && plain.userInfo.readAgain == plain.userInfo
        return Result(
            element: XMLElement(
                "fetchedProperty", written,
                children: [request.element, userInfo.element].compactMap(\.self)
                    + XMLElement.carried(property.editorInfo[EditorNotes.unread])),
            note: isWhole ? nil : try UserInfoContent.note(plain))
    }
}

extension FetchRequestTemplate {
    fileprivate var plain: Self {
        var copy = self
        copy.editorInfo = [:]
        return copy
    }
}
