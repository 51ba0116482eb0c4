import StrataModel

/// What an element says beside its meaning: attributes that the writer would not make, or would make otherwise.
///
/// They are kept in the description's editor info under their own names; what the file lacks although the writer makes it,
/// under the name with a minus. Notes on the form of the file begin with a #, which no name in XML does.
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

    /// What `actual` has besides, or other than, what the writer would make.
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

    /// `canonical` with what the editor had besides, as far as it means the same.
    ///
    /// - Parameter keepsMeaning: whether attributes are still read as the description that is written.
    static func apply(
        _ info: EditorInfo, to canonical: [Attribute], of element: String, keepsMeaning: ([Attribute]) -> Bool
    ) -> [Attribute] {
        var result = canonical
        // What goes comes last: another name may have come for it, and one of the two is needed.
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
