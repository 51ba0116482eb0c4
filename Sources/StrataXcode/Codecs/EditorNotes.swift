import StrataModel

/// The differences between an element as read and as Strata would write it, so that a file can be written unchanged.
///
/// They are kept in the description's editor info: attributes that the writer would not make, or with another value,
/// under their names; attributes that only the writer would make, under the name after a minus. Notes on the form of
/// the file begin with a #, which no XML name does.
enum EditorNotes {
    static let order = ofForm("order")
    static let unread = ofForm("unread")
    static let emptyUserInfo = ofForm("userInfo")
    static let elementOrder = ofForm("elements")
    static let indexOrder = ofForm("indexes")
    static let newline = ofForm("newline")
    static let requestOrder = ofForm("requests")

    static func ofForm(_ name: String) -> String { "#" + name }
    static func isOfForm(_ key: String) -> Bool { key.hasPrefix("#") }

    /// The attributes in `actual` that differ from those that the writer would make.
    static func difference(_ actual: [Attribute], from canonical: [Attribute], of element: String) -> EditorInfo {
        var info = EditorInfo()
        let made = ElementFields(canonical).values
        let found = ElementFields(actual).values
        for attribute in actual where made[attribute.name] != attribute.value {
            info[attribute.name] = attribute.value
        }
        for attribute in canonical where found[attribute.name] == nil { info["-" + attribute.name] = "" }
        let names = actual.map(\.name)
        if sorted(actual, element, nil).map(\.name) != names { info[order] = names.joined(separator: " ") }
        return info
    }

    /// The canonical attributes with the noted differences applied, as far as they do not change the meaning.
    ///
    /// - Parameter keepsMeaning: whether attributes are read as the same description.
    static func apply(
        _ info: EditorInfo, to canonical: [Attribute], of element: String, keepsMeaning: ([Attribute]) -> Bool
    ) -> [Attribute] {
        var result = canonical
        // Removals come last: an attribute under another name may replace the removed one.
        let changes = info.values.sorted {
            ($0.key.hasPrefix("-") ? 1 : 0, $0.key) < ($1.key.hasPrefix("-") ? 1 : 0, $1.key)
        }
        for (key, value) in changes where !isOfForm(key) {
            var changed = result
            if key.hasPrefix("-") {
                changed.removeAll { $0.name == key.dropFirst() }
            } else if let index = changed.firstIndex(where: { $0.name == key }) {
                changed[index].value = value
            } else {
                changed.append(Attribute(key, value))
            }
            if keepsMeaning(changed) { result = changed }
        }
        return sorted(result, element, info[order])
    }

    private static func sorted(_ attributes: [Attribute], _ element: String, _ order: String?) -> [Attribute] {
        let names = order?.split(separator: " ").map(String.init) ?? []
        func rank(_ attribute: Attribute) -> (Int, Int, String) {
            let known = names.firstIndex(of: attribute.name) ?? names.count
            return (known, Vocabulary.rank(of: attribute.name, in: element), attribute.name)
        }
        return attributes.sorted { rank($0) < rank($1) }
    }
}
